/// Frames that wait in a transport or are in the air, by number.
struct FramePool: Sendable {
  struct Frame: Sendable {
    var content: [UInt8]
    /// The stay of the link over which it goes.
    var epoch: UInt32
  }

  private var frames: [Frame] = []
  private var free: [Int32] = []

  @inline(__always)
  mutating func add(_ content: [UInt8], epoch: UInt32) -> Int32 {
    guard let place = free.popLast() else {
      frames.append(Frame(content: content, epoch: epoch))
      return Int32(truncatingIfNeeded: frames.count - 1)
    }
    frames[Int(place)] = Frame(content: content, epoch: epoch)
    return place
  }

  func content(_ place: Int32) -> [UInt8] { frames[Int(place)].content }

  @inline(__always)
  mutating func take(_ place: Int) -> Frame {
    let frame = frames[place]
    frames[place].content = []
    free.append(Int32(truncatingIfNeeded: place))
    return frame
  }
}

/// Frames that the transport holds for one link, first come first served.
struct FrameQueue: Sendable {
  private var frames: [Int32] = []
  private var head = 0

  var count: Int { frames.count - head }
  var isEmpty: Bool { head == frames.count }
  var first: Int32? { head < frames.count ? frames[head] : nil }

  mutating func append(_ frame: Int32) { frames.append(frame) }

  mutating func popFirst() -> Int32? {
    guard head < frames.count else { return nil }
    let frame = frames[head]
    head += 1
    if head == frames.count {
      frames.removeAll(keepingCapacity: true)
      head = 0
    }
    return frame
  }
}

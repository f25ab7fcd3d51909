/// A stream of hints: newest wins, one per key, and the oldest key goes when there are too many.
///
/// For things that will be seen again, such as sightings. One consumer.
public final class Hints<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct State: Sendable {
    var values: [Key: Value] = [:]
    var order: [Key] = []
    var dropped: UInt64 = 0
  }

  /// The largest number of keys that wait.
  public let capacity: Int
  private let state: Protected<State>
  private let wake = Channel<Void>(capacity: 1)

  public init(capacity: Int) {
    precondition(capacity > 0, "a stream of hints needs room for one")
    self.capacity = capacity
    state = Protected(State())
  }

  /// Replaces what waits under `key`. When a new key finds no room, the key that has waited longest is dropped.
  public func offer(_ value: Value, for key: Key) {
    state.withLock { state in
      if state.values.updateValue(value, forKey: key) == nil {
        if state.order.count >= capacity {
          state.values[state.order.removeFirst()] = nil
          state.dropped &+= 1
        }
        state.order.append(key)
      }
    }
    wake.offer(())
  }

  /// Keys dropped for want of room since the start.
  public var dropped: UInt64 { state.withLock { $0.dropped } }

  public func finish() { wake.finish() }

  private func take() -> Value? {
    state.withLock { state in
      guard !state.order.isEmpty else { return nil }
      return state.values.removeValue(forKey: state.order.removeFirst())
    }
  }
}

extension Hints: AsyncSequence {
  public typealias Element = Value

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let hints: Hints

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      while true {
        if let value = hints.take() { return value }
        guard await hints.wake.next(isolation: actor) != nil else { return nil }
      }
    }

    public mutating func next() async -> Value? {
      while true {
        if let value = hints.take() { return value }
        guard await hints.wake.next() != nil else { return nil }
      }
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(hints: self) }
}

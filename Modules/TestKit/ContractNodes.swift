internal import Streams
internal import Transports

/// A transport under test and its name in the harness.
struct ContractNode: Sendable {
  let name: String
  let transport: any Transport
  let address: TransportAddress
}

/// Two ends of one link.
struct ContractPair: Sendable {
  let central: any TransportLink
  let peripheral: any TransportLink
}

extension TransportContract {
  static func makeNodes(_ harness: any TransportHarness, _ names: String...) throws -> [ContractNode] {
    try names.map { name in
      ContractNode(name: name, transport: try harness.makeTransport(name), address: harness.address(of: name))
    }
  }

  private enum Outcome<Value: Sendable>: Sendable {
    case done(Result<Value, any Error>)
    case transportEnded(String, String)
    case expired
  }

  /// Runs the transports until `body` is done, which starts when all are powered on.
  static func running<Value: Sendable>(
    _ harness: any TransportHarness, _ nodes: [ContractNode],
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Outcome<Value>.self) { group in
      for node in nodes {
        group.addTask {
          do {
            try await node.transport.run()
            return .transportEnded(node.name, "returned")
          } catch {
            return .transportEnded(node.name, "threw \(error)")
          }
        }
      }
      group.addTask {
        do { try await harness.expire() } catch {}
        return .expired
      }
      group.addTask {
        do {
          for node in nodes { try await awaitState(.poweredOn, of: node) }
          return .done(.success(try await body()))
        } catch {
          return .done(.failure(error))
        }
      }
      let first = try await group.next() ?? .expired
      group.cancelAll()
      switch first {
      case .done(let result): return try result.get()
      case .transportEnded(let name, let how): throw Broken("run() of \(name) \(how) while it was needed")
      case .expired:
        // What the body was waiting for tells more than that it waited.
        var waitedFor = ""
        while let outcome = try await group.next() {
          if case .done(.failure(let error)) = outcome { waitedFor = ": \(error)" }
        }
        throw Broken("it took too long\(waitedFor)")
      }
    }
  }

  static func awaitState(_ wanted: TransportState, of node: ContractNode) async throws {
    for await state in node.transport.state where state == wanted { return }
    throw Broken("\(node.name) did not become \(wanted.rawValue)")
  }

  /// The first sighting of `other` that `isWanted`.
  @discardableResult
  static func hear(
    _ node: ContractNode, _ other: ContractNode, where isWanted: @Sendable (Sighting) -> Bool = { _ in true }
  ) async throws -> Sighting {
    for await sighting in node.transport.sightings where sighting.address == other.address && isWanted(sighting) {
      return sighting
    }
    throw Broken("\(node.name) did not hear \(other.name)")
  }

  /// Lets `peripheral` advertise and `central` hear it and dial.
  static func link(_ central: ContractNode, _ peripheral: ContractNode, hint: UInt32 = 7) async throws -> ContractPair {
    try await peripheral.transport.advertise(Advertisement(hint: hint, digest: 1))
    try await central.transport.scan(true)
    try await hear(central, peripheral)
    let ours = try await central.transport.connect(to: peripheral.address) { _ in }
    guard let theirs = await peripheral.transport.inbound.next() else {
      throw Broken("\(peripheral.name) was not told of the link that \(central.name) opened")
    }
    return ContractPair(central: ours, peripheral: theirs)
  }

  /// The next frame, past what else happens on the link.
  static func nextFrame(_ link: any TransportLink) async throws -> [UInt8] {
    while let input = await link.inputs.next() {
      if case .frame(let frame) = input { return frame }
    }
    throw Broken("a frame was awaited and the link ended (\(link.end?.rawValue ?? "open"))")
  }

  static func awaitFrameSize(_ byteCount: Int, _ link: any TransportLink) async throws {
    while let input = await link.inputs.next() {
      if case .frameSize(byteCount) = input { return }
    }
    throw Broken("the frame size \(byteCount) was not told")
  }

  static func awaitWritable(_ link: any TransportLink) async throws {
    while let input = await link.inputs.next() {
      if case .writable = input { return }
    }
    throw Broken("after .full no .writable came")
  }

  /// Reads the link to its end.
  ///
  /// - Returns: the frames that were still inside.
  @discardableResult
  static func awaitEnd(_ link: any TransportLink, _ allowed: LinkEnd...) async throws -> [[UInt8]] {
    var frames: [[UInt8]] = []
    while let input = await link.inputs.next() {
      if case .frame(let frame) = input { frames.append(frame) }
    }
    guard let end = link.end else { throw Broken("`inputs` finished or the wait was cut short, and `end` is nil") }
    try require(allowed.contains(end), "the link ended as \(end), allowed is \(allowed)")
    return frames
  }

  /// Sends, waiting for room where there is none.
  static func send(_ frame: [UInt8], on link: any TransportLink) async throws {
    while true {
      switch link.send(frame) {
      case .sent: return
      case .full: try await awaitWritable(link)
      case .tooLong: throw Broken("a frame of \(frame.count) bytes is refused at a frame size of \(link.frameSize)")
      case .closed: throw Broken("the link is closed")
      }
    }
  }

  /// A frame that says which it is.
  static func frame(_ number: Int, byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 < 4 ? number >> (8 * $0) : number &* 31 &+ $0) }
  }

  static func number(of frame: [UInt8]) -> Int {
    frame.prefix(4).enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
  }

  static func error(_ body: () async throws(TransportError) -> Void) async -> TransportError? {
    do throws(TransportError) {
      try await body()
      return nil
    } catch {
      return error
    }
  }
}

import Bytes
import FuzzSupport
import Noise
import Primitives

private typealias End = TransportState<AESGCM>

/// What the first byte of an input chooses: how often keys change, and whether both ends may speak.
private struct Kind {
  var rekeyInterval: UInt64
  var isOneWay = false

  static let all = [
    Kind(rekeyInterval: 1_024), Kind(rekeyInterval: 0), Kind(rekeyInterval: .max - 3), Kind(rekeyInterval: 1 << 63),
    Kind(rekeyInterval: 0, isOneWay: true), Kind(rekeyInterval: 1 << 40),
  ]

  func end(_ role: NoiseRole) throws -> End {
    let bytes = (0..<64).map { UInt8($0) }
    let keys = Secret(copying: bytes.rawSpan)
    return try End(
      keys: keys, role: role, isOneWay: isOneWay, handshakeHash: [], rekeyInterval: rekeyInterval)
  }
}

private let tooLong = [UInt8](repeating: 0, count: 65_536 + 16)

/// A cipher that is given another key than the channel's, as those with long nonces are.
private enum InnerKeyed: NoiseCipher {
  static let name = "Inner"
  static let algorithm = AEADAlgorithm.aes256GCM
  static func nonce(_ counter: UInt64) -> AEADNonce { AEADNonce(bigEndian: counter) }
  static func innerKey(_ key: RawSpan) throws(PrimitiveError) -> Secret? { Secret(copying: key) }
}

/// One key alone: nothing under the last counter, and the counter goes on under the next key.
private func checkOneKey(at counter: UInt64) throws {
  let key = [UInt8](repeating: 1, count: 32)
  var sender = try CipherState<InnerKeyed>.keyed(key.rawSpan)
  var receiver = try CipherState<InnerKeyed>.keyed(key.rawSpan)
  try sender.rekey()
  try receiver.rekey()
  sender.setCounter(counter)
  receiver.setCounter(counter)
  var (message, content): ([UInt8], [UInt8]) = ([], [])
  let isSealed = (try? sender.encryptWithAd(RawSpan(), key.rawSpan, appendingTo: &message)) != nil
  require(isSealed == (counter != .max) && message.isEmpty != isSealed, "nothing is sealed under the last counter")
  let isOpened = (try? receiver.decryptWithAd(RawSpan(), message.rawSpan, appendingTo: &content)) != nil
  require(isOpened == isSealed && content == (isSealed ? key : []), "nothing is opened under the last counter")
  require(sender.counter == receiver.counter, "both ends count alike")
}

/// Two ends that do what the bytes say, in either direction: seal, lose, keep, deliver late or twice or changed, change
/// keys, jump to the last counters.
private struct Player: ~Copyable {
  private var initiator: End
  private var responder: End
  private let kind: Kind
  private var rest: ArraySlice<UInt8>
  /// What each end has sealed, the last of it, and which of it was opened.
  private var sent: [[[UInt8]]] = [[], []]
  private var opened: [Set<[UInt8]>] = [[], []]
  private var steps = 0
  /// Jumps are slow, so few first bytes allow one.
  private var hasJumped: Bool

  init(_ bytes: [UInt8]) throws {
    kind = Kind.all[Int(bytes.first ?? 0) % Kind.all.count]
    let one = try kind.end(.initiator)
    let other = try kind.end(.responder)
    hasJumped = bytes.first.map { $0 < 240 } ?? true
    initiator = one
    responder = other
    rest = bytes.dropFirst()
  }

  private mutating func next() -> Int { Int(rest.popFirst() ?? 0) }

  mutating func play() {
    while !rest.isEmpty, steps < 60 {
      steps += 1
      let operation = next()
      // The high bit is the direction.
      let sender = operation >> 7
      switch operation & 15 {
      case 0: seal(by: sender, count: next())
      case 1: lose(by: sender, count: next())
      case 2: deliver(from: sender, index: next())
      case 3: deliverChanged(from: sender, index: next(), place: next(), bits: next())
      case 4: deliverInvented(to: 1 - sender, count: next())
      case 5: cross({ $0.beginNextKey() }, on: sender)
      case 6: rekey(from: sender)
      case 7: refuseSizes(of: sender)
      case 8: deliverRecounted(from: sender, index: next(), count: next())
      default: seal(by: sender, count: operation & 3)
      }
    }
  }

  private mutating func cross(_ change: (inout End) -> Void, on end: Int) {
    if end == 0 { change(&initiator) } else { change(&responder) }
  }

  private func counter(of end: Int) -> UInt64 { end == 0 ? initiator.sendingCounter : responder.sendingCounter }

  /// Seals a message of so many bytes, and keeps it.
  private mutating func seal(by sender: Int, count: Int) {
    let counter = counter(of: sender)
    let content = [UInt8](repeating: UInt8(truncatingIfNeeded: counter), count: count)
    var message: [UInt8] = [8]
    var isSealed = false
    cross(
      { isSealed = (try? $0.seal(content.rawSpan, authenticating: [3].rawSpan, appendingTo: &message)) != nil },
      on: sender)
    let maySeal = counter != .max && !(kind.isOneWay && sender == 1)
    require(isSealed == maySeal, "whoever may speak and has counters left can seal")
    guard isSealed else { return require(message == [8], "what is not sealed leaves nothing") }
    sent[sender].append(Array(message.dropFirst()))
    if sent[sender].count > 40 { sent[sender].removeFirst() }
  }

  /// Moves the counter on by messages that never arrive: a few, or once in an input more than the window holds.
  private mutating func lose(by sender: Int, count: Int) {
    var lost: [UInt8] = []
    let isJump = count >= 240 && !hasJumped
    if isJump { hasJumped = true }
    for _ in 0..<(isJump ? 1_030 : count & 7) {
      lost.removeAll(keepingCapacity: true)
      cross({ _ = try? $0.seal(RawSpan(), appendingTo: &lost) }, on: sender)
    }
  }

  private mutating func deliver(from sender: Int, index: Int) {
    guard !sent[sender].isEmpty else { return }
    open(sent[sender][index % sent[sender].count], by: 1 - sender)
  }

  private mutating func deliverChanged(from sender: Int, index: Int, place: Int, bits: Int) {
    guard !sent[sender].isEmpty else { return }
    var message = sent[sender][index % sent[sender].count]
    message[place % message.count] ^= UInt8(bits)
    open(message, by: 1 - sender)
  }

  /// A message under another counter, eight bytes of the input.
  private mutating func deliverRecounted(from sender: Int, index: Int, count: Int) {
    guard !sent[sender].isEmpty else { return }
    let counter = (0..<8).map { _ in UInt8(next()) }
    open(counter + sent[sender][index % sent[sender].count].dropFirst(8 + count % 4), by: 1 - sender)
  }

  private mutating func deliverInvented(to receiver: Int, count: Int) {
    let message = Array(rest.prefix(count))
    rest = rest.dropFirst(message.count)
    open(message, by: receiver)
  }

  /// Both ends of one direction, as it must be where no interval says when.
  private mutating func rekey(from sender: Int) {
    guard kind.rekeyInterval == 0 else { return }
    cross({ _ = try? $0.rekeySending() }, on: sender)
    cross({ _ = try? $0.rekeyReceiving() }, on: 1 - sender)
  }

  /// What is longer than a message of Noise is neither made nor read.
  private mutating func refuseSizes(of end: Int) {
    var buffer: [UInt8] = [8]
    cross(
      {
        require((try? $0.seal(tooLong.rawSpan, appendingTo: &buffer)) == nil, "nothing too long is sealed")
        require((try? $0.open(tooLong.rawSpan, appendingTo: &buffer)) == nil, "nothing too long is opened")
      }, on: end)
    require(buffer == [8], "what was refused leaves nothing")
    for counter in [counter(of: end), .max] {
      require((try? checkOneKey(at: counter)) != nil, "a key is a key")
    }
  }

  private mutating func open(_ message: [UInt8], by receiver: Int) {
    var content: [UInt8] = [9]
    var isOpened = false
    var newest: (before: UInt64?, after: UInt64?)
    cross(
      {
        newest.before = $0.newestReceived
        isOpened = (try? $0.open(message.rawSpan, authenticating: [3].rawSpan, appendingTo: &content)) != nil
        newest.after = $0.newestReceived
      }, on: receiver)
    if isOpened {
      require(sent[1 - receiver].contains(message), "a forged message opens")
      require(opened[receiver].insert(message).inserted, "a message opens once")
      require(content.count == 1 + message.count - End.overhead, "a content has its size")
    } else {
      require(content == [9] && newest.before == newest.after, "what was refused leaves nothing")
    }
  }
}

/// Any messages in any order: what opens was sent, and opens once; a refusal leaves nothing.
private let fuzzer = Fuzzer(
  seeds: {
    let few: [UInt8] = [0, 5, 0, 0, 0, 200]
    // Each direction: sealed, delivered, delivered again, changed, under other counters.
    let everything: [UInt8] =
      few + [2, 2, 2, 0, 2, 0, 3, 1, 9, 1, 3, 1, 2, 128, 2, 1, 4, 3, 1, 2, 3, 7]
      + [8, 0, 0] + [UInt8](repeating: 255, count: 8) + [8, 0, 0] + [UInt8](repeating: 255, count: 7) + [254]
    let back = everything.enumerated().map {
      $0.offset.isMultiple(of: 2) && $0.offset < 12 ? $0.element | 128 : $0.element
    }
    let lateByWindow: [UInt8] = [0, 3, 1, 255, 0, 3, 2, 1, 2, 0, 1, 100, 0, 3, 2, 2, 2, 0, 2, 1]
    let steps: [UInt8] = [0, 1, 0, 1, 5, 0, 2, 2, 2, 2, 0, 2, 1, 5, 5, 0, 2, 2, 3, 2, 1]
    let far: [UInt8] =
      [0, 1, 5, 0, 1, 5, 5, 5, 0, 1, 2, 0, 3, 2, 0, 2, 2, 2, 2, 1] + [5, 0, 1].flatMap { [$0, 5, 5, 5] }
    let tooFar: [UInt8] =
      [0, 1, 2, 0] + (0..<10).flatMap { _ -> [UInt8] in [5, 0, 1] } + [2, 10, 2, 1, 2, 2, 2, 9, 2, 7, 2, 8, 2, 0]
    let limits: [UInt8] = [0, 1, 2, 0, 5] + (0..<6).flatMap { _ -> [UInt8] in [0, 2] } + [2, 1, 2, 2, 2, 3, 5, 2, 4]
    let manual: [UInt8] = [0, 3, 6, 0, 3, 2, 0, 2, 1, 134, 128, 2, 130, 0, 130, 0]
    let old: [UInt8] = [0, 1, 0, 1, 5, 0, 1, 2, 2, 1, 200, 0, 1, 2, 3, 2, 0, 5, 0, 1, 5, 0, 1, 2, 5, 2, 4, 2, 1]
    let scripts: [(String, [UInt8])] = [
      ("everything", everything), ("back", back), ("window", lateByWindow), ("steps", steps), ("far", far),
      ("too-far", tooFar), ("limits", limits), ("manual", manual), ("old", old),
    ]
    return scripts.flatMap { name, script in
      Kind.all.indices.map { ("\(name)-\($0)", [UInt8($0 + (name == "window" ? 240 : 0))] + script) }
    }
  },
  test: { bytes in
    guard var player = try? Player(bytes) else { return require(false, "a channel is made") }
    player.play()
  })

@_cdecl("FuzzNoiseTransport_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }

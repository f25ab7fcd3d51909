/// What one message of a socket between two nodes means: a mark, then what belongs to it.
///
/// | mark | message | then |
/// |---|---|---|
/// | 1 | connect | the name of the node that dials, UTF-8 |
/// | 2 | connected | – |
/// | 3 | refused | why, UTF-8, at most 128 bytes |
/// | 4 | discover service | UUID 16 |
/// | 5 | service found | – |
/// | 6 | discover characteristic | UUID 16 |
/// | 7 | characteristic found | – |
/// | 8 | subscribe | – |
/// | 9 | subscribed | – |
/// | 16 | frame | the frame, which may be empty |
///
/// The order is that of a Bluetooth LE dial, so that a node can be tried here through the same six steps.
package enum LocalMessage: Sendable, Equatable {
  case connect(name: String)
  case connected
  case refused(reason: String)
  case discoverService([UInt8])
  case serviceFound
  case discoverCharacteristic([UInt8])
  case characteristicFound
  case subscribe
  case subscribed
  case frame([UInt8])

  static let frameMark: UInt8 = 16

  /// Total: nil for bytes that are no message.
  package init?(decoding bytes: ArraySlice<UInt8>) {
    guard let mark = bytes.first else { return nil }
    let rest = bytes.dropFirst()
    switch mark {
    case 1:
      guard let name = Self.text(rest), LocalName.isValid(name) else { return nil }
      self = .connect(name: name)
    case 2 where rest.isEmpty: self = .connected
    case 3:
      guard let reason = Self.text(rest), rest.count <= LocalTransportLimits.reasonBytes else { return nil }
      self = .refused(reason: reason)
    case 4 where rest.count == 16: self = .discoverService(Array(rest))
    case 5 where rest.isEmpty: self = .serviceFound
    case 6 where rest.count == 16: self = .discoverCharacteristic(Array(rest))
    case 7 where rest.isEmpty: self = .characteristicFound
    case 8 where rest.isEmpty: self = .subscribe
    case 9 where rest.isEmpty: self = .subscribed
    case Self.frameMark: self = .frame(Array(rest))
    default: return nil
    }
  }

  package var encoded: [UInt8] {
    switch self {
    case .connect(let name): [1] + name.utf8
    case .connected: [2]
    case .refused(let reason): [3] + Self.cut(reason)
    case .discoverService(let identifier): [4] + identifier
    case .serviceFound: [5]
    case .discoverCharacteristic(let identifier): [6] + identifier
    case .characteristicFound: [7]
    case .subscribe: [8]
    case .subscribed: [9]
    case .frame(let frame): [Self.frameMark] + frame
    }
  }

  /// Whole characters in 128 bytes.
  private static func cut(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      let more = Array(String(scalar).utf8)
      guard bytes.count + more.count <= LocalTransportLimits.reasonBytes else { break }
      bytes += more
    }
    return bytes
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String? { String(validating: bytes, as: UTF8.self) }
}

/// The name of a node in a directory: letters, digits, `-` and `_` of ASCII, at most 32.
package enum LocalName {
  package static func isValid(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= LocalTransportLimits.nameBytes && name.utf8.allSatisfy(isPlain)
  }

  /// A name that says nothing of the node: `node-` and sixteen digits.
  package static func made(from random: UInt64) -> String {
    let digits = String(random, radix: 16)
    return "node-" + String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

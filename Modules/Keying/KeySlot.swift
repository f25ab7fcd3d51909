internal import Bytes
internal import Primitives

/// One way to the data key: what the data key was wrapped with, and how that comes about.
///
/// 100 bytes: kind 1, cost 3 (zero but for a passphrase), salt 32, wrapped data key 32 with its tag 16, commitment 16.
package struct KeySlot: Equatable, Sendable {
  /// What gives the key-encryption key.
  package enum Kind: UInt8, Sendable, CaseIterable {
    /// A credential of the service manager.
    case credential = 1
    case passphrase = 2
    case keyFile = 3
  }

  package static let byteCount = 100
  package static let saltByteCount = 32
  package static let commitmentByteCount = 16
  static let wrappedByteCount = AEADKey.keyByteCount + AEADKey.tagByteCount

  package let kind: Kind
  /// Of a passphrase only.
  package let cost: PassphraseCost?
  let salt: [UInt8]
  let wrapped: [UInt8]
  let commitment: [UInt8]

  init(kind: Kind, cost: PassphraseCost?, salt: [UInt8], wrapped: [UInt8], commitment: [UInt8]) {
    self.kind = kind
    self.cost = cost
    self.salt = salt
    self.wrapped = wrapped
    self.commitment = commitment
  }

  /// Reads a slot from where `reader` stands. Total.
  @_lifetime(reader: copy reader)
  init(reading reader: inout ByteReader) throws(KeySlots.Fault) {
    do {
      let kind = try reader.u8()
      let cost = (try reader.u8(), try reader.u8(), try reader.u8())
      salt = try reader.array(Self.saltByteCount)
      wrapped = try reader.array(Self.wrappedByteCount)
      commitment = try reader.array(Self.commitmentByteCount)
      guard let kind = Kind(rawValue: kind) else { throw KeySlots.Fault.kind(kind) }
      self.kind = kind
      if kind == .passphrase {
        guard let cost = PassphraseCost(logCost: cost.0, blockSize: cost.1, parallelism: cost.2) else {
          throw KeySlots.Fault.cost
        }
        self.cost = cost
      } else {
        guard cost == (0, 0, 0) else { throw KeySlots.Fault.cost }
        self.cost = nil
      }
    } catch let fault as KeySlots.Fault {
      throw fault
    } catch {
      throw .length
    }
  }

  /// Kind and cost, as the key derivation and the wrapping are bound to them.
  var head: [UInt8] { [kind.rawValue] + (cost?.bytes ?? [0, 0, 0]) }

  var encoded: [UInt8] { head + salt + wrapped + commitment }
}

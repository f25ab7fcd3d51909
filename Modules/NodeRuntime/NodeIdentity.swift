internal import Bytes
internal import Database
package import Identities
internal import Primitives
internal import Sessions
internal import Storing

/// Why the keys of this node cannot be used.
package enum NodeIdentityError: Error, Equatable {
  /// The store has keys that cannot be read: they are kept as they are, and no new ones are made.
  case unreadable(IdentityKeysError)
  /// The store has no keys, and the archive beside it was written by a node that had some: it would be another one from
  /// here on, and the former lost.
  case missing
  case storeFailed(reason: String)
  case primitiveFailed
}

/// The keys of this node as they stand in the plain store, and the sequence of the newest card.
///
/// Keys are made once, in an empty store, and never on an error path. A card sequence is durable before the card is.
struct NodeIdentity: ~Copyable {
  static let keysName = "identity.keys"
  static let nameName = "profile.name"
  static let iconName = "profile.icon"

  var keys: IdentityKeys
  var cardSequence: UInt64
  /// Whether the keys were made now.
  let isNew: Bool

  /// - Parameter mayBegin: whether there may be no keys yet.
  static func load(
    from store: any KeyValueStore, mayBegin: Bool, random: RandomSource, wall: UInt64
  ) async throws(NodeIdentityError) -> NodeIdentity {
    do {
      let last = try await NodeValues.kept.cardSequence.value(in: store)
      let sequence = last == .max ? last : last + 1
      if var bytes = try await store.get(keysName) {
        defer { Self.wipe(&bytes) }
        let keys: IdentityKeys
        do { keys = try IdentityKeys(importing: bytes.rawSpan, random: random) } catch {
          throw NodeIdentityError.unreadable(error)
        }
        try await NodeValues.kept.cardSequence.set(sequence, in: store)
        return NodeIdentity(keys: keys, cardSequence: sequence, isNew: false)
      }
      guard mayBegin else { throw NodeIdentityError.missing }
      let keys = try IdentityKeys(generatedFrom: random, now: wall)
      try await save(try keys.export(), sequence: sequence, in: store)
      return NodeIdentity(keys: keys, cardSequence: sequence, isNew: true)
    } catch let error as NodeIdentityError {
      throw error
    } catch let error as StoredSettingError {
      if case .store(.database(.full)) = error { throw .storeFailed(reason: "the disk is full") }
      throw .storeFailed(reason: "\(error)")
    } catch let error as StoreError {
      if case .database(.full) = error { throw .storeFailed(reason: "the disk is full") }
      throw .storeFailed(reason: "\(error)")
    } catch {
      throw .primitiveFailed
    }
  }

  /// Makes keys and sequence durable together. Of keys that are no more nothing is left when this returns.
  static func save(_ secret: consuming Secret, sequence: UInt64, in store: any KeyValueStore) async throws(StoreError) {
    // The store takes arrays and binds their memory as it is: the one copy is wiped when it is written.
    var values = [(keysName, [UInt8](copying: secret.bytes)), NodeValues.kept.cardSequence.entry(sequence)]
    defer { Self.wipe(&values[0].1) }
    try await store.put(values, isErasing: true)
  }

  /// Makes every byte zero in place; a copy that others hold would not be reached.
  private static func wipe(_ bytes: inout [UInt8]) {
    var span = bytes.mutableSpan
    for index in span.indices { span[index] = 0 }
  }
}

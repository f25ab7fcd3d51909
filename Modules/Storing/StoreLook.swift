internal import Database
package import Primitives

/// What lies in the two stores, found out without changing a byte of them, so that who refuses them leaves them as they
/// are.
package struct StoreLook: Sendable {
  /// Whether the sealed store alone counts.
  package let isSealed: Bool
  private let values: [String: [UInt8]]

  /// Of the store that counts.
  package subscript(name: String) -> [UInt8]? { values[name] }

  /// - Parameters:
  ///   - key: the data key, 32 bytes.
  ///   - names: of the values to be looked up.
  ///   - mayBegin: whether a sealed store that is empty may be of a process that died while it was made.
  /// - Returns: nothing where neither store is there. Throws what opening them for use would.
  package static func at(
    plainPath: String, sealedPath: String, storeID: [UInt8], key: consuming Secret, names: [String],
    mayBegin: Bool
  ) throws(StoreError) -> StoreLook? {
    let isPlainThere = SystemDisk().exists(plainPath)
    guard SystemDisk().exists(sealedPath) else {
      return isPlainThere ? StoreLook(isSealed: false, values: try plainValues(plainPath, names).values) : nil
    }
    let sealed: Result<(isAlone: Bool, isEmpty: Bool, values: [String: [UInt8]]), SealedStoreError>
    do throws(SealedStoreError) {
      guard !SQLiteDatabase.isNothing(at: sealedPath) else { throw .missing(path: sealedPath) }
      let file = try SealedFile(
        path: sealedPath, storeID: storeID, key: key, random: .system, mayBegin: false, isLooking: true)
      var values: [String: [UInt8]] = [:]
      for name in names { if case .value(let value) = try file.read(name) { values[name] = value } }
      sealed = .success((Migration(decoding: try file.note())?.phase == .sealed, try file.names().isEmpty, values))
    } catch { sealed = .failure(error) }
    guard isPlainThere else {
      let found: (isAlone: Bool, isEmpty: Bool, values: [String: [UInt8]])
      do { found = try sealed.get() } catch { throw .sealed(error) }
      guard found.isAlone || (mayBegin && found.isEmpty) else { throw .migration(.plainMissing(path: plainPath)) }
      return StoreLook(isSealed: true, values: found.values)
    }
    let plain = try plainValues(plainPath, names)
    if case .success((true, _, let values)) = sealed {
      // What the node leaves to be deleted says so itself.
      guard plain.isSealing else { throw .migration(.foreignPlain(path: plainPath)) }
      return StoreLook(isSealed: true, values: values)
    }
    return StoreLook(isSealed: false, values: plain.values)
  }

  private static func plainValues(
    _ path: String, _ names: [String]
  ) throws(StoreError) -> (isSealing: Bool, values: [String: [UInt8]]) {
    guard !SQLiteDatabase.isNothing(at: path) else { return (false, [:]) }
    do {
      let file = try PlainFile(looking: path)
      var values: [String: [UInt8]] = [:]
      for name in names { values[name] = try file.get(name) }
      return (try file.record().flatMap { Migration(decoding: $0) }?.isSealing == true, values)
    } catch { throw .database(error) }
  }
}

/// Values put into the store that counts while no node runs, without taking part in a move to the sealed one.
package enum OfflineStore {
  package static func put(
    _ values: [(name: String, value: [UInt8])], plainPath: String, sealedPath: String, isSealed: Bool, storeID: [UInt8],
    key: consuming Secret
  ) throws(StoreError) {
    guard isSealed else {
      do { return try PlainFile(path: plainPath).put(values, isErasing: false) } catch { throw .database(error) }
    }
    do {
      let file = try SealedFile(path: sealedPath, storeID: storeID, key: key, random: .system, mayBegin: false)
      try file.write(values, isErasing: false)
      try file.checkpoint()
    } catch { throw .sealed(error) }
  }
}

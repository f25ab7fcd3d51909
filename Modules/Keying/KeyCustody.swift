internal import Bytes
internal import Primitives
internal import Verifying

/// Keeps the slot file of one state directory: the one way to the data key.
///
/// The caller holds the lock of the directory, which is there and private. Calls block: for the disk, and for as long as
/// a passphrase costs. On every error the directory is as it was; where a write had begun, it opens as before or as after.
package struct KeyCustody: Sendable {
  package let directory: String
  let surroundings: KeyingSurroundings

  package init(directory: String, surroundings: KeyingSurroundings) {
    self.directory = directory
    self.surroundings = surroundings
  }

  var fileSystem: any FileSystem { surroundings.fileSystem }
  var sources: KeySources { KeySources(directory: directory, surroundings: surroundings) }
  var slotPath: String { directory + "/" + StateInventory.slotFile }
  var backupPath: String { directory + "/" + StateInventory.backup }
  var draftPath: String { directory + "/" + StateInventory.draft }

  /// The data key of the store that is here. Counts the opening, and removes what an interrupted write left behind.
  ///
  /// - Parameter isCounted: false for who only reads: then nothing is written, and the counter is that of the last
  ///   opening.
  package func open(with provider: borrowing KeyProvider, isCounted: Bool = true) throws(KeyingError) -> OpenedKeys {
    _ = try step(for: .open, mayFinishWipe: isCounted)
    let unlocked = try unlock(with: provider)
    guard isCounted else { return opened(unlocked.file, dataKey: unlocked.dataKey, by: provider) }
    try removeLeftovers()
    let (counter, isLast) = unlocked.file.stateCounter.addingReportingOverflow(1)
    let file = try computing { () throws(PrimitiveError) in
      try KeySlots(
        storeID: unlocked.file.storeID, stateCounter: isLast ? .max : counter, slots: unlocked.file.slots,
        dataKey: unlocked.dataKey)
    }
    try replace(unlocked.file.encoded, with: file, dataKey: unlocked.dataKey)
    return opened(file, dataKey: unlocked.dataKey, by: provider)
  }

  /// Makes a data key, wraps it for `provider` and keeps it: in an empty directory, or, as a migration, beside the
  /// plain store of earlier builds. Never anywhere else.
  package func create(
    with provider: borrowing KeyProvider, isMigration: Bool = false
  ) throws(KeyingError) -> OpenedKeys {
    _ = try step(for: isMigration ? .migrate : .create)
    let random = surroundings.random
    let dataKey = try computing { () throws(PrimitiveError) in try random.secret(AEADKey.keyByteCount) }
    let storeID = try computing { () throws(PrimitiveError) in try random.bytes(KeySlots.storeIDByteCount) }
    let slot = try makeSlot(for: provider, dataKey: dataKey, storeID: storeID)
    try removeLeftovers()
    let file = try computing { () throws(PrimitiveError) in
      try KeySlots(storeID: storeID, stateCounter: 1, slots: [slot], dataKey: dataKey)
    }
    try replace(nil, with: file, dataKey: dataKey)
    return opened(file, dataKey: dataKey, by: provider)
  }

  /// What is in the directory.
  package func inventory() throws(KeyingError) -> StateInventory {
    StateInventory(names: try filing { () throws(FileSystemError) in try fileSystem.names(in: directory) })
  }

  /// What may be done here; finishes a wipe that had begun.
  func step(for purpose: OpeningRules.Purpose, mayFinishWipe: Bool = true) throws(KeyingError) -> OpeningRules.Step {
    let step = try OpeningRules.step(for: purpose, in: directory, holding: try inventory())
    if step == .finishWipe {
      throw mayFinishWipe ? .wiped(try finishWipe()) : .wipePending(directory: directory)
    }
    return step
  }

  /// A slot file and its data key.
  struct Unlocked: ~Copyable {
    let file: KeySlots
    let dataKey: Secret
    /// Which slot opened.
    let index: Int
  }

  func unlock(with provider: borrowing KeyProvider) throws(KeyingError) -> Unlocked {
    let file = try readSlots()
    guard file.kinds.contains(provider.kind) else {
      throw .providerChanged(asked: provider.kind, recorded: file.kinds)
    }
    if provider.kind == .passphrase {
      let start = surroundings.clock.now()
      do throws(KeyingError) { return try tryPassphrase(provider, on: file) } catch {
        if case .wrongKey = error {
          let spent = surroundings.clock.now() - start
          if spent < KeyingLimits.refusedPassphrase { surroundings.clock.wait(KeyingLimits.refusedPassphrase - spent) }
        }
        throw error
      }
    }
    let key = try sources.key(of: provider.source)
    for (index, slot) in file.slots.enumerated() where slot.kind == provider.kind {
      if let unlocked = try tryKey(key, on: slot, index, of: file) { return unlocked }
    }
    throw .wrongKey(provider.kind)
  }

  private func tryPassphrase(_ provider: borrowing KeyProvider, on file: KeySlots) throws(KeyingError) -> Unlocked {
    for (index, slot) in file.slots.enumerated() where slot.kind == .passphrase {
      guard let cost = slot.cost else { continue }
      let key = try sources.key(ofPassphrase: provider.passphrase, salt: slot.salt, cost: cost)
      if let unlocked = try tryKey(key, on: slot, index, of: file) { return unlocked }
    }
    throw .wrongKey(.passphrase)
  }

  /// Nothing when the key is not the one of this slot.
  private func tryKey(
    _ key: borrowing Secret, on slot: KeySlot, _ index: Int, of file: KeySlots
  ) throws(KeyingError) -> Unlocked? {
    let dataKey: Secret
    do throws(KeySlotRefusal) {
      dataKey = try slot.unwrap(with: key, label: .keySlot, owner: file.storeID)
    } catch {
      switch error {
      case .wrongKey: return nil
      case .damaged: throw try corrupt(.wrapping)
      case .primitive(let error): throw .primitive(error)
      }
    }
    do throws(PrimitiveError) { try file.verify(with: dataKey) } catch {
      guard error == .authenticationFailed else { throw .primitive(error) }
      throw try corrupt(.code)
    }
    return Unlocked(file: file, dataKey: dataKey, index: index)
  }

  /// The slot file, whole, though not yet authenticated.
  package func readSlots() throws(KeyingError) -> KeySlots {
    let read = try filing { () throws(FileSystemError) in
      try DurableFile.read(slotPath, limit: KeySlots.largestByteCount, in: fileSystem)
    }
    let bytes = read ?? []
    do throws(KeySlots.Fault) { return try KeySlots(decoding: bytes.rawSpan) } catch {
      if case .format(let format) = error, format > KeySlots.format {
        throw .formatTooNew(path: slotPath, found: format)
      }
      throw try corrupt(error)
    }
  }

  private func corrupt(_ fault: KeySlots.Fault) throws(KeyingError) -> KeyingError {
    let bytes = try filing { () throws(FileSystemError) in
      try DurableFile.read(backupPath, limit: KeySlots.largestByteCount, in: fileSystem)
    }
    guard let bytes else { return .corrupt(path: slotPath, fault, backup: .none) }
    let isReadable = (try? KeySlots(decoding: bytes.rawSpan)) != nil
    return .corrupt(
      path: slotPath, fault, backup: isReadable ? .readable(path: backupPath) : .damaged(path: backupPath))
  }

  private func opened(
    _ file: KeySlots, dataKey: borrowing Secret, by provider: borrowing KeyProvider
  ) -> OpenedKeys {
    let protection: AtRestProtection =
      switch provider.source {
      case .credential: .credential
      case .passphrase: .passphrase
      case .keyFile(let path, _): sources.isBesideData(path) ? .none : .keyFileElsewhere
      }
    return OpenedKeys(
      dataKey: Secret(copying: dataKey.bytes), storeID: file.storeID, stateCounter: file.stateCounter,
      kind: provider.kind, protection: protection, slots: file.slots.map(\.kind))
  }
}

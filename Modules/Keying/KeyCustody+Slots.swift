internal import Bytes
internal import Primitives

extension KeyCustody {
  /// Adds a way to the same data key. Nothing that is sealed changes.
  ///
  /// - Parameter counter: raised to this with the change, so that the former file is an old one (`count`).
  package func addSlot(
    for added: borrowing KeyProvider, openedBy provider: borrowing KeyProvider, countingTo counter: UInt64? = nil
  ) throws(KeyingError) {
    try change(openedBy: provider, counter) { (slots, unlocked) throws(KeyingError) in
      guard slots.count < KeyingLimits.slotCount else { throw .slotCount(slots.count) }
      slots.append(try makeSlot(for: added, dataKey: unlocked.dataKey, storeID: unlocked.file.storeID))
    }
  }

  /// Takes a way to the data key away; whoever knew it may have kept the data key.
  ///
  /// - Parameter number: from 0, in the order of the file; it must be of `kind`.
  package func removeSlot(
    _ number: Int, of kind: KeySlot.Kind, openedBy provider: borrowing KeyProvider, countingTo counter: UInt64? = nil
  ) throws(KeyingError) {
    try change(openedBy: provider, counter) { (slots, unlocked) throws(KeyingError) in
      guard slots.indices.contains(number), slots[number].kind == kind else { throw .noSuchSlot(number) }
      guard slots.count > 1 else { throw .slotCount(slots.count) }
      slots.remove(at: number)
    }
  }

  /// Puts another key in the place of the one that opens: a changed passphrase, a new key file, another provider.
  package func replaceSlot(
    openedBy provider: borrowing KeyProvider, with replacement: borrowing KeyProvider,
    countingTo counter: UInt64? = nil
  ) throws(KeyingError) {
    try change(openedBy: provider, counter) { (slots, unlocked) throws(KeyingError) in
      slots[unlocked.index] = try makeSlot(
        for: replacement, dataKey: unlocked.dataKey, storeID: unlocked.file.storeID)
    }
  }

  private func change(
    openedBy provider: borrowing KeyProvider, _ counter: UInt64?,
    _ body: (inout [KeySlot], borrowing Unlocked) throws(KeyingError) -> Void
  ) throws(KeyingError) {
    _ = try step(for: .open)
    let unlocked = try unlock(with: provider)
    var slots = unlocked.file.slots
    try body(&slots, unlocked)
    try removeLeftovers()
    let file = try computing { () throws(PrimitiveError) in
      try KeySlots(
        storeID: unlocked.file.storeID, stateCounter: counter ?? unlocked.file.stateCounter, slots: slots,
        dataKey: unlocked.dataKey)
    }
    try replace(unlocked.file.encoded, with: file, dataKey: unlocked.dataKey)
  }

  func makeSlot(
    for provider: borrowing KeyProvider, dataKey: borrowing Secret, storeID: [UInt8]
  ) throws(KeyingError) -> KeySlot {
    let random = surroundings.random
    let salt = try computing { () throws(PrimitiveError) in try random.bytes(KeySlot.saltByteCount) }
    let isPassphrase = provider.kind == .passphrase
    if isPassphrase, provider.passphrase.count == 0 { throw .passphraseLength(0) }
    let key =
      isPassphrase
      ? try sources.key(ofPassphrase: provider.passphrase, salt: salt, cost: .interactive)
      : try sources.key(of: provider.source)
    do throws(PrimitiveError) {
      return try KeySlot(
        wrapping: dataKey, under: key, kind: provider.kind, cost: isPassphrase ? .interactive : nil, salt: salt,
        label: .keySlot, owner: storeID)
    } catch {
      throw .primitive(error)
    }
  }

  /// Puts `file` in the place of what is there. At every moment one of the two is there whole under its name, and the
  /// former stays as the backup until the new one has been read back.
  func replace(
    _ former: [UInt8]?, with file: KeySlots, dataKey: borrowing Secret
  ) throws(KeyingError) {
    let bytes = file.encoded
    try filing { () throws(FileSystemError) in
      if let former { try DurableFile.write(backupPath, former, in: fileSystem) }
      try DurableFile.write(draftPath, bytes, in: fileSystem)
      // The backup has its name before the slot file loses what it holds.
      try fileSystem.syncDirectory(directory)
      try fileSystem.rename(draftPath, to: slotPath)
      try fileSystem.syncDirectory(directory)
    }
    let read = try readSlots()
    guard read == file else { throw .corrupt(path: slotPath, .checksum, backup: backup(former != nil)) }
    try computing { () throws(PrimitiveError) in try read.verify(with: dataKey) }
    guard former != nil else { return }
    try filing { () throws(FileSystemError) in
      try DurableFile.erase(backupPath, in: fileSystem)
      try fileSystem.syncDirectory(directory)
    }
  }

  /// Removes what a write that was interrupted left beside a slot file that opens: a former file may hold a slot that
  /// was since taken away.
  func removeLeftovers() throws(KeyingError) {
    try filing { () throws(FileSystemError) in
      var isChanged = false
      for path in [backupPath, draftPath] where try fileSystem.facts(of: path) != nil {
        try DurableFile.erase(path, in: fileSystem)
        isChanged = true
      }
      if isChanged { try fileSystem.syncDirectory(directory) }
    }
  }

  private func backup(_ isThere: Bool) -> KeyingError.BackupCopy { isThere ? .readable(path: backupPath) : .none }
}

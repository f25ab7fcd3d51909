internal import Bytes
internal import Primitives

extension KeyCustody {
  /// A slot file for a copy of what these keys open, with one slot: for a backup.
  package func slotFile(
    openedBy holder: borrowing KeyProvider, of keys: borrowing OpenedKeys
  ) throws(KeyingError) -> [UInt8] {
    let slot = try makeSlot(for: holder, dataKey: keys.dataKey, storeID: keys.storeID)
    return try computing { () throws(PrimitiveError) in
      try KeySlots(
        storeID: keys.storeID, stateCounter: keys.stateCounter, slots: [slot], dataKey: keys.dataKey)
    }.encoded
  }
}

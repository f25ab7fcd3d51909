internal import Bytes
internal import Primitives

extension KeyCustody {
  /// Counts an opening whose keys are open already, and removes what an interrupted write left behind. Durable when it
  /// returns.
  ///
  /// For an owner that first tells its other files of the number to come, so that a process that dies in between leaves
  /// them one ahead and never behind.
  package func count(_ keys: borrowing OpenedKeys) throws(KeyingError) {
    _ = try step(for: .open)
    let former = try readSlots()
    do throws(PrimitiveError) { try former.verify(with: keys.dataKey) } catch { throw .primitive(error) }
    try removeLeftovers()
    let (counter, isLast) = former.stateCounter.addingReportingOverflow(1)
    let file = try computing { () throws(PrimitiveError) in
      try KeySlots(
        storeID: former.storeID, stateCounter: isLast ? .max : counter, slots: former.slots, dataKey: keys.dataKey)
    }
    try replace(former.encoded, with: file, dataKey: keys.dataKey)
  }
}

internal import Bytes
package import Primitives

extension KeyCustody {
  /// Raises the counter and removes what an interrupted write left behind. Durable when it returns.
  ///
  /// For an owner that first tells its other files of the number to come, so that a process that dies in between leaves
  /// them ahead and never behind.
  package func count(to counter: UInt64, with dataKey: borrowing Secret) throws(KeyingError) {
    _ = try step(for: .open)
    let former = try readSlots()
    do throws(PrimitiveError) { try former.verify(with: dataKey) } catch { throw .primitive(error) }
    try removeLeftovers()
    let file = try computing { () throws(PrimitiveError) in
      try KeySlots(storeID: former.storeID, stateCounter: counter, slots: former.slots, dataKey: dataKey)
    }
    try replace(former.encoded, with: file, dataKey: dataKey)
  }
}

/// What a value has to be before a store is used. Asked once, of the store that counts, before anything is written, so that
/// a store that is refused stays as it is and nobody has to open it a second time for that.
package struct StoreProof: Sendable {
  let name: String
  let isTaken: @Sendable ([UInt8]?) -> Bool

  /// - Parameter isTaken: is given the value, or nothing when there is none; false refuses with `MigrationError.disproved`.
  package init(of name: String, isTaken: @escaping @Sendable ([UInt8]?) -> Bool) {
    self.name = name
    self.isTaken = isTaken
  }
}

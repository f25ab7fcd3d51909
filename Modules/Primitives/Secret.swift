internal import CCrypto

/// Secret bytes: one owner, wiped when it goes, never printed, never copied by accident.
///
/// There is deliberately no description, no equality, no `Codable` and no conversion to `[UInt8]`.
@safe
package struct Secret: ~Copyable, @unchecked Sendable {
  // Sendable is sound: the memory has one owner and is written only by `mutating`, which is exclusive.
  private let memory: UnsafeMutableRawBufferPointer

  /// Number of secret bytes.
  package var count: Int { unsafe memory.count }

  /// A copy of borrowed bytes, which the caller wipes itself where they are its own.
  package init(copying bytes: RawSpan) {
    unsafe memory = Self.allocate(bytes.byteCount)
    unsafe bytes.withUnsafeBytes { unsafe memory.copyMemory(from: $0) }
  }

  /// `count` bytes (0 when negative) that `fill` writes; zero where it does not.
  package init<Failure: Error>(
    count: Int, fill: (inout MutableRawSpan) throws(Failure) -> Void
  ) throws(Failure) {
    let allocated = unsafe Self.allocate(max(count, 0))
    do throws(Failure) {
      var span = unsafe MutableRawSpan(_unsafeBytes: allocated)
      try fill(&span)
    } catch {
      unsafe Self.wipe(allocated)
      throw error
    }
    unsafe memory = allocated
  }

  /// Joins `first` and `second`.
  package init(joining first: borrowing Secret, _ second: borrowing Secret) {
    unsafe memory = Self.allocate(first.count + second.count)
    unsafe memory.copyMemory(from: UnsafeRawBufferPointer(first.memory))
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory[first.count...])
      .copyMemory(from: UnsafeRawBufferPointer(second.memory))
  }

  deinit {
    unsafe Self.wipe(memory)
  }

  /// The bytes, borrowed for as long as the secret is.
  package var bytes: RawSpan {
    @_lifetime(borrow self)
    borrowing get {
      let span = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(memory))
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The bytes, to be written.
  package var mutableBytes: MutableRawSpan {
    @_lifetime(&self)
    mutating get {
      let span = unsafe MutableRawSpan(_unsafeBytes: memory)
      return unsafe _overrideLifetime(span, mutating: &self)
    }
  }

  /// The memory itself, for this module's calls into libcrypto.
  var mutablePointer: UnsafeMutableRawBufferPointer {
    mutating get { unsafe memory }
  }

  /// Takes the bytes of `source` in place of the first of its own, as many as both have.
  package mutating func overwrite(with source: RawSpan) {
    unsafe source.withUnsafeBytes { source in
      unsafe memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(memory.count)))
    }
  }

  /// Takes bytes of another secret, from `offset` on, in place of its own; as many as both have.
  package mutating func overwrite(with other: borrowing Secret, from offset: Int = 0) {
    overwrite(with: other.bytes.extracting(droppingFirst: offset))
  }

  /// Makes every byte zero.
  package mutating func wipe() {
    unsafe OPENSSL_cleanse(memory.baseAddress, memory.count)
  }

  /// Lends the bytes to `body`, which must not keep them.
  package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(bytes)
  }

  private static func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    unsafe OPENSSL_cleanse(memory.baseAddress, memory.count)
    unsafe memory.deallocate()
  }

  private static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    return unsafe memory
  }
}

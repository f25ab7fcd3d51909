internal import Bytes
internal import Primitives

/// Seals and opens the records of one store, each under a key of its own.
///
/// The key of a record is HKDF-Expand (RFC 5869 section 2.3) of the data key with the information
/// `label ‖ salt (16) ‖ generation (8) ‖ kind (1) ‖ store id (16) ‖ name`; the data key is uniform, so it needs no
/// extraction. The salt is random and the generation is never used twice, so no key is, and the nonce is zero. What
/// follows the salt is authenticated as well. Numbers are big-endian.
///
/// Nothing is kept from one record to the next but contexts and memory, which the next one overwrites.
struct RecordSealer: ~Copyable {
  static let saltBytes = 16
  static let tagBytes = AEADKey.tagByteCount
  static let summaryBytes = 32

  /// The data key is inside this and nowhere else.
  private var mac: KeyedHMACSHA256
  private var aead: AEADKey
  private var key = Secret(count: HMACSHA256.byteCount) { _ in }
  private var information: [UInt8] = []
  private let storeID: [UInt8]
  private let random: RandomSource
  private let recordLabel = bytes(of: .storeRecord)
  private let headerLabel = bytes(of: .storeHeader)
  private let summaryLabel = bytes(of: .storeSummary)
  private let keyLabel = bytes(of: .storeKey)

  init(dataKey: consuming Secret, storeID: [UInt8], random: RandomSource) throws(PrimitiveError) {
    guard dataKey.count == AEADKey.keyByteCount else {
      throw .wrongLength(expected: AEADKey.keyByteCount, found: dataKey.count)
    }
    self.init(
      mac: try KeyedHMACSHA256(key: dataKey.bytes),
      aead: try AEADKey(.aes256GCM, key: [UInt8](repeating: 0, count: AEADKey.keyByteCount).rawSpan), storeID: storeID,
      random: random)
  }

  private init(mac: consuming KeyedHMACSHA256, aead: consuming AEADKey, storeID: [UInt8], random: RandomSource) {
    self.mac = mac
    self.aead = aead
    self.storeID = storeID
    self.random = random
    information.reserveCapacity(512)
  }

  /// 16 bytes that tell this data key from every other, and nothing about it.
  mutating func commitment() throws(PrimitiveError) -> [UInt8] {
    start(keyLabel)
    information.append(contentsOf: storeID)
    try expand()
    return [UInt8](copying: key.bytes.extracting(first: 16))
  }

  /// What the row of this name and state adds to the summary of the store.
  mutating func summary(_ name: String, _ entry: SealedEntry) throws(PrimitiveError) -> StoreSummary {
    start(summaryLabel)
    appendIdentity(name, entry)
    try expand()
    return StoreSummary(key.bytes)
  }

  /// Appends `salt ‖ ciphertext ‖ tag`.
  mutating func seal(
    _ value: [UInt8], _ name: String, _ entry: SealedEntry, appendingTo record: inout [UInt8]
  ) throws(PrimitiveError) {
    let salt = try random.bytes(Self.saltBytes)
    try prepare(recordLabel, salt: salt.rawSpan, name, entry)
    record.append(contentsOf: salt)
    try Self.seal(&aead, key, value, information, authenticated(recordLabel), appendingTo: &record)
  }

  /// Opens what `seal` appended.
  mutating func open(_ sealed: RawSpan, _ name: String, _ entry: SealedEntry) throws(PrimitiveError) -> [UInt8] {
    guard sealed.byteCount >= Self.saltBytes + Self.tagBytes else { throw .authenticationFailed }
    try prepare(recordLabel, salt: sealed.extracting(first: Self.saltBytes), name, entry)
    let content = sealed.extracting(droppingFirst: Self.saltBytes)
    return try Self.open(&aead, key, content, information, authenticated(recordLabel))
  }

  /// The header in the same form; it has no name, and its salt alone makes its key new.
  mutating func seal(header: [UInt8]) throws(PrimitiveError) -> [UInt8] {
    var sealed = try random.bytes(Self.saltBytes)
    try prepareHeader(salt: sealed.rawSpan)
    try Self.seal(&aead, key, header, storeID, storeID.indices, appendingTo: &sealed)
    return sealed
  }

  mutating func open(header sealed: RawSpan) throws(PrimitiveError) -> [UInt8] {
    guard sealed.byteCount >= Self.saltBytes + Self.tagBytes else { throw .authenticationFailed }
    try prepareHeader(salt: sealed.extracting(first: Self.saltBytes))
    return try Self.open(&aead, key, sealed.extracting(droppingFirst: Self.saltBytes), storeID, storeID.indices)
  }

  private mutating func prepareHeader(salt: RawSpan) throws(PrimitiveError) {
    start(headerLabel)
    information.append(copying: salt)
    information.append(contentsOf: storeID)
    try expand()
  }

  private mutating func prepare(
    _ label: [UInt8], salt: RawSpan, _ name: String, _ entry: SealedEntry
  ) throws(PrimitiveError) {
    start(label)
    information.append(copying: salt)
    appendIdentity(name, entry)
    try expand()
  }

  /// Where generation, kind, store id and name stand in the information, whose last byte is the number of the block.
  private func authenticated(_ label: [UInt8]) -> Range<Int> {
    label.count + Self.saltBytes..<information.count - 1
  }

  private mutating func start(_ label: [UInt8]) {
    information.removeAll(keepingCapacity: true)
    information.append(contentsOf: label)
  }

  private mutating func appendIdentity(_ name: String, _ entry: SealedEntry) {
    information.append(bigEndian: entry.generation)
    information.append(entry.isRemoved ? 1 : 0)
    information.append(contentsOf: storeID)
    information.append(contentsOf: name.utf8)
  }

  /// T(1) of RFC 5869: one block is the whole key.
  private mutating func expand() throws(PrimitiveError) {
    information.append(1)
    try Self.authenticate(information, with: &mac, into: &key)
  }

  // Functions of the parts, because a span of one part would otherwise borrow all of them.

  private static func authenticate(
    _ information: [UInt8], with mac: inout KeyedHMACSHA256, into key: inout Secret
  ) throws(PrimitiveError) {
    try mac.authenticate(information.rawSpan, into: &key)
  }

  private static func seal(
    _ aead: inout AEADKey, _ key: borrowing Secret, _ content: [UInt8], _ associated: [UInt8], _ range: Range<Int>,
    appendingTo sealed: inout [UInt8]
  ) throws(PrimitiveError) {
    try aead.setKey(key.bytes)
    try aead.seal(
      content.rawSpan, nonce: AEADNonce(bigEndian: 0), authenticating: associated.rawSpan.extracting(range),
      appendingTo: &sealed)
  }

  private static func open(
    _ aead: inout AEADKey, _ key: borrowing Secret, _ sealed: RawSpan, _ associated: [UInt8], _ range: Range<Int>
  ) throws(PrimitiveError) -> [UInt8] {
    try aead.setKey(key.bytes)
    var content: [UInt8] = []
    content.reserveCapacity(sealed.byteCount)
    try aead.open(
      sealed, nonce: AEADNonce(bigEndian: 0), authenticating: associated.rawSpan.extracting(range),
      appendingTo: &content)
    return content
  }

  private static func bytes(of label: DomainLabel) -> [UInt8] {
    label.text.withUTF8Buffer { unsafe [UInt8]($0) }
  }
}

/// What the store remembers of a name: of which write the row is, and whether that removed it.
struct SealedEntry: Equatable {
  /// Counts the writes of the whole store, so no name ever has one twice.
  var generation: UInt64
  var isRemoved: Bool
}

/// The sum of what all rows add: 256 bits from a keyed function for each, added as four numbers of 64. Without the key
/// nobody can tell which rows would add up to the same.
struct StoreSummary: Equatable {
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  init() {}

  /// 32 bytes; what is missing counts as zero.
  init(_ bytes: RawSpan) {
    words = (
      bytes.number(UInt64.self, at: 0), bytes.number(UInt64.self, at: 8), bytes.number(UInt64.self, at: 16),
      bytes.number(UInt64.self, at: 24)
    )
  }

  static func += (sum: inout StoreSummary, one: StoreSummary) {
    sum.words.0 &+= one.words.0
    sum.words.1 &+= one.words.1
    sum.words.2 &+= one.words.2
    sum.words.3 &+= one.words.3
  }

  static func -= (sum: inout StoreSummary, one: StoreSummary) {
    sum.words.0 &-= one.words.0
    sum.words.1 &-= one.words.1
    sum.words.2 &-= one.words.2
    sum.words.3 &-= one.words.3
  }

  func write(to writer: inout ByteWriter) {
    writer.u64(words.0)
    writer.u64(words.1)
    writer.u64(words.2)
    writer.u64(words.3)
  }

  static func == (one: StoreSummary, other: StoreSummary) -> Bool { one.words == other.words }
}

/// A named value of a store, with what holds while nothing is stored:
///
/// ```swift
/// struct NodeSettings {
///   @Setting("profile.name", default: "") var name
///   @Setting("relay.hops", default: 7) var hops
/// }
/// let hops = try await settings.hops.value(in: store)
/// try await settings.hops.set(5, in: store)
/// ```
///
/// The property is the setting, not its value: a store is asked each time, because a copy in memory would be plaintext
/// that nobody wipes, and could be another value than the one that is durable. `set` returns when the value is durable.
///
/// A type is stored as it is (`StoredAsItIs`), as bytes (`StoredAsBytes`), or through another type that earlier versions
/// stored (`StoredThroughAnother`). For any other the compiler says:
/// "this type cannot be stored: make it StoredAsBytes, or StoredThroughAnother for values of an earlier version".
/// For an optional it says: "a setting has a default and is never nil: leave the name out of the store instead".
@propertyWrapper
package struct Setting<Value: Sendable>: Sendable {
  package let wrappedValue: StoredSetting<Value>

  package init(_ name: String, default value: Value) where Value: StoredAsItIs {
    wrappedValue = StoredSetting(name: name, default: value, decode: { Value(stored: $0) }, encode: { $0.stored })
  }

  package init(_ name: String, default value: Value) where Value: StoredAsBytes {
    wrappedValue = StoredSetting(name: name, default: value, decode: { Value(decoding: $0) }, encode: { $0.encoded })
  }

  @available(
    *, unavailable,
    message:
      "this type cannot be stored: make it StoredAsBytes, or StoredThroughAnother for values of an earlier version"
  )
  @_disfavoredOverload
  package init(_ name: String, default value: Value) {
    wrappedValue = StoredSetting(name: name, default: value, decode: { _ in nil }, encode: { _ in [] })
  }

  @available(
    *, unavailable, message: "a setting has a default and is never nil: leave the name out of the store instead"
  )
  package init(_ name: String, default value: Value) where Value: NilOrValue {
    wrappedValue = StoredSetting(name: name, default: value, decode: { _ in nil }, encode: { _ in [] })
  }
}

/// An optional, told from every other type.
package protocol NilOrValue {}

extension Optional: NilOrValue {}

/// Where a setting is read and written.
package struct StoredSetting<Value: Sendable>: Sendable {
  package let name: String
  /// What holds while nothing is stored.
  package let `default`: Value
  private let decode: @Sendable ([UInt8]) -> Value?
  private let encode: @Sendable (Value) -> [UInt8]

  init(
    name: String, default value: Value, decode: @escaping @Sendable ([UInt8]) -> Value?,
    encode: @escaping @Sendable (Value) -> [UInt8]
  ) {
    self.name = name
    self.default = value
    self.decode = decode
    self.encode = encode
  }

  /// The stored value, or the default. Bytes that are no value of the type are an error, never the default.
  package func value(in store: some KeyValueStore) async throws(StoredSettingError) -> Value {
    let bytes: [UInt8]?
    do { bytes = try await store.get(name) } catch { throw .store(error) }
    guard let bytes else { return self.default }
    guard let value = decode(bytes) else { throw .unreadable(name: name, byteCount: bytes.count) }
    return value
  }

  /// Durable on return.
  package func set(_ value: Value, in store: some KeyValueStore) async throws(StoredSettingError) {
    do { try await store.put([(name, encode(value))]) } catch { throw .store(error) }
  }

  /// The name and the bytes of a value, to be put into the store with others at once.
  package func entry(_ value: Value) -> (name: String, value: [UInt8]) { (name, encode(value)) }

  /// What bytes of a store mean that was asked in another way; nothing when they are no value.
  package func value(of bytes: [UInt8]) -> Value? { decode(bytes) }

  /// The default holds again; durable on return.
  package func reset(in store: some KeyValueStore) async throws(StoredSettingError) {
    do { try await store.remove([name]) } catch { throw .store(error) }
  }
}

package enum StoredSettingError: Error, Equatable {
  case store(StoreError)
  /// What is stored is no value of the type of the setting; its size in bytes.
  case unreadable(name: String, byteCount: Int)
}

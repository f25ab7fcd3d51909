import Testing

@testable import Storing

private enum Duty: UInt64, StoredAsBytes, CaseIterable { case low = 1, high = 9 }

/// As an earlier version stored it: one byte for each hop.
private struct Route: StoredThroughAnother, Equatable {
  var hops: [UInt8]
  init(hops: [UInt8]) { self.hops = hops }
  init?(plain: [UInt8]) {
    guard plain.count <= 3 else { return nil }
    hops = plain
  }

  var plain: [UInt8] { hops }
}

private struct Example {
  @Setting("text", default: "none") var text
  @Setting("number", default: -7) var number
  @Setting("large", default: UInt64.max) var large
  @Setting("flag", default: false) var flag
  @Setting("duty", default: Duty.low) var duty
  @Setting("bytes", default: [1, 2] as [UInt8]) var bytes
  @Setting("route", default: Route(hops: [])) var route
}

@Suite struct SettingTests {
  private let directory = TemporaryDirectory()
  private let example = Example()

  private func check<Value: Equatable>(_ setting: StoredSetting<Value>, _ values: [Value]) async throws {
    let store = try PlainStore(path: directory.plain)
    #expect(try await setting.value(in: store) == setting.default)
    for value in values {
      try await setting.set(value, in: store)
      #expect(try await setting.value(in: store) == value)
    }
    try await setting.reset(in: store)
    #expect(try await setting.value(in: store) == setting.default)
  }

  @Test func everyKindComesBack() async throws {
    try await check(example.text, ["", "ünï\0", "x"])
    try await check(example.number, [.min, -1, 0, .max])
    try await check(example.large, [0, 1 << 63, .max])
    try await check(example.flag, [true, false])
    try await check(example.duty, Duty.allCases)
    try await check(example.bytes, [[], [0, 255]])
    try await check(example.route, [Route(hops: [3, 1])])
  }

  @Test func bytesThatAreNoValueAreAnErrorAndNotTheDefault() async throws {
    let store = try PlainStore(path: directory.plain)
    try await store.put([
      ("text", [0xFF]), ("number", [1]), ("flag", [2]), ("duty", [0, 0, 0, 0, 0, 0, 0, 2]), ("route", [1, 2, 3, 4]),
    ])
    await #expect(throws: StoredSettingError.unreadable(name: "text", byteCount: 1)) {
      try await example.text.value(in: store)
    }
    await #expect(throws: StoredSettingError.unreadable(name: "number", byteCount: 1)) {
      try await example.number.value(in: store)
    }
    await #expect(throws: StoredSettingError.unreadable(name: "flag", byteCount: 1)) {
      try await example.flag.value(in: store)
    }
    await #expect(throws: StoredSettingError.unreadable(name: "duty", byteCount: 8)) {
      try await example.duty.value(in: store)
    }
    await #expect(throws: StoredSettingError.unreadable(name: "route", byteCount: 4)) {
      try await example.route.value(in: store)
    }
  }

  @Test func earlierVersionsReadWhatIsStoredThroughAnother() async throws {
    let store = try PlainStore(path: directory.plain)
    try await example.route.set(Route(hops: [7, 8]), in: store)
    #expect(try await store.get("route") == [7, 8])
  }
}

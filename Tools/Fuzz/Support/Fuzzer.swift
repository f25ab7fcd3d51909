internal import FuzzDriver

/// What C hands to the `main` of a fuzz target.
public typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// One decoder under fuzz. A target names its seeds, which must be valid inputs, and a test that traps or calls
/// `require` with a false claim when a property is broken.
public struct Fuzzer: Sendable {
  public typealias Seeds = @Sendable () throws -> [(name: String, bytes: [UInt8])]
  public typealias Test = @Sendable ([UInt8]) -> Void

  private let seeds: Seeds
  private let test: Test

  public init(seeds: @escaping Seeds, test: @escaping Test) {
    self.seeds = seeds
    self.test = test
  }

  /// `--seeds DIRECTORY` writes the seeds; everything else goes to libFuzzer.
  public func run(_ count: Int32, _ arguments: Arguments) -> Int32 {
    if count == 3, let flag = unsafe arguments[1], let folder = unsafe arguments[2],
      unsafe String(cString: flag) == "--seeds"
    {
      return unsafe writeSeeds(to: String(cString: folder))
    }
    unsafe current = self
    return unsafe fuzz_run(count, arguments) { data, size in
      unsafe current?.test([UInt8](UnsafeBufferPointer(start: data, count: size)))
      return 0
    }
  }

  private func writeSeeds(to folder: String) -> Int32 {
    guard let seeds = try? seeds() else { return 1 }
    for (name, bytes) in seeds {
      test(bytes)
      guard unsafe fuzz_write("\(folder)/\(name)", bytes, bytes.count) == 0 else { return 1 }
    }
    return 0
  }
}

/// The property that must hold for every input.
public func require(_ claim: Bool, _ text: String) {
  if !claim { unsafe fuzz_fail(text) }
}

/// A target of several decoders may be asked for one of them: `Tools/fuzz Target/part`. Nil for all.
public let part: String? = unsafe fuzz_part().map { unsafe String(cString: $0) }

/// For a target that has no such part.
public func exitForUnknown(part: String) -> Never { unsafe fuzz_fail("there is no part \(part)") }

// libFuzzer calls back without a context. Set once, before it starts, and only read from then on.
nonisolated(unsafe) private var current: Fuzzer?

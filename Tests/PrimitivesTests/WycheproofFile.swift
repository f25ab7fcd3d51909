import Bytes
import Primitives
import TestKit
import Testing

/// One JSON file of project Wycheproof, with whatever fields its groups and tests have.
struct WycheproofFile: Decodable {
  struct PublicKey: Decodable {
    var uncompressed: String?
    var pk: String?
  }

  struct Test: Decodable {
    var tcId: Int
    var comment: String
    var result: String
    var key: String?
    var iv: String?
    var aad: String?
    var msg: String?
    var ct: String?
    var tag: String?
    var ikm: String?
    var salt: String?
    var info: String?
    var size: Int?
    var okm: String?
    var sig: String?
    var shared: String?
    var `public`: String?
    var `private`: String?
  }

  struct Group: Decodable {
    var ivSize: Int?
    var keySize: Int?
    var tagSize: Int?
    var publicKey: PublicKey?
    var tests: [Test]
  }

  var numberOfTests: Int
  var testGroups: [Group]

  /// What is wrong with a case, or nothing.
  typealias Check = (Group, Test) throws -> String?

  /// Runs every case, holds the number against the one that the file declares, and then spoils every case that gave a
  /// result: a check that lets those pass checks nothing.
  static func run(
    _ path: String, from source: PublicVectors.Source, spoiling: (inout Test) -> Void, _ check: Check
  ) throws {
    let file = try PublicVectors.json(WycheproofFile.self, path, from: source)
    var ran = 0
    var spoiled = 0
    for group in file.testGroups {
      for test in group.tests {
        ran += 1
        if let fault = try check(group, test) { Issue.record("\(path) case \(test.tcId) (\(test.comment)): \(fault)") }
        guard test.result == "valid" else { continue }
        var bent = test
        spoiling(&bent)
        if try check(group, bent) != nil { spoiled += 1 }
      }
    }
    #expect(ran == file.numberOfTests, "\(path) declares another number of cases")
    #expect(spoiled > 0, "a wrong vector passes")
    PublicVectors.report(path, ran: ran, note: "\(spoiled) spoiled ones refused")
  }
}

/// The bytes of a field; the files are trusted to hold hexadecimal digits, and a test fails where they do not.
func unhex(_ text: String?) throws -> [UInt8] { try #require(Hex.decode(text ?? "")) }

/// Another last digit.
func bend(_ text: inout String?) {
  guard let last = text?.popLast() else { return }
  text?.append(last == "0" ? "1" : "0")
}

func bytes(of secret: borrowing Secret) -> [UInt8] { [UInt8](copying: secret.bytes) }

import Foundation
import Testing

@testable import BlueZTransport

/// What the README says of the log is what the log says.
struct NoticeTests {
  @Test func tableOfTheReadmeIsTheTableOfTheCode() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
    let lines = readme.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let start = try #require(lines.firstIndex { $0.hasPrefix("<!-- notices of BlueZ") })
    let end = try #require(lines[start...].firstIndex { $0.hasPrefix("<!-- end of notices") })
    let expected = BlueZNotice.table
    #expect(
      Array(lines[(start + 1)..<end]) == expected, "the table should be:\n\(expected.joined(separator: "\n"))")
  }

  @Test func everyNoticeIsOneSentenceWithARemedy() {
    for notice in BlueZNotice.all {
      #expect(!notice.sentence.contains("\n") && !notice.sentence.contains("|"))
      #expect(!notice.explanation.meaning.isEmpty && !notice.explanation.remedy.isEmpty)
    }
    #expect(Set(BlueZNotice.all.map(\.sentence)).count == BlueZNotice.all.count)
  }
}

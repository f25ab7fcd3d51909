import Arguments
import ControlAPI
import ControlClient
import Programs

let searchCommand = Command(
  "search", summary: "find messages that contain words",
  examples: [
    CommandExample("relaychat search lantern square", "both words, in capitals or not, newest first"),
    CommandExample("relaychat search --with Ann six", "only what was written to or by one peer"),
  ],
  options: [
    CommandOption("with", value: "PEER", help: "Only what was said with this peer, or in #public."),
    CommandOption("limit", short: "n", value: "COUNT", help: "End after so many.", defaultValue: "50"),
  ],
  arguments: [CommandArgument("WORDS", help: "Each is part of the text.", isRepeatable: true)])

let exportCommand = Command(
  "export", summary: "write the whole history as JSON lines",
  examples: [CommandExample("relaychat export > history.jsonl", "one message a line, oldest first")],
  notes: ["Messages that are damaged on the disk are left out and counted at the end, and the exit code is 1 then."])

func searchMessages(_ context: ProgramContext) async throws(ProgramFailure) {
  let words = context.invocation.arguments["WORDS"] ?? []
  let limit = try context.reading { (settings) throws(SettingError) in try settings.integer("limit", in: 1...100_000) }
  let with = context.settings.text("with")
  let client = try await context.connect()
  var (left, before) = (limit ?? 50, Int64?.none)
  var unreadable: UInt64 = 0
  repeat {
    let (size, place) = (min(left, ControlAPILimits.messagesPerPage), before)
    let page = try await asking { () async throws(ControlClientError) in
      try await client.search(words.joined(separator: " "), with: with, before: place, limit: size)
    }
    for message in page.messages { try show(message, context) }
    left -= page.messages.count
    unreadable += page.unreadable ?? 0
    guard page.next.map({ $0 < before ?? .max }) ?? true else { throw goesInCircles }
    before = page.next
  } while left > 0 && before != nil
  if left == limit ?? 50 { Output.note("Nothing was found.") }
  if unreadable > 0 { Output.note("Not searched: \(unreadableText(unreadable))") }
}

func exportMessages(_ context: ProgramContext) async throws(ProgramFailure) {
  let client = try await context.connect()
  var after: Int64?
  var (count, unreadable) = (0, UInt64(0))
  repeat {
    let place = after
    let page = try await asking { () async throws(ControlClientError) in try await client.page(after: place) }
    for message in page.messages { try writeJSON(message) }
    count += page.messages.count
    unreadable += page.unreadable ?? 0
    guard page.next.map({ $0 > after ?? 0 }) ?? true else { throw goesInCircles }
    after = page.next
  } while after != nil
  guard unreadable == 0 else {
    throw ProgramFailure("\(count) messages were written. Left out: \(unreadableText(unreadable))")
  }
}

private let goesInCircles = ProgramFailure("The daemon goes in circles through its history; is it of another version?")

private func unreadableText(_ count: UInt64) -> String {
  "\(count) \(count == 1 ? "message that cannot" : "messages that cannot") be read; relaychat store status says where."
}

private func show(_ message: MessageRecord, _ context: ProgramContext) throws(ProgramFailure) {
  if try context.wantsJSON {
    try writeJSON(message)
  } else {
    Output.line(PeerText.line(message))
  }
}

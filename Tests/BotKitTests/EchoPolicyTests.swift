import ControlAPI
import Testing

@testable import BotKit

@Suite struct EchoPolicyTests {
  private func message(
    _ text: String, room: String? = nil, from: String = "aa", isBot: Bool = false, isEcho: Bool = false,
    isOwn: Bool = false
  ) -> MessageRecord {
    MessageRecord(
      messageID: "1", room: room, from: PeerReference(id: from, name: "Ann"), fromIsBot: isBot, text: text, sentTime: 0,
      receivedTime: 0, hops: 1, path: [], isEcho: isEcho, isOwn: isOwn)
  }

  private var policy: EchoPolicy { EchoPolicy(id: "00", name: "Echo Bot") }

  @Test func personalMessageIsEchoedToItsSender() {
    var policy = policy
    #expect(policy.receive(message("hi"), at: .zero) == .answer(recipient: "aa", text: "echo: hi"))
  }

  @Test(arguments: [
    ("echo bot, are you there?", true), ("ECHO BOT", true), ("@Echo-Bot!", true), ("echo", false),
    ("my echo bottle", false), ("bot echo", false), ("", false),
  ]) func publicMessageMustNameTheBot(text: String, isAnswered: Bool) {
    var policy = policy
    let decision = policy.receive(message(text, room: "#public"), at: .zero)
    let answer = EchoPolicy.Decision.answer(recipient: "#public", text: "echo to Ann: \(text)")
    #expect(decision == (isAnswered ? answer : .ignore(.notNamed)))
  }

  @Test func neverAnswersItselfABotOrAnEcho() {
    var policy = policy
    #expect(policy.receive(message("x", isOwn: true), at: .zero) == .ignore(.own))
    #expect(policy.receive(message("x", from: "00"), at: .zero) == .ignore(.own))
    #expect(policy.receive(message("x", isBot: true), at: .zero) == .ignore(.bot))
    #expect(policy.receive(message("x", isEcho: true), at: .zero) == .ignore(.echo))
  }

  @Test func twoBotsNeverTalkToEachOther() {
    var first = EchoPolicy(id: "01", name: "a")
    var second = EchoPolicy(id: "02", name: "b")
    guard case .answer(_, let text) = first.receive(message("hi a and b", room: "#public"), at: .zero) else {
      Issue.record("no answer")
      return
    }
    let answer = message(text, room: "#public", from: "01", isBot: true, isEcho: true)
    #expect(second.receive(answer, at: .zero) == .ignore(.echo))
  }

  @Test func senderWhoWritesTooFastIsIgnoredAlone() {
    var policy = policy
    var answered = 0
    for _ in 0..<20 {
      if case .answer = policy.receive(message("x"), at: .seconds(1)) { answered += 1 }
    }
    #expect(answered == BotKitLimits.burstPerSender)
    #expect(policy.receive(message("x"), at: .seconds(1)) == .ignore(.tooOften))
    #expect(policy.receive(message("x", from: "bb"), at: .seconds(1)) != .ignore(.tooOften))
    #expect(policy.receive(message("x"), at: .seconds(3)) != .ignore(.tooOften))
    #expect(policy.receive(message("x"), at: .seconds(3)) == .ignore(.tooOften))
  }

  @Test func manySendersAreForgottenInOrder() {
    var policy = policy
    for number in 0..<(BotKitLimits.senders * 2) {
      let decision = policy.receive(message("x", from: "\(number)"), at: .seconds(number))
      #expect(decision == .answer(recipient: "\(number)", text: "echo: x"))
    }
  }

  @Test func longAnswerIsCutBetweenCharacters() {
    var policy = policy
    let text = String(repeating: "👩‍👩‍👧‍👦", count: 100)
    guard case .answer(_, let answer) = policy.receive(message(text), at: .zero) else {
      Issue.record("no answer")
      return
    }
    #expect(answer.utf8.count <= BotKitLimits.bytesOfAnswer)
    #expect(answer.dropFirst(6).allSatisfy { $0 == "👩‍👩‍👧‍👦" })
  }
}

package import ControlAPI

/// Decides what an echo bot answers. Pure: messages and the time go in, decisions come out.
///
/// It answers a personal message, and a public one that names it; it never answers itself, a bot, an echo, or a sender
/// who writes faster than a person.
package struct EchoPolicy {
  package enum Decision: Sendable, Equatable {
    /// Send `text` to `recipient`, marked as an echo of a bot.
    case answer(recipient: String, text: String)
    case ignore(Reason)
  }

  package enum Reason: String, Sendable, CaseIterable {
    case own, bot, echo, notNamed, tooOften
  }

  private struct Sender {
    /// When the bucket is full again.
    var fullAt: Duration
    var lastHeard: Duration
  }

  private let ownID: String
  private let ownName: [String]
  private var senders: [String: Sender] = [:]

  /// - Parameters:
  ///   - id: of the node that the bot speaks for.
  ///   - name: that a public message must contain, as whole words in any case.
  package init(id: String, name: String) {
    ownID = id
    ownName = Self.words(name)
  }

  /// `now` never runs backwards.
  package mutating func receive(_ message: MessageRecord, at now: Duration) -> Decision {
    if message.isOwn || message.from.id == ownID { return .ignore(.own) }
    if message.isEcho { return .ignore(.echo) }
    if message.fromIsBot { return .ignore(.bot) }
    if message.room != nil, !isNamed(in: message.text) { return .ignore(.notNamed) }
    guard isWithinRate(message.from.id, now) else { return .ignore(.tooOften) }
    if let room = message.room {
      return .answer(recipient: room, text: Self.cut("echo to \(message.from.name): \(message.text)"))
    }
    return .answer(recipient: message.from.id, text: Self.cut("echo: \(message.text)"))
  }

  /// A leaky bucket per sender.
  private mutating func isWithinRate(_ id: String, _ now: Duration) -> Bool {
    var sender = senders[id] ?? Sender(fullAt: now, lastHeard: now)
    sender.lastHeard = now
    let next = max(sender.fullAt, now) + BotKitLimits.timePerAnswer
    let isWithin = next - now <= BotKitLimits.timePerAnswer * BotKitLimits.burstPerSender
    if isWithin { sender.fullAt = next }
    if senders[id] == nil, senders.count >= BotKitLimits.senders,
      let oldest = senders.min(by: { $0.value.lastHeard < $1.value.lastHeard })
    {
      senders[oldest.key] = nil
    }
    senders[id] = sender
    return isWithin
  }

  private func isNamed(in text: String) -> Bool {
    guard !ownName.isEmpty else { return false }
    let words = Self.words(text)
    return words.indices.contains { start in words[start...].starts(with: ownName) }
  }

  private static func words(_ text: String) -> [String] {
    text.lowercased().split { !($0.isLetter || $0.isNumber) }.map(String.init)
  }

  /// At a border between characters as people see them.
  private static func cut(_ text: String) -> String {
    var size = 0
    let kept = text.prefix { character in
      size += character.utf8.count
      return size <= BotKitLimits.bytesOfAnswer
    }
    return String(kept)
  }
}

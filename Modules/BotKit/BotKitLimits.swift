/// The bounds of this module, each with its reason.
package enum BotKitLimits {
  /// Answers that one sender gets at once; a person does not write faster.
  package static let burstPerSender = 5
  /// After the burst one answer in this time: a mesh of slow radios carries every answer many times.
  package static let timePerAnswer = Duration.seconds(2)
  /// Senders that are remembered; the one that has been silent longest is forgotten.
  package static let senders = 1_024
  /// UTF-8 bytes of an answer, so that it fits one packet of a personal message.
  package static let bytesOfAnswer = 400
}

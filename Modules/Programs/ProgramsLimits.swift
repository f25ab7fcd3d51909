/// The bounds of this module, each with its reason.
package enum ProgramsLimits {
  /// How often a program asks how far a long work is: often enough for an eye.
  package static let lookAtProgress = Duration.milliseconds(100)
  /// How long a daemon of our own may take until it answers.
  package static let startOfNode = Duration.seconds(15)
  /// Between two looks whether it answers.
  package static let lookForNode = Duration.milliseconds(50)
  /// How long it may take to end after it was asked to: its own grace and some.
  package static let endOfNode = Duration.seconds(8)
  /// Directories inside each other in the state of such a daemon; it has one level.
  package static let depthOfState = 8
}

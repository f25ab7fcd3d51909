/// The bounds of this module, each with its reason.
package enum ArgumentsLimits {
  /// Bytes of a configuration file; a person writes it, so more than this is a mistake.
  package static let bytesOfFile = 65_536
  /// Arguments on one command line; the system allows far more, no command here takes them.
  package static let arguments = 4_096
  /// Edits between a typo and the word that is suggested for it.
  package static let editsOfTypo = 2
  /// Bytes of a section name, which is what the parser keeps of one.
  package static let bytesOfSection = 48
  /// Columns of a help text.
  package static let helpColumns = 100
}

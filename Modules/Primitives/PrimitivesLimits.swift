/// Limits of this module, each with its reason.
package enum PrimitivesLimits {
  /// Scalars drawn before a source of randomness is called broken: one refusal has a chance of 2^-32, so eight in a
  /// row say that the source repeats itself.
  package static let scalarAttempts = 8
}

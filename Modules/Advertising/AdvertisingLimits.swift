/// Times of advertising, each with its reason.
package enum AdvertisingLimits {
  /// After a refusal advertising is asked for again, first and last wait; it doubles.
  package static let firstRetry: Duration = .seconds(1)
  package static let lastRetry: Duration = .seconds(30)
}

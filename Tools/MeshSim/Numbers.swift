/// Arithmetic that gives the same bits on every machine and in every build: sums, products, quotients and square roots
/// only, which IEEE 754 fixes; the library's logarithm it does not.
enum Numbers {
  /// The natural logarithm of a positive normal number, to about 15 digits.
  static func logarithm(_ value: Double) -> Double {
    guard value.isNormal, value > 0 else { return 0 }
    var (mantissa, exponent) = (value.significand, Double(value.exponent))
    if mantissa > 1.414_213_562_373_095 {
      mantissa /= 2
      exponent += 1
    }
    // The series of the inverse hyperbolic tangent; the ratio is below 0.172.
    let ratio = (mantissa - 1) / (mantissa + 1)
    let square = ratio * ratio
    var (term, sum) = (ratio, 0.0)
    for odd in stride(from: 1.0, to: 24.0, by: 2.0) {
      sum += term / odd
      term *= square
    }
    return 2 * sum + exponent * 0.693_147_180_559_945_3
  }

  /// A time with no memory, of this mean.
  static func exponential(mean: UInt64, using generator: inout some RandomNumberGenerator) -> UInt64 {
    let share = Double(UInt64.random(in: 1...1 << 53, using: &generator)) / Double(UInt64(1) << 53)
    return UInt64(-logarithm(share) * Double(mean))
  }

  /// Normal, mean 0 and deviation 1, from twelve even ones.
  static func normal(using generator: inout some RandomNumberGenerator) -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += Double.random(in: 0..<1, using: &generator) }
    return sum
  }

  /// The signal of a peer at so many metres in dBm, without shadowing: −40 at one metre, exponent 2.5.
  static func signal(metres: Double) -> Double {
    -40 - 25 * logarithm(max(metres, 0.1)) / 2.302_585_092_994_046
  }
}

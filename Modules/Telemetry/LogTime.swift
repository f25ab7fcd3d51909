/// The time of a record, in RFC 3339 with milliseconds, UTC.
package enum LogTime {
  /// `sinceEpoch` counts from 1970-01-01T00:00:00Z. Times before it or after the year 9999 are clamped.
  package static func text(_ sinceEpoch: Duration) -> String {
    let milliseconds =
      min(max(0, sinceEpoch.components.seconds), 253_402_300_799) * 1_000
      + max(0, sinceEpoch.components.attoseconds / 1_000_000_000_000_000)
    let (days, ofDay) = (milliseconds / 86_400_000, milliseconds % 86_400_000)
    let (year, month, day) = date(daysSinceEpoch: days)
    let time = [ofDay / 3_600_000, ofDay / 60_000 % 60, ofDay / 1_000 % 60].map { padded($0, 2) }
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T" + time.joined(separator: ":")
      + ".\(padded(ofDay % 1_000, 3))Z"
  }

  /// The proleptic Gregorian date, counted in eras of 400 years that start on a first of March, so that the leap day
  /// is the last day of a year.
  private static func date(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = daysSinceEpoch + 719_468
    let (era, ofEra) = (shifted / 146_097, shifted % 146_097)
    let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * ofYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * monthFromMarch + 2) / 5 + 1)
  }

  private static func padded(_ value: Int64, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

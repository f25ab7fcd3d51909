package import Streams
package import Transports

/// Decides which sightings the links are told: a new address, a new boot of the peer, a signal that has changed, or
/// the passing of time. A radio that reports every advertisement and one that reports each address once look alike.
///
/// Pure and bounded; nothing depends on a name or on an advertisement that could be read.
package struct SightingFilter: Sendable {
  private struct Known: Sendable {
    var hint: UInt32?
    var signal: Int?
    var toldSignal: Int?
    var toldAt: MonotonicTime
    var heardAt: MonotonicTime
  }

  private var known: [Candidate.Key: Known] = [:]

  package init() {}

  package var count: Int { known.count }

  /// - Returns: what to tell the links, if anything.
  package mutating func heard(_ sighting: Sighting, transport: Int, now: MonotonicTime) -> Candidate? {
    let key = Candidate.Key(transport: transport, address: sighting.address)
    let hint = sighting.advertisement?.hint
    var signal = sighting.signalStrength.map { Int($0) }
    let before = known[key]
    if let old = before?.signal, let new = signal { signal = (old * 3 + new) / 4 }
    let isNews =
      before.map { before in
        (hint != nil && hint != before.hint) || now.since(before.toldAt) >= ScanningLimits.repeatAfter
          || abs((signal ?? 0) - (before.toldSignal ?? signal ?? 0)) >= ScanningLimits.signalStep
      } ?? true
    if before == nil, known.count >= ScanningLimits.addresses,
      let oldest = known.min(by: { $0.value.heardAt < $1.value.heardAt })
    {
      known[oldest.key] = nil
    }
    known[key] = Known(
      hint: hint ?? before?.hint, signal: signal ?? before?.signal,
      toldSignal: isNews ? signal : before?.toldSignal, toldAt: isNews ? now : before?.toldAt ?? now, heardAt: now)
    guard isNews else { return nil }
    if let signal, signal < Int(ScanningLimits.weakestSignal) { return nil }
    return Candidate(key: key, signalStrength: signal.map { Int8(clamping: $0) }, hint: hint)
  }
}

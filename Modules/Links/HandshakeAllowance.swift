package import Streams
internal import Transports

/// How often each address may begin a handshake with us: `LinksLimits.handshakesPerAddress` times within
/// `LinksLimits.handshakeInterval`, in any such interval.
///
/// Only links that others dial are held against it. An address proves nothing: were our own dials counted too, whoever
/// borrows the address of a neighbour could keep us from dialling that neighbour. What addresses without number may
/// cost together is bounded by `LinksLimits.halfOpen`.
///
/// Bounded: `LinksLimits.countedAddresses`, the one that began a handshake longest ago goes. Pure.
package struct HandshakeAllowance: Sendable {
  /// The begins of one address, oldest first.
  private var begins: [DialPlan.Key: [MonotonicTime]] = [:]
  /// When the address last proved itself so often that it gets no more back within the interval.
  private var proofs: [DialPlan.Key: [MonotonicTime]] = [:]

  package init() {}

  /// Addresses that are counted now.
  package var count: Int { begins.count }

  /// An address begins a handshake.
  ///
  /// - Returns: false when it has had its share; that attempt is not counted.
  package mutating func begin(_ key: DialPlan.Key, now: MonotonicTime) -> Bool {
    var times = begins[key] ?? []
    times.removeAll { now.since($0) >= LinksLimits.handshakeInterval }
    guard times.count < LinksLimits.handshakesPerAddress else { return false }
    if begins[key] == nil { makeRoom(now: now) }
    begins[key] = times + [now]
    return true
  }

  /// A peer at this address has proved who it is: a link that keeps breaking is not held against it, until it has cost as
  /// much as `LinksLimits.provedHandshakesPerAddress`.
  package mutating func proved(_ key: DialPlan.Key, now: MonotonicTime) {
    guard var times = begins[key], !times.isEmpty else { return }
    var proved = (proofs[key] ?? []).filter { now.since($0) < LinksLimits.handshakeInterval }
    guard proved.count < LinksLimits.provedHandshakesPerAddress else { return }
    proved.append(now)
    proofs[key] = proved
    times.removeLast()
    begins[key] = times
  }

  private mutating func makeRoom(now: MonotonicTime) {
    guard begins.count >= LinksLimits.countedAddresses else { return }
    let oldest = begins.min { one, other in
      (one.value.last ?? .start, one.key.address.description) < (
        other.value.last ?? .start, other.key.address.description
      )
    }
    if let oldest {
      begins[oldest.key] = nil
      proofs[oldest.key] = nil
    }
  }
}

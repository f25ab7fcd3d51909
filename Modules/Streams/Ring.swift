/// A first-in, first-out buffer over one array, for the streams of this module.
///
/// It grows by doubling up to what its owner lets in; bounding it is the owner's duty, because only the owner knows
/// what is to happen when it is full. An idle ring keeps at most 64 places, so a burst does not pin memory.
@usableFromInline
struct Ring<Element> {
  @usableFromInline var places: [Element?]
  @usableFromInline var head = 0
  @usableFromInline var count = 0

  @usableFromInline static var idlePlaces: Int { 64 }

  @inlinable
  init() { places = [] }

  @inlinable
  var isEmpty: Bool { count == 0 }

  @inlinable
  mutating func append(_ element: Element) {
    if count == places.count { grow() }
    var index = head &+ count
    if index >= places.count { index &-= places.count }
    places[index] = element
    count &+= 1
  }

  @inlinable
  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = places[head].take()
    head &+= 1
    if head == places.count { head = 0 }
    count &-= 1
    if count == 0, places.count > Self.idlePlaces {
      places = []
      head = 0
    }
    return element
  }

  /// Removes every element that `predicate` names, keeping the order of the others. Linear; for cold paths.
  @inlinable
  mutating func removeAll(where predicate: (Element) -> Bool) {
    var kept: [Element?] = []
    while let element = popFirst() {
      if !predicate(element) { kept.append(element) }
    }
    places = kept
    head = 0
    count = kept.count
  }

  @usableFromInline
  mutating func grow() {
    var larger: [Element?] = []
    larger.reserveCapacity(Swift.max(8, places.count * 2))
    for offset in 0..<count { larger.append(places[(head + offset) % places.count]) }
    while larger.count < larger.capacity { larger.append(nil) }
    places = larger
    head = 0
  }
}

extension Ring: Sendable where Element: Sendable {}

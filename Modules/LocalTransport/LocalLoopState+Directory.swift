internal import Glibc
internal import Streams
internal import Transports

/// What the loop's thread does about the files of the directory.
extension LocalLoopState {
  func directoryChanged() {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while unsafe read(watch, &buffer, buffer.count) > 0 {}
    readFiles()
  }

  /// Reads what the air does now, tells the links, ends those out of reach, and hears who is there.
  func readFiles() {
    switch loop.directory.read("air.ini") {
    case .missing: _ = air.read(air: [])
    case .bytes(let bytes) where air.read(air: bytes): break
    case .bytes, .unusable: loop.context.note("air.ini is no INI file; the former one stays in force")
    }
    let names = loop.directory.names(ending: ".place")
    air.places = air.places.filter { names.contains($0.key) }
    for name in names {
      if case .bytes(let bytes) = loop.directory.read("\(name).place") { _ = air.read(place: bytes, of: name) }
    }
    let own = loop.directory.name
    for (token, entry) in open {
      let peer = entry.link.address.description
      entry.link.setConditions(air.conditions(between: own, peer))
      tellNews(token)
      if !air.isInReach(own, peer) { close(token, .lost) }
    }
    if isScanning { lookAround() }
  }

  func lookAround() {
    guard isScanning else { return }
    let own = loop.directory.name
    for name in loop.directory.names(ending: ".beacon") where name != own && air.isInReach(own, name) {
      guard case .bytes(let bytes) = loop.directory.read("\(name).beacon"),
        let advertisement = LocalDirectory.advertisement(bytes)
      else { continue }
      let address = TransportAddress(name)
      let sighting = Sighting(
        address: address, advertisement: advertisement, signalStrength: air.signalStrength(own, name))
      loop.sightings.offer(sighting, for: address)
    }
    nextSighting = now.advanced(by: LocalTransportLimits.sightingInterval)
  }
}

import Dispatch
import Glibc
import Streams
import Synchronization
import Transports

/// Nodes that meet in a directory, each at one datagram socket `NAME.post`: whoever has a socket there is in reach.
///
/// A letter is a kind, the sender's number of the link, the receiver's number of it, and what belongs to the kind. The
/// kernel keeps letters whole and in order, and refuses one that finds no room.
final class PostTransport: Transport {
  private enum Kind: UInt8 { case beacon = 1, hello, welcome, frame, bye }

  private struct State {
    var descriptor: Int32 = -1
    var isScanning = false
    var advertisement: Advertisement?
    var links: [UInt64: PostLink] = [:]
    var dials: [UInt64: Channel<any TransportLink>] = [:]
  }

  let properties = TransportProperties(scheme: "post", name: "post", bytesPerSecond: 1_000_000, linkLimit: 16)
  let state = Latest(TransportState.poweredOff)
  let sightings = Hints<TransportAddress, Sighting>(capacity: TransportsLimits.waitingSightings)
  let inbound = Channel<any TransportLink>(capacity: TransportsLimits.waitingInbound)
  private let directory: String
  private let name: String
  private let context: TransportContext
  private let inner = Mutex(State())

  init(directory: String, name: String, context: TransportContext) {
    (self.directory, self.name, self.context) = (directory, name, context)
  }

  // snippet: run
  func run() async throws {
    mkdir(directory, 0o700)
    unlink(path(name))
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard withAddress(path(name), { bind(descriptor, $0, $1) }) == 0 else {
      close(descriptor)
      throw TransportUnusableError(reason: "no socket can be made in \(directory); name a directory of your own")
    }
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
    source.setEventHandler { [self] in receive(descriptor) }
    source.setCancelHandler { close(descriptor) }
    inner.withLock { $0.descriptor = descriptor }
    source.resume()
    state.set(.poweredOn)
    while !Task.isCancelled {
      shout()
      try? await context.time.sleep(context.time.now().advanced(by: .milliseconds(500)))
    }
    let links = inner.withLock { inner in
      defer { inner = State() }
      return inner.links.values
    }
    for link in links {
      post(.bye, to: link.address.description, from: link.id.number, at: link.peerNumber, on: descriptor)
      link.finish(.transportStopped)
    }
    unlink(path(name))
    source.cancel()
    state.set(.poweredOff)
  }
  // end snippet

  // snippet: requests
  func advertise(_ advertisement: Advertisement?) async throws(TransportError) {
    guard state.value == .poweredOn else { throw .notPoweredOn }
    inner.withLock { $0.advertisement = advertisement }
    shout()
  }

  func scan(_ isScanning: Bool) async throws(TransportError) {
    guard state.value == .poweredOn else { throw .notPoweredOn }
    inner.withLock { $0.isScanning = isScanning }
  }

  func connect(
    to address: TransportAddress, progress: @escaping @Sendable (DialStep) -> Void
  ) async throws(TransportError) -> any TransportLink {
    guard state.value == .poweredOn else { throw .notPoweredOn }
    progress(.scan)
    let (number, answer) = (context.nextLinkID().number, Channel<any TransportLink>(capacity: 1))
    inner.withLock { $0.dials[number] = answer }
    guard post(.hello, to: address.description, from: number, at: 0) == .sent else {
      inner.withLock { $0.dials[number] = nil }
      throw .dialFailed(reached: .scan, reason: "nobody answers")
    }
    let link = await withTaskGroup(of: (any TransportLink)?.self) { group in
      group.addTask { await answer.next() }
      group.addTask { [context] in
        try? await context.time.sleep(context.time.now().advanced(by: .seconds(5)))
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    inner.withLock { $0.dials[number] = nil }
    answer.finish()
    guard let link = link ?? answer.poll() else {
      if Task.isCancelled { throw .cancelled }
      throw .dialFailed(reached: .scan, reason: "no answer in time")
    }
    for step in [DialStep.connect, .discoverService, .discoverCharacteristic, .subscribe] { progress(step) }
    return link
  }
  // end snippet

  /// Tells everybody in the directory what we advertise.
  private func shout() {
    guard let advertisement = inner.withLock({ $0.advertisement }), let stream = opendir(directory) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let file = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard file.hasSuffix(".post"), file != "\(name).post" else { continue }
      post(
        .beacon, to: String(file.dropLast(5)), from: UInt64(advertisement.hint), at: UInt64(advertisement.digest))
    }
  }

  /// One letter: kind 1 ‖ sender's number 8 ‖ receiver's number 8 ‖ length of our name 1 ‖ our name ‖ body.
  @discardableResult
  private func post(
    _ kind: Kind, to peer: String, from ours: UInt64, at theirs: UInt64, _ body: [UInt8] = [], on open: Int32? = nil
  ) -> LinkSend {
    var letter = [kind.rawValue]
    for number in [ours, theirs] { letter += (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    letter += [UInt8(name.utf8.count)] + name.utf8 + body
    let descriptor = open ?? inner.withLock { $0.descriptor }
    let count = withAddress(path(peer)) { sendto(descriptor, letter, letter.count, 0, $0, $1) }
    if count == letter.count { return .sent }
    return errno == EAGAIN || errno == ENOBUFS ? .full : .closed
  }

  private func receive(_ descriptor: Int32) {
    var letter = [UInt8](repeating: 0, count: 1_024)
    while case let count = recv(descriptor, &letter, letter.count, 0), count >= 18 {
      guard let kind = Kind(rawValue: letter[0]), count >= 18 + Int(letter[17]) else { continue }
      func number(_ start: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(letter[start + $1]) << (8 * UInt64($1)) } }
      let body = 18 + Int(letter[17])
      take(
        kind, from: String(decoding: letter[18..<body], as: UTF8.self), theirs: number(1), ours: number(9),
        Array(letter[body..<count]))
    }
  }

  private func take(_ kind: Kind, from peer: String, theirs: UInt64, ours: UInt64, _ body: [UInt8]) {
    let address = TransportAddress(peer)
    let link = inner.withLock { $0.links[ours] }
    switch kind {
    case .beacon:
      guard inner.withLock({ $0.isScanning }) else { return }
      let heard = Advertisement(hint: UInt32(truncatingIfNeeded: theirs), digest: UInt16(truncatingIfNeeded: ours))
      sightings.offer(Sighting(address: address, advertisement: heard, signalStrength: nil), for: address)
    case .hello:
      let link = makeLink(context.nextLinkID(), .peripheral, address, theirs)
      guard inbound.offer(link) == .accepted else { return hangUp(link, .lost) }
      post(.welcome, to: peer, from: link.id.number, at: theirs)
    case .welcome:
      let link = makeLink(LinkID(number: ours), .central, address, theirs)
      // Whoever dialled may have given up.
      if inner.withLock({ $0.dials[ours] })?.offer(link) != .accepted { hangUp(link, .closedHere) }
    case .frame: if link?.address == address { link?.deliver(body) }
    case .bye:
      guard let link, link.address == address else { return }
      inner.withLock { $0.links[ours] = nil }
      link.finish(.closedByPeer)
    }
  }

  private func makeLink(_ id: LinkID, _ role: LinkRole, _ address: TransportAddress, _ peerNumber: UInt64) -> PostLink {
    let link = PostLink(
      id: id, role: role, address: address, peerNumber: peerNumber,
      post: { [unowned self] frame in post(.frame, to: address.description, from: id.number, at: peerNumber, frame) },
      hangUp: { [unowned self] link, end in hangUp(link, end) })
    inner.withLock { $0.links[id.number] = link }
    return link
  }

  private func hangUp(_ link: PostLink, _ end: LinkEnd) {
    guard inner.withLock({ $0.links.removeValue(forKey: link.id.number) }) != nil else { return }
    post(.bye, to: link.address.description, from: link.id.number, at: link.peerNumber)
    link.finish(end)
  }

  private func path(_ name: String) -> String { "\(directory)/\(name).post" }

  private func withAddress<Result>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}

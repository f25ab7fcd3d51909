internal import Glibc
package import Streams
package import Transports

/// Nodes of one machine that meet over Unix sockets in a directory, with positions and a range, so that a chain of
/// nodes can be tried without a radio. What the air does can be changed while nodes run; see `LocalAir`.
///
/// A dial goes through the six steps of Bluetooth LE, as messages over a packet socket; frames are messages after them.
/// The directory belongs to one user: whoever may write there can pretend to be any address, as on a radio.
package final class LocalRadio: Transport {
  package let properties: TransportProperties
  package let state = Latest(TransportState.poweredOff)
  package let sightings = Hints<TransportAddress, Sighting>(capacity: TransportsLimits.waitingSightings)
  package let inbound = Channel<any TransportLink>(capacity: TransportsLimits.waitingInbound)

  private let directory: LocalDirectory
  private let context: TransportContext
  private let place: LocalAir.Place?
  private let loop = Protected<LocalLoop?>(nil)

  /// - Parameters:
  ///   - path: of the directory, made if it is not there.
  ///   - name: of the node in the directory; `LocalName.isValid`.
  ///   - place: written when the node starts; nil leaves the file that is there.
  package init(path: String, name: String, place: LocalAir.Place?, context: TransportContext) {
    directory = LocalDirectory(path: path, name: name)
    self.context = context
    self.place = place
    properties = TransportProperties(
      scheme: "local", name: "local", bytesPerSecond: LocalTransportLimits.bytesPerSecond,
      linkLimit: LocalTransportLimits.links)
  }

  /// Makes the directory, and finds out before anything runs what would keep this node from using it.
  func check() throws(TransportConfigurationError) {
    do throws(LocalDirectory.Failure) {
      try directory.prepare()
      if directory.isNameTaken { throw .nameTaken }
    } catch {
      let sentence = LocalTransportError(path: directory.path, name: directory.name, failure: error).description
      throw TransportConfigurationError(option: error == .nameTaken ? "name" : "path", reason: sentence)
    }
  }

  package func run() async throws {
    let running: LocalLoop
    do throws(LocalDirectory.Failure) {
      try directory.prepare()
      if let place { directory.write(LocalAir.text(place), to: "\(directory.name).place") }
      running = try LocalLoop(directory: directory, context: context, sightings: sightings, inbound: inbound)
      running.start(listener: try directory.listen())
    } catch {
      state.set(error == .notOurs ? .unauthorized : .unsupported)
      throw LocalTransportError(path: directory.path, name: directory.name, failure: error).thrown
    }
    loop.withLock { $0 = running }
    state.set(.poweredOn)
    let failure = await withTaskCancellationHandler {
      await running.waitUntilEnded()
    } onCancel: {
      running.enqueue(.stop)
    }
    loop.withLock { $0 = nil }
    directory.remove("\(directory.name).beacon")
    unsafe unlink(directory.socketPath)
    state.set(.poweredOff)
    if let failure { throw LocalTransportError(path: directory.path, name: directory.name, failure: failure).thrown }
  }

  package func advertise(_ advertisement: Advertisement?) async throws(TransportError) {
    guard loop.withLock({ $0 }) != nil else { throw .notPoweredOn }
    let file = "\(directory.name).beacon"
    guard let advertisement else {
      directory.remove(file)
      return
    }
    guard directory.write(LocalDirectory.text(advertisement), to: file) else {
      throw .failed(reason: "the beacon cannot be written")
    }
  }

  package func scan(_ isScanning: Bool) async throws(TransportError) {
    guard let loop = loop.withLock({ $0 }) else { throw .notPoweredOn }
    loop.enqueue(.scan(isScanning))
  }

  package func connect(
    to address: TransportAddress, progress: @escaping @Sendable (DialStep) -> Void
  ) async throws(TransportError) -> any TransportLink {
    guard let loop = loop.withLock({ $0 }) else { throw .notPoweredOn }
    let answer = LocalLoop.Answer(capacity: 1)
    switch loop.enqueue(.dial(address.description, progress: progress, answer: answer)) {
    case .accepted: break
    case .tooMany: throw .failed(reason: "too many dials wait already")
    case .ended: throw .notPoweredOn
    }
    if let result = await answer.next() { return try result.get() }
    // Given up. A link that is there already is ours to close; one that comes later is refused and closed by the loop.
    answer.finish()
    if case .success(let link) = answer.poll() { link.close() }
    loop.enqueue(.abandon(answer))
    throw .cancelled
  }
}

/// The directory cannot be used.
struct LocalTransportError: Error, Equatable, CustomStringConvertible {
  let path: String
  let name: String
  let failure: LocalDirectory.Failure

  /// What `run` throws: for good when another attempt would end the same way.
  var thrown: any Error {
    switch failure {
    case .notOurs, .pathTooLong, .nameTaken: TransportUnusableError(reason: description)
    case .systemCall: self
    }
  }

  var description: String {
    switch failure {
    case .notOurs: "the directory \(path) belongs to another user; use one of your own"
    case .systemCall(let call, let code):
      "\(call) failed in \(path): \(Self.text(code)); check that it is there and can be written"
    case .pathTooLong(let count):
      "the path of the socket in \(path) has \(count) bytes and may have 107; use a shorter directory"
    case .nameTaken: "another node is called \(name) in \(path); give this one another with name="
    }
  }

  private static func text(_ code: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
    let end = buffer.firstIndex(of: 0) ?? buffer.count
    return String(decoding: buffer[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

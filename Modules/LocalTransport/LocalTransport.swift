internal import Glibc
package import Streams
package import Transports

/// Nodes of one machine that meet over Unix sockets in a directory, with positions and a range, so that a chain of
/// nodes can be tried without a radio. What the air does can be changed while nodes run; see `LocalAir`.
///
/// A dial goes through the six steps of Bluetooth LE, as messages over a packet socket; frames are messages after them.
/// The directory belongs to one user: whoever may write there can pretend to be any address, as on a radio.
package final class LocalTransport: Transport {
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

  package func run() async throws {
    do throws(LocalDirectory.Failure) {
      try directory.prepare()
      if let place { directory.write(LocalAir.text(place), to: "\(directory.name).place") }
      let loop = try LocalLoop(directory: directory, context: context, sightings: sightings, inbound: inbound)
      loop.start(listener: try directory.listen())
      self.loop.withLock { $0 = loop }
    } catch {
      state.set(error == .notOurs ? .unauthorized : .unsupported)
      throw LocalTransportError(path: directory.path, name: directory.name, failure: error)
    }
    state.set(.poweredOn)
    let running = loop.withLock { $0 }
    let failure = await withTaskCancellationHandler {
      await running?.ended.next()
    } onCancel: {
      running?.enqueue(.stop)
    }
    await waitForEnd(of: running)
    directory.remove("\(directory.name).beacon")
    unsafe unlink(directory.socketPath)
    state.set(.poweredOff)
    if let failure { throw LocalTransportError(path: directory.path, name: directory.name, failure: failure) }
  }

  /// The loop ends at once after `.stop`; its sockets are closed before this returns.
  private func waitForEnd(of running: LocalLoop?) async {
    running?.enqueue(.stop)
    loop.withLock { $0 = nil }
    while let running, !running.ended.isFinished { await Task.yield() }
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
    let answer = Channel<Result<LocalLink, TransportError>>(capacity: 1)
    loop.enqueue(.dial(address.description, progress: progress, answer: answer))
    guard let result = await answer.next() else {
      // Given up: a link that comes all the same is closed by whoever takes it out.
      answer.poll().map { if case .success(let link) = $0 { link.close() } }
      throw .cancelled
    }
    return try result.get()
  }
}

/// The directory cannot be used.
package struct LocalTransportError: Error, Equatable, CustomStringConvertible {
  let path: String
  let name: String
  let failure: LocalDirectory.Failure

  package var description: String {
    switch failure {
    case .notOurs: "the directory \(path) belongs to another user; use one of your own"
    case .systemCall(let call, let code): "\(call) failed in \(path) with error \(code); check that it can be written"
    case .pathTooLong(let count):
      "the path of the socket in \(path) has \(count) bytes and may have 107; use a shorter directory"
    case .nameTaken: "another node is called \(name) in \(path); give this one another with name="
    }
  }
}

internal import CLinux
import ControlAPI
import Glibc
import Lifecycle
import Streams
import Synchronization
import Telemetry

/// The event thread: accepts, reads and writes all sockets without ever blocking on one of them.
///
/// Whole requests go to the client's `inputs`; when those are full the client is not read until its task has caught up.
/// New clients go to `accepted`. Both end when the thread ends.
final class ControlLoop: Sendable {
  private struct Wishes: Sendable {
    var written: Set<UInt64> = []
    var resumed: Set<UInt64> = []
    var closed: Set<UInt64> = []
    var isStopped = false
  }

  let accepted = Channel<ConnectedClient>(capacity: ControlServerLimits.clients)
  private let ending = Protected<(isOver: Bool, waiter: CheckedContinuation<Void, Never>?)>((false, nil))
  let counters: CounterSet<ControlCounter>
  let socket: ControlSocket
  let groupPermission: ControlPermission
  private let now: @Sendable () -> Int64
  private let wishes = Protected(Wishes())
  private let wakeDescriptor: Int32

  init(
    socket: ControlSocket, groupPermission: ControlPermission, counters: CounterSet<ControlCounter>,
    now: @escaping @Sendable () -> Int64
  ) throws(ControlSocketError) {
    self.socket = socket
    self.groupPermission = groupPermission
    self.counters = counters
    self.now = now
    wakeDescriptor = eventfd(0, Int32(O_CLOEXEC | O_NONBLOCK))
    guard wakeDescriptor >= 0 else { throw .systemCall("eventfd", path: socket.path, code: errno) }
  }

  deinit { Glibc.close(wakeDescriptor) }

  func start() { WorkerThread.start(name: "control") { self.run() } }

  /// There is something in the client's output.
  func write(to client: ConnectedClient) { wish { $0.written.insert(client.caller.number).inserted } }

  /// The client's task has taken an input.
  func resume(_ client: ConnectedClient) {
    guard client.isPaused.exchange(false, ordering: .sequentiallyConsistent) else { return }
    wish { $0.resumed.insert(client.caller.number).inserted }
  }

  /// Writes what it can and ends the connection.
  func close(_ client: ConnectedClient) { wish { $0.closed.insert(client.caller.number).inserted } }

  func stop() {
    wish { wishes in
      defer { wishes.isStopped = true }
      return !wishes.isStopped
    }
  }

  /// Returns when the thread has closed everything, which it does at once after `stop`. A cancelled task waits as well:
  /// whoever serves again at the same path must not meet the old socket. One caller.
  func waitForEnd() async {
    await withCheckedContinuation { continuation in
      let isOver = ending.withLock { ending in
        if !ending.isOver { ending.waiter = continuation }
        return ending.isOver
      }
      if isOver { continuation.resume() }
    }
  }

  /// `change` returns whether the thread must look.
  private func wish(_ change: (inout Wishes) -> Bool) {
    guard wishes.withLock(change) else { return }
    var one: UInt64 = 1
    _ = unsafe Glibc.write(wakeDescriptor, &one, 8)
  }

  // MARK: - The thread

  private static let listenerToken: UInt64 = 0
  /// Milliseconds until clients are accepted again after the process had no descriptor left.
  private static let acceptPause: Int32 = 100
  private static let wakeToken: UInt64 = 1

  private final class Connection {
    let client: ConnectedClient
    var splitter = LineSplitter(limit: ControlAPILimits.bytesOfRequest)
    /// An input that found no room.
    var held: ConnectedClient.Input?
    var badLines = 0
    var interest = Poller.Interest.reading

    init(_ client: ConnectedClient) { self.client = client }
  }

  private struct Turn: ~Copyable {
    let poller: Poller
    var connections: [UInt64: Connection] = [:]
    var lastNumber = ControlLoop.wakeToken
    /// False while the process has no descriptor left for a client: the ones that wait are looked at again later.
    var isAccepting = true
    var buffer = [UInt8](repeating: 0, count: ControlServerLimits.bytesOfTurn)
  }

  private func run() {
    if let poller = Poller(limit: ControlServerLimits.clients + 2) {
      poller.add(socket.descriptor, token: Self.listenerToken, .reading)
      poller.add(wakeDescriptor, token: Self.wakeToken, .reading)
      var turn = Turn(poller: poller)
      serve(&turn)
    }
    socket.remove()
    accepted.finish()
    let waiter = ending.withLock { ending in
      ending.isOver = true
      return ending.waiter.take()
    }
    waiter?.resume()
  }

  private func serve(_ turn: inout Turn) {
    var isRunning = true
    while isRunning, let events = turn.poller.wait(milliseconds: turn.isAccepting ? -1 : Self.acceptPause) {
      if !turn.isAccepting {
        turn.isAccepting = true
        turn.poller.change(socket.descriptor, token: Self.listenerToken, .reading)
      }
      for event in events {
        switch event.token {
        case Self.listenerToken: accept(&turn)
        case Self.wakeToken: isRunning = obey(&turn)
        case let number:
          if event.isWritable, let connection = turn.connections[number] { flush(connection, &turn) }
          if event.isReadable, let connection = turn.connections[number] { read(connection, &turn) }
        }
      }
    }
    for connection in turn.connections.values { flush(connection, &turn) }
    for connection in turn.connections.values { end(connection, &turn) }
  }

  private func accept(_ turn: inout Turn) {
    while true {
      let descriptor = clinux_accept(socket.descriptor)
      guard descriptor >= 0 else {
        if errno == EMFILE || errno == ENFILE {
          counters.count(.refusedDescriptors)
          turn.isAccepting = false
          turn.poller.change(socket.descriptor, token: Self.listenerToken, [])
        }
        return
      }
      turn.lastNumber += 1
      guard
        let caller = ConnectedClient.caller(
          of: descriptor, number: turn.lastNumber, group: socket.group, groupPermission: groupPermission)
      else {
        counters.count(.refusedCredentials)
        Glibc.close(descriptor)
        continue
      }
      let client = ConnectedClient(caller: caller, descriptor: descriptor)
      guard turn.connections.count < ControlServerLimits.clients, accepted.offer(client) == .accepted else {
        counters.count(.refusedFull)
        Self.sayFull(on: descriptor)
        Glibc.close(descriptor)
        continue
      }
      counters.count(.accepted)
      turn.connections[caller.number] = Connection(client)
      turn.poller.add(descriptor, token: caller.number, .reading)
    }
  }

  /// The one line that a client hears for which there is no place: its new socket takes it at once or never.
  private static func sayFull(on descriptor: Int32) {
    let error = ControlError(
      .notReady, "too many clients are connected already", limit: ControlServerLimits.clients)
    let line = ControlResponse.encode(error, to: nil)
    _ = unsafe line.withUnsafeBufferPointer { buffer in
      unsafe send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
    }
  }

  /// False when the thread is to end.
  private func obey(_ turn: inout Turn) -> Bool {
    var count: UInt64 = 0
    _ = unsafe Glibc.read(wakeDescriptor, &count, 8)
    let wishes = wishes.withLock { wishes in
      let taken = wishes
      wishes = Wishes()
      wishes.isStopped = taken.isStopped
      return taken
    }
    for number in wishes.resumed {
      if let connection = turn.connections[number] { takeLines(connection, &turn) }
    }
    for number in wishes.written.union(wishes.closed) {
      if let connection = turn.connections[number] { flush(connection, &turn) }
    }
    for number in wishes.closed {
      if let connection = turn.connections[number] { end(connection, &turn) }
    }
    return !wishes.isStopped
  }

  private func read(_ connection: Connection, _ turn: inout Turn) {
    let size = unsafe Glibc.read(connection.client.descriptor, &turn.buffer, turn.buffer.count)
    if size < 0, errno == EAGAIN || errno == EINTR { return }
    guard size > 0 else {
      // A client may say that it will ask nothing more and still wait for its answers.
      if size < 0 || !connection.client.finishAsking() {
        end(connection, &turn)
      } else {
        setInterest(connection, connection.interest.subtracting(.reading), turn)
      }
      return
    }
    connection.splitter.append(turn.buffer[..<size])
    takeLines(connection, &turn)
  }

  private func takeLines(_ connection: Connection, _ turn: inout Turn) {
    let client = connection.client
    while true {
      if let held = connection.held {
        guard give(held, to: client) else { break }
        connection.held = nil
      }
      switch connection.splitter.next() {
      case nil:
        setInterest(connection, connection.interest.union(.reading), turn)
        return
      case .tooLong?:
        counters.count(.droppedLongLine)
        let error = ControlError(.tooLong, "the line is too long", limit: ControlAPILimits.bytesOfRequest)
        refuse(connection, error, &turn)
        return
      case .line(let line)?:
        do throws(ControlFault) {
          connection.held = .request(try ControlRequest.decode(line))
        } catch {
          counters.count(.badLine)
          connection.badLines += 1
          guard connection.badLines <= ControlServerLimits.badLines else {
            counters.count(.droppedBadInput)
            refuse(connection, error.error, &turn)
            return
          }
          connection.held = .fault(error)
        }
      }
    }
    setInterest(connection, connection.interest.subtracting(.reading), turn)
  }

  /// False when the client's task must catch up first; it will then call `resume`.
  private func give(_ input: ConnectedClient.Input, to client: ConnectedClient) -> Bool {
    if client.inputs.offer(input) == .accepted { return true }
    client.isPaused.store(true, ordering: .sequentiallyConsistent)
    // The task may have caught up just before the flag stood.
    guard client.inputs.offer(input) == .accepted else { return false }
    client.isPaused.store(false, ordering: .sequentiallyConsistent)
    return true
  }

  private func refuse(_ connection: Connection, _ error: ControlError, _ turn: inout Turn) {
    _ = connection.client.output.withLock { $0.append(answer: ControlResponse.encode(error, to: nil)) }
    flush(connection, &turn)
    end(connection, &turn)
  }

  private func flush(_ connection: Connection, _ turn: inout Turn) {
    let client = connection.client
    while true {
      let bytes = client.output.withLock { output in
        output.next { count in
          ControlResponse.encode(ControlEvent(time: self.now(), body: .lagged(LaggedEvent(count: count))))
        }
      }
      guard !bytes.isEmpty else {
        setInterest(connection, connection.interest.subtracting(.writing), turn)
        return
      }
      let size = unsafe bytes.withUnsafeBufferPointer { buffer in
        unsafe send(client.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
      }
      if size < 0, errno == EINTR { continue }
      if size < 0, errno == EAGAIN {
        setInterest(connection, connection.interest.union(.writing), turn)
        return
      }
      guard size >= 0 else {
        end(connection, &turn)
        return
      }
      client.output.withLock { $0.wrote(size) }
    }
  }

  private func end(_ connection: Connection, _ turn: inout Turn) {
    guard turn.connections.removeValue(forKey: connection.client.caller.number) != nil else { return }
    counters.count(.closed)
    connection.client.isGone.store(true, ordering: .releasing)
    connection.client.inputs.finish()
    Glibc.close(connection.client.descriptor)
  }

  private func setInterest(_ connection: Connection, _ interest: Poller.Interest, _ turn: borrowing Turn) {
    guard connection.interest != interest else { return }
    connection.interest = interest
    turn.poller.change(connection.client.descriptor, token: connection.client.caller.number, interest)
  }
}

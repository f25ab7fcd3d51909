internal import CDBus
package import Streams

/// An answer to a call.
package struct DBusReply: Sendable {
  package var arguments: [DBusValue]
  /// Its place among everything that came over the connection: what is said before a snapshot is part of it.
  package var order: UInt64
}

/// What came without being asked for, in the order of the wire.
package enum DBusEvent: Sendable {
  case signal(DBusMessage, order: UInt64)
  /// A call to an exported method that is forwarded; it has been answered.
  case call(DBusMessage, order: UInt64)
  /// So many were dropped because nobody read them: what was kept in mind of them has to be asked for anew.
  case missed(Int)
}

/// One private connection to a message bus.
///
/// It owns no name and reads in the pop model: nothing in libdbus calls back. Every call from others is answered, those
/// to objects that do not exist too. Contract: `run` returns when the bus is gone or its task is cancelled; then every
/// call has ended with `disconnected`, `events` is finished, and the connection is of no further use: open another.
package actor DBusConnection {
  package enum Bus: Sendable, Hashable {
    /// Where `DBUS_SYSTEM_BUS_ADDRESS` says, or the standard place.
    case system
    case address(String)
  }

  package nonisolated let uniqueName: String
  package nonisolated let events = Channel<DBusEvent>(capacity: DBusKitLimits.waitingSignals)

  private struct Pending {
    var message: PendingMessage
    var continuation: CheckedContinuation<Result<DBusReply, DBusError>, Never>?
  }

  private let wire: BusWire
  private let time: TimeSource
  private let alarm: Alarm
  private let watch: DescriptorWatch
  private nonisolated let cancellations = Channel<CallTable.Token>(capacity: DBusKitLimits.waitingCalls)
  private var calls = CallTable()
  private var pending: [CallTable.Token: Pending] = [:]
  private var tree: ObjectTree
  private var order: UInt64 = 0
  private var missed = 0
  private var isEnded = false

  /// Connects and says hello to the bus, on a thread of its own: both may take as long as the bus does.
  package static func open(_ bus: Bus, time: TimeSource) async throws(DBusError) -> DBusConnection {
    try await DBusConnection(wire: BusWire.open(bus), time: time)
  }

  private init(wire: BusWire, time: TimeSource) throws(DBusError) {
    guard let watch = DescriptorWatch(duplicating: wire.descriptor) else {
      throw .unreachable(reason: "no descriptor is left")
    }
    self.wire = wire
    self.time = time
    self.watch = watch
    uniqueName = wire.uniqueName
    alarm = Alarm(time: time)
    tree = ObjectTree(machineID: wire.machineID)
  }

  /// - Parameter lastWords: asked when the task is cancelled, and sent before the connection is closed.
  package func run(lastWords: @Sendable () -> [DBusMessage] = { [] }) async {
    watch.start()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [alarm] in await alarm.run { await self.tick() } }
      group.addTask { [cancellations] in for await token in cancellations { await self.end(token, .cancelled) } }
      pump()
      while !isEnded, await watch.ready.next() != nil { pump() }
      group.cancelAll()
    }
    if !isEnded {
      for message in lastWords() { try? send(message) }
      wire.flush()
    }
    end()
  }

  // MARK: Calls

  /// Calls a method and waits for the answer.
  package func call(
    _ message: DBusMessage, timeout: Duration = DBusKitLimits.timeout
  ) async throws(DBusError) -> DBusReply {
    guard !isEnded else { throw .disconnected }
    var message = message
    message.isReplyExpected = true
    let made = try PendingMessage(message)
    let deadline = time.now().advanced(by: timeout)
    guard let token = calls.begin(deadline: deadline) else { throw .queueFull }
    alarm.set(deadline)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        pending[token] = Pending(message: made, continuation: continuation)
        if Task.isCancelled { end(token, .cancelled) } else { advance() }
      }
    } onCancel: {
      cancellations.offer(token)
    }
    return try result.get()
  }

  /// Sends a signal, or a call that nobody waits for.
  package func send(_ message: DBusMessage) throws(DBusError) {
    guard !isEnded else { throw .disconnected }
    guard wire.queuedBytes < DBusKitLimits.queuedBytes else { throw .queueFull }
    var message = message
    message.isReplyExpected = false
    _ = wire.send(try PendingMessage(message))
    rearm()
  }

  /// Sends signals, or calls that nobody waits for, in order. One that cannot be written is left out.
  ///
  /// - Returns: how many are done with; the others found the queue full.
  package func send(_ messages: ArraySlice<DBusMessage>) -> Int {
    var done = 0
    for message in messages {
      do throws(DBusError) {
        try send(message)
      } catch {
        if error == .queueFull { break }
      }
      done += 1
    }
    return done
  }

  /// Bytes that wait for the bus to take them.
  package var queuedBytes: Int { wire.queuedBytes }

  /// Calls with the bus now, calls that wait, exported objects: for the counting of leaks.
  package var load: (outstanding: Int, waiting: Int, objects: Int) {
    (calls.outstanding, calls.waitingCount, tree.count)
  }

  /// Asks the bus for the signals that match a rule (D-Bus specification, "Match Rules").
  package func addMatch(_ rule: String) async throws(DBusError) {
    _ = try await call(.call(Self.bus, "/org/freedesktop/DBus", Self.bus, "AddMatch", [.string(rule)]))
  }

  private static let bus = "org.freedesktop.DBus"

  /// Owns a name on the bus, for services. - Returns: whether it is ours now.
  package func requestName(_ name: String) async throws(DBusError) -> Bool {
    // 4: do not queue.
    let reply = try await call(
      .call(Self.bus, "/org/freedesktop/DBus", Self.bus, "RequestName", [.string(name), .uint32(4)]))
    return reply.arguments.first?.asInt == 1
  }

  private func advance() {
    while wire.queuedBytes < DBusKitLimits.queuedBytes, let token = calls.next() {
      guard let message = pending[token]?.message else {
        calls.end(token)
        continue
      }
      calls.sent(token, serial: wire.send(message))
    }
    rearm()
  }

  private func end(_ token: CallTable.Token, _ error: DBusError) {
    calls.end(token)
    pending.removeValue(forKey: token)?.continuation?.resume(returning: .failure(error))
    advance()
  }

  private func tick() {
    for token in calls.expire(now: time.now()) {
      pending.removeValue(forKey: token)?.continuation?.resume(returning: .failure(.timedOut))
    }
    alarm.set(calls.deadline)
    advance()
  }

  // MARK: Objects

  /// Makes an object callable, or replaces the one at its path. - Returns: false when there are too many.
  @discardableResult
  package func export(_ object: DBusObject) -> Bool { tree.insert(object) }

  /// The exported object at a path.
  package func object(_ path: String) -> DBusObject? { tree[path] }

  package func withdraw(_ path: String) { _ = tree.remove(path) }

  // MARK: Reading

  private func pump() {
    if !wire.readAndWrite() { isEnded = true }
    while let message = wire.pop() {
      order &+= 1
      receive(message)
    }
    advance()
  }

  private func receive(_ message: DBusMessage) {
    switch message.kind {
    case .reply, .error:
      guard let token = calls.answered(message.replySerial), let call = pending.removeValue(forKey: token) else {
        return
      }
      if message.kind == .reply {
        call.continuation?.resume(returning: .success(DBusReply(arguments: message.arguments, order: order)))
      } else {
        call.continuation?.resume(
          returning: .failure(
            .remote(name: message.errorName ?? DBusErrorName.failed, message: message.argument(0)?.asString ?? "")))
      }
    case .signal:
      if message.interface == "org.freedesktop.DBus.Local", message.member == "Disconnected" {
        isEnded = true
        return
      }
      tell(.signal(message, order: order))
    case .call: answer(message)
    }
  }

  private func answer(_ call: DBusMessage) {
    let answer = tree.answer(call)
    if tree.isForwarded(call) { tell(.call(call, order: order)) }
    self.answer(call, answer)
  }

  /// Answers a call whose method has said `later`. A call that expects no answer gets none.
  package func answer(_ call: DBusMessage, _ answer: DBusAnswer) {
    guard call.isReplyExpected, let sender = call.sender else { return }
    var reply = DBusMessage(kind: .reply, destination: sender, replySerial: call.serial)
    switch answer {
    case .later: return
    case .values(let values): reply.arguments = values
    case .error(let name, let message):
      reply.kind = .error
      reply.errorName = name
      reply.arguments = [.string(message)]
    }
    // An answer that cannot be written is a fault of ours that the caller should not wait for.
    if !isEnded, let made = try? PendingMessage(reply) {
      _ = wire.send(made)
      rearm()
    }
  }

  private func tell(_ event: DBusEvent) {
    if missed > 0 {
      guard events.offer(.missed(missed)) == .accepted else {
        missed += 1
        return
      }
      missed = 0
    }
    if events.offer(event) == .full { missed += 1 }
  }

  private func rearm() {
    guard !isEnded else {
      watch.finish()
      return
    }
    watch.arm(isWriting: wire.hasMessagesToSend)
  }

  private func end() {
    isEnded = true
    watch.finish()
    wire.close()
    events.finish()
    for token in calls.endAll() {
      pending.removeValue(forKey: token)?.continuation?.resume(returning: .failure(.disconnected))
    }
  }
}

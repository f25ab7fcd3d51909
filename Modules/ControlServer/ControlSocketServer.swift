package import ControlAPI
import Lifecycle
import Streams
import Synchronization
package import Telemetry

/// What the server counts.
package enum ControlCounter: String, CounterReason {
  case accepted, closed, refusedCredentials, refusedFull, refusedDescriptors
  case badLine, droppedBadInput, droppedLongLine, droppedOutput
  case calls, failures, eventsLagged
}

/// Serves `ControlService` on a Unix socket.
///
/// `init` makes the socket, so that an error is known before anything else starts and clients can connect at once;
/// `run` serves until its task is cancelled, then writes what it can, closes every connection and removes the socket.
package final class ControlSocketServer: Service {
  private let service: any ControlService
  private let events: ControlEvents
  private let loop: ControlLoop
  private let counters: CounterSet<ControlCounter>
  private let clients = Protected<[UInt64: ConnectedClient]>([:])

  /// - Parameters:
  ///   - group: the name of a group whose members may connect; nil for the owner alone.
  ///   - groupPermission: what those members may do.
  ///   - now: milliseconds since 1970.
  package init(
    path: String, group: String? = nil, groupPermission: ControlPermission = .send, service: any ControlService,
    events: ControlEvents, counters: CounterSet<ControlCounter>, now: @escaping @Sendable () -> Int64
  ) throws(ControlSocketError) {
    self.service = service
    self.events = events
    self.counters = counters
    let socket = try ControlSocket.listen(path: path, group: group)
    loop = try ControlLoop(socket: socket, groupPermission: groupPermission, counters: counters, now: now)
  }

  package func run() async throws {
    loop.start()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.passOnEvents() }
      await withTaskCancellationHandler {
        await withDiscardingTaskGroup { sessions in
          for await client in loop.accepted {
            clients.withLock { $0[client.caller.number] = client }
            sessions.addTask { await self.serve(client) }
          }
          sessions.cancelAll()
        }
      } onCancel: {
        loop.stop()
      }
      group.cancelAll()
    }
    loop.stop()
    await loop.waitForEnd()
  }

  /// Encodes each event once, for all who want it.
  private func passOnEvents() async {
    for await event in events.waiting {
      let missed = events.takeMissed()
      let subscribers = clients.withLock { $0.values.filter { $0.kinds.withLock { !$0.isEmpty } } }
      if missed > 0 { for client in subscribers { client.output.withLock { $0.miss(missed) } } }
      let interested = subscribers.filter { $0.kinds.withLock { $0.contains(event.kind) } }
      guard !interested.isEmpty, let line = ControlResponse.encode(event) else { continue }
      for client in interested {
        let lagged = client.output.withLock { $0.append(event: line) }
        if lagged > 0 { counters.count(.eventsLagged, by: lagged) }
        loop.write(to: client)
      }
    }
  }

  /// Ends when the connection has.
  private func serve(_ client: ConnectedClient) async {
    await withDiscardingTaskGroup { group in
      var session = ClientSession()
      for await input in client.inputs {
        loop.resume(client)
        switch input {
        case .fault(let fault): answer(client, ControlResponse.encode(fault.error, to: fault.id))
        case .request(let request):
          counters.count(.calls)
          do throws(ControlError) {
            try session.admit(request.call, permission: client.caller.permission)
          } catch {
            counters.count(.failures)
            answer(client, ControlResponse.encode(error, to: request.id))
            continue
          }
          guard case .ping = request.call else {
            await perform(request, for: client)
            continue
          }
          guard session.startLong() else {
            answer(client, ControlResponse.encode(ControlError(.notReady, "too many pings at once"), to: request.id))
            continue
          }
          let running = session.running
          group.addTask {
            await self.perform(request, for: client)
            running.withLock { $0 -= 1 }
          }
        }
      }
      if client.isGone.load(ordering: .acquiring) { group.cancelAll() }
    }
    loop.close(client)
    clients.withLock { $0[client.caller.number] = nil }
    updateWanted()
  }

  private func perform(_ request: ControlRequest, for client: ConnectedClient) async {
    var isSubscribing = false
    if case .subscribe(let parameters) = request.call {
      isSubscribing = true
      client.output.withLock { output in
        output.clearEvents()
        output.isHoldingEvents = true
      }
      client.kinds.withLock { $0 = parameters.eventKinds }
      updateWanted()
    }
    do throws(ControlError) {
      var result = try await service.handle(request.call, from: client.caller)
      if case .hello(var hello) = result {
        hello.permissions = client.caller.permission.included
        result = .hello(hello)
      }
      answer(client, ControlResponse.encode(result, to: request.id), releasesEvents: isSubscribing)
    } catch {
      counters.count(.failures)
      if isSubscribing {
        client.kinds.withLock { $0 = [] }
        updateWanted()
      }
      answer(client, ControlResponse.encode(error, to: request.id), releasesEvents: isSubscribing)
    }
  }

  /// Events that were held for the answer follow it.
  private func answer(_ client: ConnectedClient, _ line: [UInt8], releasesEvents: Bool = false) {
    let hasRoom = client.output.withLock { output in
      if releasesEvents { output.isHoldingEvents = false }
      return output.append(answer: line)
    }
    if hasRoom {
      loop.write(to: client)
    } else {
      counters.count(.droppedOutput)
      loop.close(client)
    }
  }

  private func updateWanted() {
    let kinds = clients.withLock { clients in
      clients.values.reduce(into: Set<ControlEventKind>()) { $0.formUnion($1.kinds.withLock { $0 }) }
    }
    events.setWanted(kinds)
  }
}

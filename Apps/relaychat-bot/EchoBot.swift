import Arguments
import BotKit
import ControlAPI
import ControlClient
import Lifecycle
import Programs

/// Runs `EchoPolicy` on a connection, and connects again when it is lost.
struct EchoBot {
  private let context: ProgramContext

  init(_ context: ProgramContext) { self.context = context }

  /// Returns when the task is cancelled. The first connection must succeed, so that a wrong path is told at once.
  func run() async throws(ProgramFailure) {
    var client = try await context.connect()
    var backoff = Backoff()
    var generator = SystemRandomNumberGenerator()
    while true {
      do throws(ControlClientError) {
        try await serve(client) { backoff.reset() }
      } catch {
        switch error {
        case .connectionLost, .timeout: client.close()
        default: throw ProgramFailure(error)
        }
      }
      if !Task.isCancelled { Output.note("The daemon has gone; waiting for it.") }
      repeat {
        if Task.isCancelled { return }
        let delay = backoff.next(using: &generator)
        guard (try? await context.clock.sleep(for: delay)) != nil else { return }
        guard let again = try? await context.connect() else { continue }
        client = again
        break
      } while true
    }
  }

  /// Returns when the connection has ended.
  private func serve(_ client: NodeClient, _ ready: () -> Void) async throws(ControlClientError) {
    _ = try await client.subscribe(to: [.message])
    ready()
    var policy = EchoPolicy(id: client.hello.peerID, name: client.hello.name)
    Output.note("Echoing as \(PeerText.name(PeerReference(id: client.hello.peerID, name: client.hello.name))).")
    for await event in client.events {
      guard case .message(let message) = event.body else { continue }
      switch policy.receive(message, at: SystemTime.sinceBoot()) {
      case .ignore(let reason):
        if reason != .own { Output.note("Ignored \(message.messageID.prefix(8)): \(reason.rawValue).") }
      case .answer(let recipient, let text):
        do throws(ControlClientError) {
          let answer = try await client.send(text, to: recipient, isBot: true, isEcho: true)
          Output.line("\(message.messageID) answered with \(answer.messageID)")
        } catch {
          guard case .refused = error else { throw error }
          Output.note("No answer to \(message.messageID.prefix(8)): \(ProgramFailure(error).sentence)")
        }
      }
      if let cursor = event.cursor { try await client.acknowledge(cursor: cursor) }
    }
  }
}

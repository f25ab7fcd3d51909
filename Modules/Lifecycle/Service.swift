/// A part of the program that runs for as long as it has work.
///
/// The contract:
/// - `run` is called once and stays until the service is done. To return means *I have finished*; to throw means
///   *I cannot do my job at all*. An error about one peer, link or client is an event and a counter, never a throw.
/// - When the task is cancelled, `run` returns or throws soon; everything it has started has ended by then.
/// - A graceful stop is not a cancellation: a service that has something to finish watches the `Stop` it was given.
/// - `run` may be called again after it threw, when a `Supervisor` runs it.
package protocol Service: Sendable {
  func run() async throws
}

/// A service made of a closure.
package struct ClosureService: Service {
  private let body: @Sendable () async throws -> Void

  package init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }
  package func run() async throws { try await body() }
}

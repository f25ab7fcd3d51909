internal import Streams
internal import Transports

/// How far each dial under way has come, told by transports from whatever thread they run on.
final class DialSteps: Sendable {
  private let steps = Protected<[DialPlan.Key: DialStep]>([:])

  subscript(key: DialPlan.Key) -> DialStep? { steps.withLock { $0[key] } }

  func reached(_ step: DialStep?, by key: DialPlan.Key) { steps.withLock { $0[key] = step } }
}

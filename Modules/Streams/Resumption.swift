/// A suspended task that is resumed exactly once.
///
/// Wraps the unchecked continuation, because the checked one costs as much as a whole stream element. That each is
/// resumed once follows from how this module stores them: whoever takes one out of the locked state resumes it.
@safe
@usableFromInline
struct Resumption<Value: Sendable>: Sendable {
  @usableFromInline let continuation: UnsafeContinuation<Value, Never>

  @inlinable
  init(_ continuation: UnsafeContinuation<Value, Never>) { unsafe self.continuation = continuation }

  @inlinable
  func resume(_ value: Value) { unsafe continuation.resume(returning: value) }
}

/// Suspends the task and hands its resumption to `body`.
@inlinable
func suspend<Value: Sendable>(
  isolation: isolated (any Actor)? = #isolation, _ body: (Resumption<Value>) -> Void
) async -> Value {
  await unsafe withUnsafeContinuation { continuation in unsafe body(Resumption(continuation)) }
}

/// A value that changes, of which only the newest matters.
///
/// Every subscriber gets the value at the time it subscribes and then the newest one whenever it asks and something
/// has changed since; values in between are skipped. Any number of subscribers, each with its own iterator.
public final class Latest<Value: Sendable>: Sendable {
  private struct Waiter: Sendable {
    var number: UInt64
    var continuation: Resumption<Bool>
  }

  private struct State: Sendable {
    var value: Value
    var version: UInt64 = 1
    var waiters: [Waiter] = []
    var waiterNumber: UInt64 = 0
    var isFinished = false
  }

  private let state: Protected<State>

  public init(_ value: Value) { state = Protected(State(value: value)) }

  /// The newest value.
  public var value: Value { state.withLock { $0.value } }

  /// Replaces the value and wakes every subscriber.
  public func set(_ value: Value) { update { $0 = value } }

  /// Changes the value in place and wakes every subscriber.
  public func update(_ change: (inout Value) -> Void) {
    let waiters = state.withLock { state -> [Waiter] in
      guard !state.isFinished else { return [] }
      change(&state.value)
      state.version &+= 1
      let waiters = state.waiters
      state.waiters = []
      return waiters
    }
    for waiter in waiters { waiter.continuation.resume(true) }
  }

  /// Ends every subscription after the value that is newest now.
  public func finish() {
    let waiters = state.withLock { state -> [Waiter] in
      state.isFinished = true
      let waiters = state.waiters
      state.waiters = []
      return waiters
    }
    for waiter in waiters { waiter.continuation.resume(false) }
  }

  fileprivate func newest(after version: UInt64, isolation: isolated (any Actor)? = #isolation) async -> (
    Value, UInt64
  )? {
    while !Task.isCancelled {
      let (value, current, isOver) = state.withLock { ($0.value, $0.version, $0.isFinished) }
      if current != version { return (value, current) }
      if isOver { return nil }
      await change(after: version)
    }
    return nil
  }

  private func change(after version: UInt64, isolation: isolated (any Actor)? = #isolation) async {
    let number = state.withLock { state in
      state.waiterNumber &+= 1
      return state.waiterNumber
    }
    _ = await withTaskCancellationHandler {
      await suspend { (continuation: Resumption<Bool>) in
        let isDecided = state.withLock { state -> Bool in
          if state.version != version || state.isFinished || Task.isCancelled { return true }
          state.waiters.append(Waiter(number: number, continuation: continuation))
          return false
        }
        if isDecided { continuation.resume(true) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> Waiter? in
        guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
        return state.waiters.remove(at: index)
      }
      if let waiter { waiter.continuation.resume(false) }
    }
  }
}

extension Latest: AsyncSequence {
  public typealias Element = Value

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let latest: Latest
    fileprivate var version: UInt64 = 0

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
      guard let (value, version) = await latest.newest(after: version, isolation: actor) else { return nil }
      self.version = version
      return value
    }

    public mutating func next() async -> Value? {
      guard let (value, version) = await latest.newest(after: version) else { return nil }
      self.version = version
      return value
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(latest: self) }
}

/// What a subscriber of a `Broadcast` receives.
public enum BroadcastElement<Element: Sendable>: Sendable {
  case element(Element)
  /// This many elements were dropped here because the subscriber read too slowly.
  case lagged(UInt64)
}

extension BroadcastElement: Equatable where Element: Equatable {}

/// One stream to many subscribers, of whom none can hold up the sender or another subscriber.
///
/// Each subscriber has a ring of its own; when it is full the oldest element goes and the subscriber is told how many
/// it missed, at the place where they are missing. The number of subscribers is bounded: one more is refused.
public final class Broadcast<Element: Sendable>: Sendable {
  private struct State: Sendable {
    var subscriptions: [UInt64: Subscription] = [:]
    var number: UInt64 = 0
    var isFinished = false
  }

  private let state = Protected(State())
  private let ringCapacity: Int
  private let subscriberLimit: Int

  /// - Parameters:
  ///   - ringCapacity: elements kept for a subscriber that is not reading.
  ///   - subscriberLimit: subscribers at a time.
  public init(ringCapacity: Int, subscriberLimit: Int) {
    self.ringCapacity = ringCapacity
    self.subscriberLimit = subscriberLimit
  }

  /// Whether anybody listens: lets a sender skip the making of elements.
  public var hasSubscribers: Bool { state.withLock { !$0.subscriptions.isEmpty } }

  public func send(_ element: Element) {
    let subscriptions = state.withLock { $0.subscriptions }
    for subscription in subscriptions.values { subscription.push(element) }
  }

  /// - Returns: nil when `subscriberLimit` subscribers are there already or the broadcast is finished.
  public func subscribe() -> Subscription? {
    state.withLock { state in
      guard !state.isFinished, state.subscriptions.count < subscriberLimit else { return nil }
      state.number &+= 1
      let subscription = Subscription(number: state.number, capacity: ringCapacity, broadcast: self)
      state.subscriptions[state.number] = subscription
      return subscription
    }
  }

  public func finish() {
    let subscriptions = state.withLock { state in
      state.isFinished = true
      let subscriptions = state.subscriptions
      state.subscriptions = [:]
      return subscriptions
    }
    for subscription in subscriptions.values { subscription.end() }
  }

  fileprivate func remove(_ number: UInt64) {
    state.withLock { _ = $0.subscriptions.removeValue(forKey: number) }
  }

  /// One subscriber's place. Ends when cancelled with `cancel()`, or with the broadcast.
  public final class Subscription: AsyncSequence, Sendable {
    private struct Waiting: Sendable {
      var elements = Ring<Element>()
      var missed: UInt64 = 0
    }

    private let number: UInt64
    private let capacity: Int
    private let broadcast: Broadcast
    private let waiting = Protected(Waiting())
    private let wake = Channel<Void>(capacity: 1)

    fileprivate init(number: UInt64, capacity: Int, broadcast: Broadcast) {
      self.number = number
      self.capacity = capacity
      self.broadcast = broadcast
    }

    /// Gives the place back; iteration ends after what waits.
    public func cancel() {
      broadcast.remove(number)
      end()
    }

    fileprivate func end() { wake.finish() }

    fileprivate func push(_ element: Element) {
      waiting.withLock { waiting in
        if waiting.elements.count >= capacity {
          _ = waiting.elements.popFirst()
          waiting.missed &+= 1
        }
        waiting.elements.append(element)
      }
      wake.offer(())
    }

    /// What waits, without waiting for more.
    public func poll() -> BroadcastElement<Element>? {
      waiting.withLock { waiting in
        if waiting.missed > 0 {
          defer { waiting.missed = 0 }
          return .lagged(waiting.missed)
        }
        return waiting.elements.popFirst().map { .element($0) }
      }
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let subscription: Subscription

      public mutating func next(isolation actor: isolated (any Actor)?) async -> BroadcastElement<Element>? {
        while true {
          if let element = subscription.poll() { return element }
          guard await subscription.wake.next(isolation: actor) != nil else { return subscription.poll() }
        }
      }

      public mutating func next() async -> BroadcastElement<Element>? {
        while true {
          if let element = subscription.poll() { return element }
          guard await subscription.wake.next() != nil else { return subscription.poll() }
        }
      }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: self) }
  }
}

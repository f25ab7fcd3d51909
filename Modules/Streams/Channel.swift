/// What became of an element that was offered without waiting.
public enum Offer: Sendable, Equatable {
  /// It is in the channel and the consumer will see it.
  case accepted
  /// The channel is full: the element was not taken. Whoever offered it counts the drop.
  case full
  /// The channel is finished: nothing is taken any more.
  case finished
}

/// A bounded, ordered stream from many producers to one consumer.
///
/// * `offer` never waits and tells when there is no room; `send` waits for room. Both keep the order in which they
///   were called on one thread.
/// * One consumer at a time iterates. Elements already inside are still delivered after `finish`, then iteration ends.
/// * A cancelled consumer gets `nil`; a cancelled `send` gets `false` and its element was not taken.
///
/// The reason for it to exist: an element costs some tens of nanoseconds and stays on the consumer's actor, where
/// `AsyncStream` costs about a microsecond, has no back-pressure and hops threads.
public final class Channel<Element: Sendable>: Sendable {
  @usableFromInline
  struct WaitingProducer: Sendable {
    @usableFromInline var number: UInt64
    @usableFromInline var element: Element
    @usableFromInline var continuation: Resumption<Bool>

    @usableFromInline
    init(number: UInt64, element: Element, continuation: Resumption<Bool>) {
      self.number = number
      self.element = element
      self.continuation = continuation
    }
  }

  @usableFromInline
  struct State: Sendable {
    @usableFromInline var elements = Ring<Element>()
    @usableFromInline var consumer: Resumption<Element?>?
    @usableFromInline var producers = Ring<WaitingProducer>()
    @usableFromInline var producerNumber: UInt64 = 0
    @usableFromInline var isFinished = false

    @usableFromInline init() {}
  }

  /// The largest number of elements that wait for the consumer.
  public let capacity: Int
  @usableFromInline let state: Protected<State>

  /// - Parameter capacity: at least one element.
  public init(capacity: Int) {
    precondition(capacity > 0, "a channel needs room for one element")
    self.capacity = capacity
    state = Protected(State())
  }

  /// Puts `element` in if there is room, at once.
  ///
  /// - Parameter reserve: places that this element may not take, for elements that matter more.
  @inlinable
  @discardableResult
  public func offer(_ element: Element, leaving reserve: Int = 0) -> Offer {
    let (answer, consumer) = state.withLock { state -> (Offer, Resumption<Element?>?) in
      if state.isFinished { return (.finished, nil) }
      if let consumer = state.consumer.take() { return (.accepted, consumer) }
      if state.elements.count >= capacity &- reserve { return (.full, nil) }
      state.elements.append(element)
      return (.accepted, nil)
    }
    if let consumer = consumer { consumer.resume(element) }
    return answer
  }

  /// Puts `element` in, waiting for room as long as it takes.
  ///
  /// - Returns: false when the channel is finished or the task is cancelled; the element was then not taken.
  @inlinable
  public func send(_ element: Element, isolation: isolated (any Actor)? = #isolation) async -> Bool {
    switch offer(element) {
    case .accepted: true
    case .finished: false
    case .full: await sendWaiting(element)
    }
  }

  @usableFromInline
  func sendWaiting(_ element: Element, isolation: isolated (any Actor)? = #isolation) async -> Bool {
    let number = state.withLock { state in
      state.producerNumber &+= 1
      return state.producerNumber
    }
    return await withTaskCancellationHandler {
      await suspend { (continuation: Resumption<Bool>) in
        enqueue(WaitingProducer(number: number, element: element, continuation: continuation))
      }
    } onCancel: {
      withdraw(number)
    }
  }

  private func enqueue(_ producer: WaitingProducer) {
    let (answer, consumer) = state.withLock { state -> (Bool?, Resumption<Element?>?) in
      if state.isFinished || Task.isCancelled { return (false, nil) }
      if let consumer = state.consumer.take() { return (true, consumer) }
      if state.elements.count < capacity {
        state.elements.append(producer.element)
        return (true, nil)
      }
      state.producers.append(producer)
      return (nil, nil)
    }
    if let consumer = consumer { consumer.resume(producer.element) }
    if let answer { producer.continuation.resume(answer) }
  }

  private func withdraw(_ number: UInt64) {
    let continuation = state.withLock { state -> Resumption<Bool>? in
      var found: Resumption<Bool>?
      state.producers.removeAll { producer in
        guard producer.number == number else { return false }
        found = producer.continuation
        return true
      }
      return found
    }
    if let continuation = continuation { continuation.resume(false) }
  }

  /// Ends the stream after what is already inside. Later calls do nothing.
  public func finish() {
    let (consumer, producers) = state.withLock { state -> (Resumption<Element?>?, Ring<WaitingProducer>) in
      state.isFinished = true
      let waiting = state.producers
      state.producers = Ring()
      return (state.consumer.take(), waiting)
    }
    if let consumer = consumer { consumer.resume(nil) }
    var remaining = producers
    while let producer = remaining.popFirst() { producer.continuation.resume(false) }
  }

  /// Elements that wait for the consumer now.
  public var count: Int { state.withLock { $0.elements.count } }

  /// Whether `finish` was called.
  public var isFinished: Bool { state.withLock { $0.isFinished } }

  /// The next element without waiting, or nil when none is inside.
  @inlinable
  public func poll() -> Element? { take().element }

  @inlinable
  func take() -> (element: Element?, isOver: Bool) {
    let (element, isOver, producer) = state.withLock { state -> (Element?, Bool, WaitingProducer?) in
      guard let element = state.elements.popFirst() else { return (nil, state.isFinished, nil) }
      let producer = state.producers.popFirst()
      if let producer { state.elements.append(producer.element) }
      return (element, false, producer)
    }
    if let producer { producer.continuation.resume(true) }
    return (element, isOver)
  }

  /// The next element; nil when the stream has ended or the task is cancelled.
  @inlinable
  public func next(isolation: isolated (any Actor)? = #isolation) async -> Element? {
    let (element, isOver) = take()
    if let element { return element }
    return isOver ? nil : await wait()
  }

  @usableFromInline
  func wait(isolation: isolated (any Actor)? = #isolation) async -> Element? {
    await withTaskCancellationHandler {
      await suspend { (continuation: Resumption<Element?>) in park(continuation) }
    } onCancel: {
      let consumer = state.withLock { state in state.consumer.take() }
      if let consumer = consumer { consumer.resume(nil) }
    }
  }

  private func park(_ continuation: Resumption<Element?>) {
    let (element, isDecided) = state.withLock { state -> (Element?, Bool) in
      if let element = state.elements.popFirst() { return (element, true) }
      if state.isFinished || Task.isCancelled { return (nil, true) }
      precondition(state.consumer == nil, "a channel has one consumer")
      state.consumer = continuation
      return (nil, false)
    }
    if isDecided { continuation.resume(element) }
  }
}

extension Channel: AsyncSequence {
  public struct AsyncIterator: AsyncIteratorProtocol {
    @usableFromInline let channel: Channel

    @inlinable
    init(_ channel: Channel) { self.channel = channel }

    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await channel.next(isolation: actor)
    }

    @inlinable
    public mutating func next() async -> Element? { await channel.next() }
  }

  @inlinable
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

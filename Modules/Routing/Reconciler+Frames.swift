package import Streams
package import WireFormat

/// What a neighbour says, and what is said to it.
extension Reconciler {
  /// - Parameter isKnown: whether a packet that is not kept is known all the same, because it came and went.
  package mutating func receive(
    _ frame: ReconciliationFrame, from slot: Int, _ set: PacketSet, now: MonotonicTime,
    isKnown: (UInt64) -> Bool, into actions: inout [Action]
  ) {
    guard neighbours[slot] != nil else { return }
    defer { setDeadline() }
    switch frame {
    case .comparison(let windows):
      // Where both have begun at once, each goes on.
      if !neighbours[slot]!.isLeading, neighbours[slot]!.told == nil, session?.slot != slot {
        neighbours[slot]!.nextAt = now.advanced(by: RoutingLimits.lastComparison * 2)
      }
      actions.append(.send(.difference(Self.difference(windows, set)), slot: slot))
    case .difference(let bits): differs(bits, slot, set, now: now, into: &actions)
    case .symbolRequest(let request): answer(request, slot, set, now: now, into: &actions)
    case .symbols(let number, let first, let symbols):
      take(symbols, first: Int(first), number: number, slot, set, now: now, isKnown: isKnown, into: &actions)
    case .wanted(let keys): actions.append(.push(keys, slot: slot, isAsked: true))
    }
  }

  private static func difference(_ windows: [ReconciliationFrame.Window], _ set: PacketSet) -> UInt8 {
    var bits: UInt8 = 0
    var end = UInt32.max
    for (index, window) in windows.enumerated() {
      if set.window(from: window.start, to: end) != window { bits |= 1 << UInt8(index) }
      end = window.start
    }
    return bits
  }

  private mutating func differs(
    _ bits: UInt8, _ slot: Int, _ set: PacketSet, now: MonotonicTime, into actions: inout [Action]
  ) {
    guard let told = neighbours[slot]?.told else { return }
    neighbours[slot]!.told = nil
    var windows: [(start: UInt32, end: UInt32)] = []
    var end = UInt32.max
    for (index, window) in told.windows.enumerated() {
      if bits & 1 << UInt8(index) != 0 {
        // The newest is done first, so it comes last. Two side by side are one: many differences cost less each than few.
        if windows.first?.start == end {
          windows[0].start = window.start
        } else {
          windows.insert((window.start, end), at: 0)
        }
      }
      end = window.start
    }
    guard !windows.isEmpty else { return settle(slot, hasFound: false, now: now) }
    guard session == nil else {
      neighbours[slot]!.nextAt = now.advanced(by: RoutingLimits.comparisonAnswer)
      return
    }
    begin(slot, windows, set, hasFound: false, now: now, into: &actions)
  }

  private mutating func begin(
    _ slot: Int, _ windows: [(start: UInt32, end: UInt32)], _ set: PacketSet, hasFound: Bool, now: MonotonicTime,
    into actions: inout [Action]
  ) {
    guard let window = windows.last else {
      session = nil
      return settle(slot, hasFound: hasFound, now: now)
    }
    let (number, salt) = newSalt(now)
    let decoder = SymbolDecoder(
      set.keys(from: window.start, to: window.end), hash: KeyedHash(key0: salt, key1: UInt64(number)))
    session = Session(
      slot: slot, number: number, salt: salt, windows: windows, decoder: decoder, askAgainAt: now, hasFound: hasFound)
    ask(RoutingLimits.firstSymbols, now: now, into: &actions)
  }

  private mutating func ask(_ count: Int, now: MonotonicTime, into actions: inout [Action]) {
    guard let window = session?.windows.last else { return }
    let first = session!.decoder.taken
    session!.askedTo = first + count
    session!.askAgainAt = now.advanced(by: RoutingLimits.comparisonAnswer)
    actions.append(
      .send(
        .symbolRequest(
          ReconciliationFrame.SymbolRequest(
            number: session!.number, salt: session!.salt, start: window.start, end: window.end,
            first: UInt16(clamping: first), count: UInt8(clamping: count))), slot: session!.slot))
  }

  mutating func askAgain(now: MonotonicTime, into actions: inout [Action]) {
    guard let current = session else { return }
    session!.again += 1
    guard session!.again <= RoutingLimits.comparisonRepeats else {
      session = nil
      actions.append(.count(.comparisonsUnanswered, 1))
      return settle(current.slot, hasFound: current.hasFound, now: now)
    }
    ask(max(1, current.askedTo - current.decoder.taken), now: now, into: &actions)
  }

  private mutating func answer(
    _ request: ReconciliationFrame.SymbolRequest, _ slot: Int, _ set: PacketSet, now: MonotonicTime,
    into actions: inout [Action]
  ) {
    let last = Int(request.first) + Int(request.count)
    guard request.count > 0, request.start < request.end, last <= RoutingLimits.symbolsOfAWindow else { return }
    guard pay(Int(request.count), slot, now: now) else {
      actions.append(.count(.symbolsOverBudget, 1))
      return
    }
    if answers[slot]?.salt != request.salt || answers[slot]?.number != request.number {
      // What was told before is not known any more, so its continuation would be of another set.
      guard request.first == 0, answers.count < RoutingLimits.answersAtOnce || answers[slot] != nil else {
        actions.append(.count(.symbolsOverBudget, 1))
        return
      }
      answers[slot] = Answering(
        salt: request.salt, number: request.number,
        encoder: SymbolEncoder(
          set.keys(from: request.start, to: request.end),
          hash: KeyedHash(key0: request.salt, key1: UInt64(request.number))), until: now)
    }
    answers[slot]!.until = now.advanced(by: RoutingLimits.answerKept)
    answers[slot]!.encoder.seek(to: Int(request.first))
    while answers[slot]!.encoder.made < last {
      let first = answers[slot]!.encoder.made
      let symbols = answers[slot]!.encoder.next(min(WireLimits.symbolCount, last - first))
      actions.append(
        .send(.symbols(number: request.number, first: UInt16(first), symbols), slot: slot))
    }
  }

  /// A neighbour may ask for so many symbols a second, since each costs a walk through what is kept.
  private mutating func pay(_ count: Int, _ slot: Int, now: MonotonicTime) -> Bool {
    guard var neighbour = neighbours[slot] else { return false }
    let earned = Double(now.milliseconds(since: neighbour.allowanceAt)) / 1_000 * Double(RoutingLimits.symbolsPerSecond)
    if earned >= 1 {
      neighbour.allowance = min(RoutingLimits.symbolsAtOnce, neighbour.allowance + Int(min(earned, 1e6)))
      neighbour.allowanceAt = now
    }
    let isPaid = neighbour.allowance >= count
    if isPaid { neighbour.allowance -= count }
    neighbours[slot] = neighbour
    return isPaid
  }

  private mutating func take(
    _ symbols: [CodedSymbol], first: Int, number: UInt16, _ slot: Int, _ set: PacketSet, now: MonotonicTime,
    isKnown: (UInt64) -> Bool, into actions: inout [Action]
  ) {
    // One that was overtaken, or is not asked for any more.
    guard session?.slot == slot, session?.number == number, session?.decoder.taken == first,
      first + symbols.count <= session!.askedTo
    else { return }
    session!.decoder.take(symbols)
    session!.again = 0
    if session!.decoder.isDecoded { return found(slot, set, now: now, isKnown: isKnown, into: &actions) }
    guard session!.decoder.taken >= session!.askedTo else { return }
    let taken = session!.decoder.taken
    if session!.decoder.isNonsense || taken >= RoutingLimits.symbolsOfAWindow {
      actions.append(.count(.comparisonsUnsolved, 1))
      session!.windows.removeLast()
      begin(slot, session!.windows, set, hasFound: session!.hasFound, now: now, into: &actions)
      return
    }
    // The more there are, the more are asked for at once.
    let next = min(max(taken / 4, RoutingLimits.firstSymbols), RoutingLimits.mostSymbols)
    ask(min(next, RoutingLimits.symbolsOfAWindow - taken), now: now, into: &actions)
  }

  private mutating func found(
    _ slot: Int, _ set: PacketSet, now: MonotonicTime, isKnown: (UInt64) -> Bool, into actions: inout [Action]
  ) {
    let wanted = session!.decoder.missingHere.filter { !isKnown($0) }
    let lacked = session!.decoder.missingThere
    for start in stride(from: 0, to: wanted.count, by: WireLimits.acknowledgedKeyCount) {
      let keys = wanted[start..<min(start + WireLimits.acknowledgedKeyCount, wanted.count)]
      actions.append(.send(.wanted(Array(keys)), slot: slot))
    }
    if !lacked.isEmpty { actions.append(.push(lacked, slot: slot, isAsked: false)) }
    actions.append(.count(.packetsReconciled, UInt64(wanted.count + lacked.count)))
    session!.windows.removeLast()
    let hasFound = session!.hasFound || !wanted.isEmpty
    begin(slot, session!.windows, set, hasFound: hasFound, now: now, into: &actions)
  }
}

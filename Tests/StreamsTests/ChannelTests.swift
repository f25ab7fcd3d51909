import Streams
import TestKit
import Testing

@Suite struct ChannelTests {
  @Test func whatIsOfferedComesInOrderUntilItIsFull() async {
    let channel = Channel<Int>(capacity: 3)
    #expect((1...4).map { channel.offer($0) } == [.accepted, .accepted, .accepted, .full])
    #expect(channel.count == 3)
    #expect(await channel.next() == 1)
    #expect(channel.offer(5) == .accepted)
    channel.finish()
    #expect(channel.offer(6) == .finished)
    var rest: [Int] = []
    for await element in channel { rest.append(element) }
    #expect(rest == [2, 3, 5])
    #expect(channel.isFinished && channel.poll() == nil)
  }

  @Test func reservedPlacesAreForWhatMattersMore() {
    let channel = Channel<Int>(capacity: 4)
    #expect((1...3).map { channel.offer($0, leaving: 2) } == [.accepted, .accepted, .full])
    #expect((4...6).map { channel.offer($0) } == [.accepted, .accepted, .full])
  }

  @Test func aSenderWaitsForRoomAndKeepsItsPlace() async {
    let channel = Channel<Int>(capacity: 1)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0..<1_000 { #expect(await channel.send(number)) }
        channel.finish()
      }
      group.addTask {
        var next = 0
        for await number in channel {
          #expect(number == next)
          next += 1
        }
        #expect(next == 1_000)
      }
    }
  }

  @Test func manyProducersLoseNothingAndKeepTheirOwnOrder() async {
    let channel = Channel<(producer: Int, number: Int)>(capacity: 7)
    let producers = 8
    let each = 2_000
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await withTaskGroup(of: Void.self) { inner in
          for producer in 0..<producers {
            inner.addTask { for number in 0..<each { _ = await channel.send((producer, number)) } }
          }
        }
        channel.finish()
      }
      var next = [Int](repeating: 0, count: producers)
      for await (producer, number) in channel {
        #expect(number == next[producer])
        next[producer] += 1
      }
      #expect(next == [Int](repeating: each, count: producers))
    }
  }

  @Test func aCancelledConsumerGetsNothingAndLeavesTheChannelUsable() async {
    let channel = Channel<Int>(capacity: 2)
    let consumer = Task { await channel.next() }
    consumer.cancel()
    #expect(await consumer.value == nil)
    #expect(channel.offer(1) == .accepted)
    #expect(await channel.next() == 1)
  }

  @Test func aCancelledSenderTakesItsElementBack() async {
    let channel = Channel<Int>(capacity: 1)
    channel.offer(1)
    let sender = Task { await channel.send(2) }
    sender.cancel()
    #expect(await sender.value == false)
    #expect(await channel.next() == 1)
    #expect(channel.poll() == nil)
  }

  @Test func finishReleasesEverybodyWhoWaits() async {
    let full = Channel<Int>(capacity: 1)
    full.offer(1)
    let senders = (0..<5).map { number in Task { await full.send(number) } }
    let empty = Channel<Int>(capacity: 1)
    let consumer = Task { await empty.next() }
    full.finish()
    empty.finish()
    for sender in senders { #expect(await sender.value == false) }
    #expect(await consumer.value == nil)
    #expect(await full.next() == 1)
    #expect(await full.next() == nil)
  }

  @Test func aChannelEqualsAPlainQueueOverRandomOperations() {
    let seed: UInt64 = 11
    var random = SeededGenerator(seed: seed)
    for capacity in [1, 2, 8, 9, 63, 64, 65, 200] {
      let channel = Channel<Int>(capacity: capacity)
      var model: [Int] = []
      for step in 0..<5_000 {
        if Int.random(in: 0..<100, using: &random) < (step / 500 % 2 == 0 ? 70 : 30) {
          let isTaken = channel.offer(step) == .accepted
          #expect(isTaken == (model.count < capacity), "seed \(seed), capacity \(capacity), step \(step)")
          if isTaken { model.append(step) }
        } else {
          #expect(channel.poll() == (model.isEmpty ? nil : model.removeFirst()), "seed \(seed), step \(step)")
        }
        #expect(channel.count == model.count)
      }
    }
  }
}

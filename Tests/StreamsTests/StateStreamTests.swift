import Streams
import TestKit
import Testing

@Suite struct LatestTests {
  @Test func aSubscriberGetsTheValueAndThenTheNewestOnly() async {
    let latest = Latest(1)
    var reader = latest.makeAsyncIterator()
    #expect(await reader.next() == 1)
    latest.set(2)
    latest.set(3)
    #expect(await reader.next() == 3)
    var late = latest.makeAsyncIterator()
    #expect(await late.next() == 3)
  }

  @Test func finishEndsAfterTheNewestValue() async {
    let latest = Latest("a")
    var reader = latest.makeAsyncIterator()
    latest.set("b")
    latest.finish()
    latest.set("c")
    #expect(await reader.next() == "b")
    #expect(await reader.next() == nil)
  }

  @Test func everySubscriberReachesTheLastValue() async {
    let latest = Latest(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var last = -1
          for await value in latest {
            #expect(value > last)
            last = value
          }
          #expect(last == 10_000)
        }
      }
      group.addTask {
        for value in 1...10_000 { latest.set(value) }
        latest.finish()
      }
    }
  }

  @Test func aCancelledSubscriberEnds() async {
    let latest = Latest(0)
    let reader = Task {
      var count = 0
      for await _ in latest { count += 1 }
      return count
    }
    reader.cancel()
    #expect(await reader.value <= 1)
  }
}

@Suite struct HintsTests {
  @Test func theNewestHintOfAKeyStandsInItsFirstPlace() async {
    let hints = Hints<String, Int>(capacity: 3)
    hints.offer(1, for: "a")
    hints.offer(2, for: "b")
    hints.offer(3, for: "a")
    hints.finish()
    var read: [Int] = []
    for await value in hints { read.append(value) }
    #expect(read == [3, 2] && hints.dropped == 0)
  }

  @Test func theOldestKeyGoesWhenThereAreTooMany() async {
    let hints = Hints<Int, Int>(capacity: 3)
    for key in 0..<4 { hints.offer(key * 10, for: key) }
    #expect(hints.dropped == 1)
    hints.finish()
    var read: [Int] = []
    for await value in hints { read.append(value) }
    #expect(read == [10, 20, 30])
  }

  @Test func aReaderThatWaitsIsWoken() async {
    let hints = Hints<Int, Int>(capacity: 1)
    let reader = Task {
      var reader = hints.makeAsyncIterator()
      return await reader.next()
    }
    hints.offer(7, for: 1)
    #expect(await reader.value == 7)
  }
}

@Suite struct BroadcastTests {
  @Test func everySubscriberGetsEverything() {
    let broadcast = Broadcast<Int>(ringCapacity: 8, subscriberLimit: 2)
    #expect(!broadcast.hasSubscribers)
    let (one, other) = (broadcast.subscribe()!, broadcast.subscribe()!)
    #expect(broadcast.subscribe() == nil)
    for number in 1...3 { broadcast.send(number) }
    for subscription in [one, other] {
      #expect((0..<4).map { _ in subscription.poll() } == [.element(1), .element(2), .element(3), nil])
    }
    one.cancel()
    #expect(broadcast.subscribe() != nil)
  }

  @Test func aSlowSubscriberIsToldHowManyItMissed() {
    let broadcast = Broadcast<Int>(ringCapacity: 3, subscriberLimit: 1)
    let subscription = broadcast.subscribe()!
    for number in 1...3 { broadcast.send(number) }
    #expect(subscription.poll() == .element(1))
    for number in 4...7 { broadcast.send(number) }
    #expect(subscription.poll() == .lagged(3))
    #expect((0..<3).map { _ in subscription.poll() } == [.element(5), .element(6), .element(7)])
    #expect(subscription.poll() == nil)
  }

  @Test func finishEndsAfterWhatWaits() async {
    let broadcast = Broadcast<Int>(ringCapacity: 3, subscriberLimit: 1)
    let subscription = broadcast.subscribe()!
    broadcast.send(1)
    broadcast.finish()
    broadcast.send(2)
    #expect(broadcast.subscribe() == nil)
    var read: [BroadcastElement<Int>] = []
    for await element in subscription { read.append(element) }
    #expect(read == [.element(1)])
  }

  @Test func whatIsReadAndMissedAddsUpToWhatWasSent() async {
    let broadcast = Broadcast<Int>(ringCapacity: 16, subscriberLimit: 4)
    let subscriptions = (0..<4).map { _ in broadcast.subscribe()! }
    await withTaskGroup(of: Void.self) { group in
      for subscription in subscriptions {
        group.addTask {
          var next = 0
          for await element in subscription {
            switch element {
            case .element(let number):
              #expect(number == next)
              next = number + 1
            case .lagged(let count): next += Int(count)
            }
          }
          #expect(next == 20_000)
        }
      }
      group.addTask {
        for number in 0..<20_000 { broadcast.send(number) }
        broadcast.finish()
      }
    }
  }
}

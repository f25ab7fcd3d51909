import Glibc
import Testing

@testable import Lifecycle

@Suite(.serialized, .timeLimit(.minutes(1))) struct UnixTests {
  @Test func signalsArriveAsAStream() async throws {
    let signals = try UnixSignals.stream([.hangUp, .terminate])
    #expect(throws: UnixSignals.Failure.alreadyInstalled) { try UnixSignals.stream() }
    var iterator = signals.makeAsyncIterator()
    kill(getpid(), SIGHUP)
    #expect(await iterator.next() == .hangUp)
    kill(getpid(), SIGTERM)
    #expect(await iterator.next() == .terminate)
  }

  @Test func namesOfADirectoryAreSyncedAndAnErrorIsTheCodeOfTheCall() {
    #expect(DirectoryNames.sync("/tmp") == nil)
    #expect(DirectoryNames.sync("/nowhere") == ENOENT)
    #expect(DirectoryNames.sync("/dev/null") == ENOTDIR)
  }

  @Test func brokenPipeIsAnErrorOfTheCall() {
    UnixSignals.ignoreBrokenPipes()
    var ends: [Int32] = [0, 0]
    #expect(unsafe pipe(&ends) == 0)
    close(ends[0])
    #expect(unsafe write(ends[1], "x", 1) == -1 && errno == EPIPE)
    close(ends[1])
  }

  @Test(arguments: ["", "@"]) func readinessReachesTheManager(prefix: String) throws {
    let name = prefix.isEmpty ? "/tmp/relaychat-notify-\(getpid())" : "@relaychat-notify-\(getpid())"
    let listener = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer {
      close(listener)
      unsafe unlink(name)
    }
    let address = try UnixSocketAddress(path: name)
    #expect(unsafe address.withPointer { unsafe bind(listener, $0, $1) } == 0)
    let notification = ReadinessNotification(socket: name)
    #expect(notification.isWanted)
    #expect(notification.send(.ready, .status("two\nlines")))
    #expect(notification.send(.reloading(monotonic: .milliseconds(1_500))))
    var buffer = [UInt8](repeating: 0, count: 200)
    var size = unsafe read(listener, &buffer, buffer.count)
    #expect(String(decoding: buffer[..<max(0, size)], as: UTF8.self) == "READY=1\nSTATUS=two lines")
    size = unsafe read(listener, &buffer, buffer.count)
    #expect(String(decoding: buffer[..<max(0, size)], as: UTF8.self) == "RELOADING=1\nMONOTONIC_USEC=1500000")
  }

  @Test func withoutAManagerNothingIsSent() {
    #expect(!ReadinessNotification(socket: nil).send(.stopping))
    #expect(!ReadinessNotification(socket: "relative").isWanted)
  }

  @Test func pathsThatDoNotFitAreRefused() throws {
    #expect(throws: UnixSocketAddress.Failure.empty) { try UnixSocketAddress(path: "") }
    #expect(throws: UnixSocketAddress.Failure.zeroByteInPath) { try UnixSocketAddress(path: "/a\0b") }
    let long = String(repeating: "x", count: 108)
    #expect(throws: UnixSocketAddress.Failure.pathTooLong(bytes: 108)) { try UnixSocketAddress(path: long) }
    _ = try UnixSocketAddress(path: String(long.dropLast()))
  }

  @Test func clocksMoveForward() {
    #expect(SystemTime.sinceEpoch() > .seconds(1_700_000_000))
    #expect(SystemTime.sinceBoot() <= SystemTime.sinceBoot())
  }
}

@Suite(.timeLimit(.minutes(1))) struct BlockingExecutorTests {
  actor Blocking {
    let executor = BlockingExecutor(name: "test")
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
    var count = 0

    func increment() -> pthread_t {
      count += 1
      executor.checkIsolated()
      assertIsolated()
      return pthread_self()
    }
  }

  @Test func everyCallRunsOnTheOneThread() async {
    let actor = Blocking()
    let first = await actor.increment()
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<100 { group.addTask { pthread_equal(await actor.increment(), first) != 0 } }
      for await isSame in group { #expect(isSame) }
    }
    #expect(await actor.count == 101)
    #expect(actor.executor.isIsolatingCurrentContext() == false)
  }
}

/// Bounds and times of this transport, each with its reason. What BlueZ and the kernel do in which time stands in
/// `BlueZTransport.docc`.
package enum BlueZLimits {
  /// Links that a controller is taken to hold until it has shown more: what the weakest common ones do...
  package static let firstCeiling = 5
  /// ...and the most that is ever tried.
  package static let mostLinks = 16
  package static let fewestLinks = 2
  /// Two are kept free for those who dial us.
  package static let reservedForInbound = 2
  /// After so long without a refusal one more is tried; after one the ceiling stays down for so long.
  package static let ceilingRise: Duration = .seconds(600)
  package static let ceilingHold: Duration = .seconds(1_800)

  /// Bytes a second that one link is said to carry: the most that LE 1M gives with long packets, 244 bytes in 2,500 µs
  /// (Bluetooth Core, Vol 6 Part B 2.4.2 and 4.5.10). What is said here bounds what is sent ahead of its acknowledgement,
  /// and a bound below what the radio can do is the speed of the link.
  package static let bytesPerSecond = 100_000

  /// Bytes of a value. An attribute may have 512 (Bluetooth Core, Vol 3 Part F 3.2.9) and a write MTU − 3, but a BlueZ
  /// client that is notified takes MTU − 5, and of writes of 511 bytes none arrived in the lab while all of 509 did.
  package static let valueBytes = 509
  package static let valueMargin = 5
  /// Of a value, what `LinkMessage` puts before a frame, and before what is notified.
  package static let dataHead = 2
  package static let tagHead = 5
  /// The ATT MTU before it is negotiated, and the largest one.
  package static let smallestMTU = 23
  package static let largestMTU = 517

  /// Frames that the peer has not granted room for.
  package static let window = 32
  /// Frames after which room is granted again: a grant costs the peer's processor as much as a frame.
  package static let grantEvery = 16
  /// A window that stays full for so long is asked for.
  package static let probeAfter: Duration = .seconds(1)
  /// Probes without an answer before the link is given up.
  package static let probes = 15
  /// A frame that others have overtaken is waited for so long: bearers of one connection are apart by milliseconds, and
  /// what does not come at all is sent again above.
  package static let reorderTime: Duration = .seconds(1)
  /// What was said before a goodbye that has overtaken it comes within this time.
  package static let byeTime: Duration = .milliseconds(200)
  /// Frames that wait for the window.
  package static let queuedFrames = 64

  /// Values that wait until it is known how to write them: a window of frames, and what is said beside them.
  package static let heldValues = 48

  /// Values that are handed to the bus at once, when so many have gathered.
  package static let writtenAtOnce = 32

  /// BlueZ takes up to 40 s for a connect; we give up before...
  package static let connectDeadline: Duration = .seconds(20)
  /// ...and wait for the answer longer than the kernel works on it.
  package static let connectReply: Duration = .seconds(45)
  /// From connected to our characteristic.
  package static let resolveDeadline: Duration = .seconds(20)
  /// From subscribed to the answer to our hello; the hello is said again meanwhile.
  package static let helloDeadline: Duration = .seconds(6)
  package static let helloRepeat: Duration = .seconds(2)
  /// One that has the larger hint lets the other dial first for so long, and spreads it.
  package static let yieldTime: Duration = .seconds(15)
  package static let yieldJitter: Duration = .seconds(3)
  /// The same where only the addresses are known: longer than a dial takes that meets nothing in its way.
  package static let shortYieldTime: Duration = .seconds(4)
  /// Who was greeted and cannot write yet answers by notification after this time.
  package static let answerWithin: Duration = .seconds(3)
  /// A device that connects and says no hello within this time is none of ours: left alone, and counted.
  package static let silentAfter: Duration = .seconds(5)

  /// One that is known to be a node and stays silent for so much longer is a connection that the kernel has kept over a
  /// crash of BlueZ, of no use to anybody.
  package static let staleAfter: Duration = .seconds(15)
  /// Values without a meaning after which whoever writes them is sent away: a node of a later version writes none.
  package static let garbage: UInt64 = 8
  /// Discovery that BlueZ calls in progress for so long without any going on is stuck: only power helps, and that is
  /// tried so seldom.
  package static let stuckAfter: Duration = .seconds(60)
  package static let powerCycleEvery: Duration = .seconds(600)

  /// The kernel scans in rounds of 10.24 s. With a link and room for more a third of the time is spent on listening, so
  /// that who comes near is heard within half a minute; with all links in use a twentieth, to know whom to dial when one
  /// ends. After a change of links it is the whole time for a while: who moves finds several.
  package static let scanWhenLinked = ScanDuty.Share(listening: .milliseconds(10_240), period: .milliseconds(30_720))
  package static let scanWhenFull = ScanDuty.Share(listening: .milliseconds(5_120), period: .milliseconds(102_400))
  package static let scanAfterChange: Duration = .seconds(30)

  /// Calls that were refused are made again after this time, doubled up to that.
  package static let firstRetry: Duration = .seconds(1)
  package static let lastRetry: Duration = .seconds(30)
  /// After power-on the kernel needs a moment.
  package static let afterPowerOn: Duration = .milliseconds(500)
  /// A peer that says nothing for so long is asked for a sign of life, and again after a shorter time, so often.
  package static let quietTime: Duration = .seconds(15)
  package static let signTime: Duration = .seconds(5)
  package static let missedSigns = 3
  /// A peer whose service goes while the connection stands has so long to bring it back.
  package static let serviceGrace: Duration = .seconds(5)
  /// What waits on a link that is closed may go for so long.
  package static let drainTime: Duration = .seconds(2)
  /// From a connection that is gone to the word that the power went with it.
  package static let endGrace: Duration = .milliseconds(100)
  /// Devices that are still in the air though they are reported once are told again.
  package static let sightingRepeat: Duration = .seconds(20)
  /// A call to BlueZ that takes longer has failed.
  package static let callTimeout: Duration = .seconds(25)

  /// Devices that are kept in mind, the one heard longest ago out: a busy hall.
  package static let devices = 512
  /// Objects in the mirror.
  package static let objects = 8_192
  /// Signals that are kept while BlueZ is asked for everything: as many as wait on the connection at most.
  package static let heldSignals = 1_024
  /// Dials that wait for their turn.
  package static let waitingDials = 8
}

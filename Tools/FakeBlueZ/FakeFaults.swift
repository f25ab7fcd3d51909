/// What a fake `bluetoothd` does wrong when it is asked to. Counters are used up, one for each occasion.
package struct FakeFaults: Sendable {
  /// Connects that fail with `le-connection-abort-by-local`, and whether the link shows up for a moment.
  package var abortedConnects = 0
  package var isAbortSeen = false
  /// Calls that are answered with `InProgress` first.
  package var inProgressDiscoveries = 0
  package var inProgressConnects = 0
  /// Links whose services are never resolved, or said to be resolved without an object.
  package var unresolvedLinks = 0
  package var emptyLinks = 0
  /// Advertisements and applications that are refused.
  package var refusedAdvertisements = 0
  package var refusedApplications = 0
  /// Milliseconds by which every answer is late.
  package var lateMilliseconds: Int64 = 0
  /// Links that one controller holds.
  package var linkLimit = 16
  /// Connects to the wrong bearer.
  package var wrongBearers = 0
  /// Device objects that vanish when they are dialled.
  package var vanishingDevices = 0

  /// Bytes a second that all links carry together; 0 for as many as come.
  package var bytesPerSecond = 0

  /// Of so many writes one goes over a slower bearer, and is overtaken; 0 for none.
  package var overtaken = 0
  var writes = 0

  /// Connects that are never answered.
  package var hangingConnects = 0
  /// Sockets for writing that are not handed out.
  package var refusedSockets = 0
  /// Whether a device is reported when it is first heard and then no more, as without `DuplicateData`.
  package var isReportingOnce = false

  package init() {}
}

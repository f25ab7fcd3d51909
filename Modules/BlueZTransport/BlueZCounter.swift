internal import Telemetry

/// What happened between us, BlueZ and strangers, for `status`, the doctor and leak checks.
enum BlueZCounter: String, CounterReason {
  /// Signals that nobody had read in time; everything was then looked at again.
  case missedSignals
  /// Calls to our objects by somebody who is not BlueZ; nothing was done.
  case foreignCalls
  /// Devices that connected and said no hello: none of ours, left alone.
  case foreignDevices
  /// Values that mean nothing.
  case garbage
  /// Devices that wrote such values again and again, and were sent away.
  case garbageWriters
  /// Values that found no room on their way to the bus.
  case discardedWrites
  /// Characteristics of peers for which BlueZ handed out no socket: each value costs a call there.
  case refusedSockets
  /// Frames that never came, or too late.
  case framesLost
  /// Frames that were overtaken on another bearer of the same connection, and put back in their place.
  case framesReordered
  /// Frames that came faster than they were read.
  case framesDropped
  /// Dials that led to no link: BlueZ answered with an error, or nothing came of it in time.
  case failedDials
  /// Advertisements, and discoveries, that BlueZ did not begin.
  case refusedAdvertisements
  case refusedDiscoveries
  /// Times that BlueZ went, or came anew.
  case ownerChanges
}

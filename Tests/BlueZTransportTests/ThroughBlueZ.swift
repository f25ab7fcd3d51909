import Testing

/// Tests with a bus and a stand-in for BlueZ of their own, one after the other: some count what the process holds.
@Suite(.serialized) enum ThroughBlueZ {}

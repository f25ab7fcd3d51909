package import Transports

/// The six steps of a dial over a socket, seen from either end. Pure: a message in, a message out.
package struct LocalDial: Sendable {
  package enum Action: Sendable, Equatable {
    case send(LocalMessage)
    /// The step is reached; told to whoever dialled.
    case reached(DialStep)
    /// Frames flow from here on.
    case ready
    case fail(String)
  }

  private enum Stage: Sendable, Equatable {
    case connecting, discoveringService, discoveringCharacteristic, subscribing, awaiting, done
  }

  /// The values by which RelayChat nodes find each other on Bluetooth; the same here.
  private static let service: [UInt8] = [
    0xfd, 0x4d, 0x71, 0x0a, 0x58, 0x4c, 0x42, 0xd5, 0x8b, 0x04, 0x3f, 0xa7, 0x04, 0x88, 0x9a, 0x08,
  ]
  private static let characteristic: [UInt8] = [
    0xf7, 0x7a, 0x5d, 0x46, 0x27, 0xfe, 0x4d, 0xaa, 0x8c, 0xe6, 0x41, 0x0e, 0x4d, 0x40, 0xee, 0xe5,
  ]

  private var stage: Stage
  private(set) var reached = DialStep.scan
  /// The name the other end gave, for a dial that came in.
  private(set) var peerName: String?

  /// The end that dials.
  ///
  /// - Returns: the dial and its first message.
  package static func outgoing(from name: String) -> (LocalDial, LocalMessage) {
    (LocalDial(stage: .connecting), .connect(name: name))
  }

  /// The end that is dialled.
  static func incoming() -> LocalDial { LocalDial(stage: .awaiting) }

  private init(stage: Stage) { self.stage = stage }

  /// - Parameter admit: whether a node of this name may connect; the reason when not.
  package mutating func receive(_ message: LocalMessage, admit: (String) -> String?) -> [Action] {
    switch (stage, message) {
    case (.connecting, .connected):
      stage = .discoveringService
      return advance(.connect, .discoverService(Self.service))
    case (.discoveringService, .serviceFound):
      stage = .discoveringCharacteristic
      return advance(.discoverService, .discoverCharacteristic(Self.characteristic))
    case (.discoveringCharacteristic, .characteristicFound):
      stage = .subscribing
      return advance(.discoverCharacteristic, .subscribe)
    case (.subscribing, .subscribed):
      stage = .done
      reached = .subscribe
      return [.reached(.subscribe), .ready]
    case (.awaiting, _): return answer(message, admit: admit)
    case (_, .refused(let reason)): return [.fail(reason)]
    default: return [.fail("the peer broke the order of the dial")]
    }
  }

  private mutating func advance(_ step: DialStep, _ message: LocalMessage) -> [Action] {
    reached = step
    return [.reached(step), .send(message)]
  }

  private mutating func answer(_ message: LocalMessage, admit: (String) -> String?) -> [Action] {
    switch message {
    case .connect(let name) where peerName == nil:
      if let reason = admit(name) { return [.send(.refused(reason: reason)), .fail(reason)] }
      peerName = name
      return [.send(.connected)]
    case .discoverService(let identifier) where peerName != nil:
      guard identifier == Self.service else {
        return [.send(.refused(reason: "no such service")), .fail("no such service")]
      }
      return [.send(.serviceFound)]
    case .discoverCharacteristic(let identifier) where peerName != nil:
      guard identifier == Self.characteristic else {
        return [.send(.refused(reason: "no such characteristic")), .fail("no such characteristic")]
      }
      return [.send(.characteristicFound)]
    case .subscribe where peerName != nil:
      stage = .done
      return [.send(.subscribed), .ready]
    default: return [.fail("the peer broke the order of the dial")]
    }
  }
}

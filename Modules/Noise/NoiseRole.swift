/// Who sends the first message.
package enum NoiseRole: Hashable, Sendable {
  case initiator
  case responder
}

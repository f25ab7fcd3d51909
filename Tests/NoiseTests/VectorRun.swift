import Bytes
import Noise
import Primitives
import Testing

/// Runs one side of one vector, with every byte of every message it reads changed on the way first.
struct VectorRun<KeyPair: VectorKeyPair & ~Copyable, Cipher: NoiseCipher> {
  let vector: NoiseVector
  let role: NoiseRole
  /// Who sends each message.
  private let senders: [NoiseRole]
  private let messages: [(payload: [UInt8], ciphertext: [UInt8])]

  init(_ vector: NoiseVector, role: NoiseRole, turnsGoOn: Bool) throws {
    self.vector = vector
    self.role = role
    let name = vector.protocol_name.split(separator: "_").map(String.init)
    let pattern = try #require(Patterns.named(name[1]), "no pattern \(name[1])")
    let count = pattern.messages.count
    senders = vector.messages.indices.map { index in
      if pattern.isOneWay { return .initiator }
      // Debian's file lets the initiator begin the transport, whoever spoke last.
      return (turnsGoOn || index < count ? index : index - count).isMultiple(of: 2) ? .initiator : .responder
    }
    messages = try vector.messages.map { (try unhex($0.payload), try unhex($0.ciphertext)) }
  }

  /// What is wrong, or nothing.
  func fault(flipping: Bool) throws -> String? {
    var side = try VectorSide<KeyPair, Cipher>(vector, role: role)
    for index in messages.indices {
      let (payload, ciphertext) = messages[index]
      if senders[index] == role {
        guard try side.write(payload) == ciphertext else { return "message \(index) has other bytes" }
        continue
      }
      if flipping {
        for place in ciphertext.indices {
          var bent = ciphertext
          bent[place] ^= 1 << UInt8(place % 8)
          let before = side.image
          do { _ = try side.read(bent) } catch {
            if side.image != before { return "message \(index), byte \(place): refused, and the state has changed" }
            continue
          }
          // Nothing sealed it yet: it must come out later, and not give the run of the vector.
          guard deviates(&side, from: index + 1) else { return "message \(index), byte \(place): not noticed" }
          side = try replay(through: index)
        }
      }
      do {
        guard try side.read(ciphertext) == payload else { return "message \(index) has another payload" }
      } catch { return "message \(index) is refused: \(error)" }
    }
    if let hash = vector.handshake_hash, try unhex(hash) != side.handshakeHash { return "another handshake hash" }
    return nil
  }

  private func replay(through end: Int) throws -> VectorSide<KeyPair, Cipher> {
    var side = try VectorSide<KeyPair, Cipher>(vector, role: role)
    for index in 0..<end {
      if senders[index] == role {
        _ = try side.write(messages[index].payload)
      } else {
        _ = try side.read(messages[index].ciphertext)
      }
    }
    return side
  }

  private func deviates(_ side: inout VectorSide<KeyPair, Cipher>, from start: Int) -> Bool {
    for index in start..<messages.count {
      let (payload, ciphertext) = messages[index]
      if senders[index] == role {
        guard let written = try? side.write(payload), written == ciphertext else { return true }
      } else {
        guard let read = try? side.read(ciphertext), read == payload else { return true }
      }
    }
    return false
  }
}

/// Both sides of a vector, by the suite in its name.
func faults(of vector: NoiseVector, turnsGoOn: Bool = true, flipping: Bool) throws -> [String] {
  try [NoiseRole.initiator, .responder].compactMap { role in
    let suite = vector.protocol_name.split(separator: "_").dropFirst(2).joined(separator: "_")
    let fault: String?
    switch suite {
    case "25519_AESGCM_SHA256":
      fault = try VectorRun<X25519AgreementKey, AESGCM>(vector, role: role, turnsGoOn: turnsGoOn)
        .fault(flipping: flipping)
    case "25519_ChaChaPoly_SHA256":
      fault = try VectorRun<X25519AgreementKey, ChaChaPoly>(vector, role: role, turnsGoOn: turnsGoOn)
        .fault(flipping: flipping)
    case "P256_AESGCM_SHA256":
      fault = try VectorRun<P256AgreementKey, AESGCM>(vector, role: role, turnsGoOn: turnsGoOn)
        .fault(flipping: flipping)
    case "P256_XChaChaPoly_SHA256":
      fault = try VectorRun<P256AgreementKey, XChaChaPoly>(vector, role: role, turnsGoOn: turnsGoOn)
        .fault(flipping: flipping)
    default: fault = "no suite \(suite)"
    }
    return fault.map { "\(vector.protocol_name), \(role): \($0)" }
  }
}

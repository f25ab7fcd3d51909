import Bytes
import FoundationEssentials
import TestKit
import Testing

/// One published run of a protocol: keys and payloads in, messages out.
struct NoiseVector: Decodable {
  struct Message: Decodable {
    var payload: String
    var ciphertext: String
  }

  var protocol_name: String
  var init_prologue: String?
  var init_static: String?
  var init_ephemeral: String?
  var init_remote_static: String?
  var init_psks: [String]?
  var resp_prologue: String?
  var resp_static: String?
  var resp_ephemeral: String?
  var resp_remote_static: String?
  var resp_psks: [String]?
  var handshake_hash: String?
  var messages: [Message]

  /// A key, spelled out: what follows REKEY.
  struct Rekey: Decodable {
    var k_initiator_to_responder: String
    var k_responder_to_initiator: String
    var rekeyed_k_initiator_to_responder: String
    var rekeyed_k_responder_to_initiator: String
    var payload: String
    var ciphertext_after_rekey_n0: String
  }

  struct File: Decodable {
    var vectors: [NoiseVector]
    var rekey: Rekey?
  }

  /// The file of Debian's package: one `key=value` a line, a blank line behind each vector. Only suites of ours; the
  /// others use hashes that this project has no use for.
  static func flynn(_ data: Data) throws -> (vectors: [NoiseVector], declared: Int) {
    let text = String(decoding: data, as: UTF8.self)
    let isOurs = { (name: Substring) in
      name.hasSuffix("_25519_AESGCM_SHA256") || name.hasSuffix("_25519_ChaChaPoly_SHA256")
    }
    let declared = text.split(separator: "\n").count { $0.hasPrefix("handshake=") && isOurs($0) }
    var vectors: [NoiseVector] = []
    var current = NoiseVector(protocol_name: "", messages: [])
    func finish() {
      guard isOurs(Substring(current.protocol_name)) else { return }
      // One-way patterns are given a second transport message, in the direction that such a pattern does not have.
      let isOneWay = current.protocol_name.wholeMatch(of: /Noise_[NKX](psk\d)?_.*/) != nil
      if isOneWay { current.messages.removeLast() }
      vectors.append(current)
    }
    for line in text.split(separator: "\n") {
      let pair = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let value = try #require(pair.last)
      switch pair[0] {
      case "handshake":
        finish()
        current = NoiseVector(protocol_name: value, messages: [])
      case "init_static": current.init_static = value
      case "resp_static": current.resp_static = value
      case "gen_init_ephemeral": current.init_ephemeral = value
      case "gen_resp_ephemeral": current.resp_ephemeral = value
      case "prologue": (current.init_prologue, current.resp_prologue) = (value, value)
      case "preshared_key": (current.init_psks, current.resp_psks) = ([value], [value])
      case let key where key.hasSuffix("_payload"): current.messages.append(Message(payload: value, ciphertext: ""))
      case let key where key.hasSuffix("_ciphertext"): current.messages[current.messages.count - 1].ciphertext = value
      default: Issue.record("an unknown line: \(line)")
      }
    }
    finish()
    return (vectors, declared)
  }
}

func unhex(_ text: String?) throws -> [UInt8] { try #require(Hex.decode(text ?? "")) }

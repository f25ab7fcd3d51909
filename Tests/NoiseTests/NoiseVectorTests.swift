import Bytes
import Noise
import Primitives
import TestKit
import Testing

struct NoiseVectorTests {
  @Test(.enabled(if: PublicVectors.Source.flynn.isToBeRun, "Tools/setup installs the vectors"), arguments: [0, 1])
  func thePublicPackageGivesItsMessages(half: Int) throws {
    let file = try NoiseVector.flynn(PublicVectors.data("vectors.txt", from: .flynn))
    var ran = 0
    let vectors = file.vectors.enumerated().filter { $0.offset % 2 == half }.map(\.element)
    #expect(vectors.contains { $0.protocol_name == "Noise_XXpsk0_25519_AESGCM_SHA256" })
    for vector in vectors {
      for fault in try faults(of: vector, turnsGoOn: false, flipping: true) { Issue.record("\(fault)") }
      ran += 1
    }
    #expect(file.vectors.count == file.declared && ran == (file.declared + 1 - half) / 2)
    try refusesWrong(file.vectors[0], turnsGoOn: false)
    PublicVectors.report("vectors.txt, half \(half)", ran: ran, note: "both sides, every byte changed")
  }

  @Test(
    .enabled(if: PublicVectors.Source.folder.isToBeRun, "RELAYCHAT_VECTORS names no folder"),
    arguments: (try? PublicVectors.files(in: .folder).filter { $0.hasPrefix("noise/") }) ?? [])
  func theNamedFolderGivesItsMessages(path: String) throws {
    let file = try PublicVectors.json(NoiseVector.File.self, path, from: .folder)
    let declared =
      String(decoding: try PublicVectors.data(path, from: .folder), as: UTF8.self)
      .split(separator: "\"protocol_name\"").count - 1 - (file.rekey == nil ? 0 : 1)
    var ran = 0
    for vector in file.vectors {
      for fault in try faults(of: vector, flipping: true) { Issue.record("\(path): \(fault)") }
      ran += 1
    }
    #expect(ran == declared && ran > 0)
    if let first = file.vectors.first { try refusesWrong(first, turnsGoOn: true) }
    if let rekey = file.rekey { try checkRekey(rekey) }
    PublicVectors.report(path, ran: ran, note: "both sides, every byte changed")
  }

  /// A check that lets a wrong vector pass checks nothing.
  private func refusesWrong(_ vector: NoiseVector, turnsGoOn: Bool) throws {
    for index in vector.messages.indices {
      var bent = vector
      let last = bent.messages[index].ciphertext.removeLast()
      bent.messages[index].ciphertext.append(last == "0" ? "1" : "0")
      let found = try faults(of: bent, turnsGoOn: turnsGoOn, flipping: false)
      #expect(found.count == 2, "a wrong vector passes on one side")
    }
  }

  private func checkRekey(_ rekey: NoiseVector.Rekey) throws {
    for (before, after) in [
      (rekey.k_initiator_to_responder, rekey.rekeyed_k_initiator_to_responder),
      (rekey.k_responder_to_initiator, rekey.rekeyed_k_responder_to_initiator),
    ] {
      let (old, new, payload) = (try unhex(before), try unhex(after), try unhex(rekey.payload))
      var state = try CipherState<AESGCM>.keyed(old.rawSpan)
      try state.rekey()
      var expected = try CipherState<AESGCM>.keyed(new.rawSpan)
      var (made, wanted): ([UInt8], [UInt8]) = ([], [])
      try state.encryptWithAd(RawSpan(), payload.rawSpan, appendingTo: &made)
      try expected.encryptWithAd(RawSpan(), payload.rawSpan, appendingTo: &wanted)
      #expect(made == wanted)
      if before == rekey.k_initiator_to_responder { #expect(made == (try unhex(rekey.ciphertext_after_rekey_n0))) }
    }
  }
}

import PowerCuts
import Testing

/// The archive of messages on a disk that fails; `Tools/crash` fails every call, this every so many-th.
@Suite struct ArchiveFaultTests {
  @Test(arguments: ArchiveTrial.Start.allCases, CutDisk.Fault.allCases)
  func aFailingCallIsSaidAndNothingThatWasAcknowledgedIsLost(
    _ start: ArchiveTrial.Start, _ fault: CutDisk.Fault
  ) async throws {
    let trial = try await ArchiveTrial(start)
    let calls = await trial.calls(fault)
    #expect(calls.count > 200)
    var (errors, reasons) = (0, Set<String>())
    for call in stride(from: Int.random(in: 0..<331), to: calls.count, by: 331) {
      let outcome = await trial.run(fault, atCall: calls[call], seed: UInt64(call))
      #expect(outcome.fault == nil, "\(start), \(fault) at call \(calls[call])")
      errors += outcome.errors
      reasons.formUnion(outcome.reasons)
    }
    #expect(errors > 0)
    #expect(reasons.isSubset(of: ["the disk is full", "the disk fails"]), "\(reasons)")
  }
}

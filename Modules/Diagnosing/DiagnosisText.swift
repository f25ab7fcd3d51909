/// Findings as a person reads them: one line each, what is to be done below.
package enum DiagnosisText {
  package static func lines(_ findings: [Finding]) -> [String] {
    let width = Finding.Layer.allCases.map(\.rawValue.count).max() ?? 0
    return findings.flatMap { finding in
      let mark =
        switch finding.state {
        case .ok: "ok     "
        case .warning: "warning"
        case .fault: "FAULT  "
        }
      let layer = finding.layer.rawValue
      let padding = String(repeating: " ", count: width - layer.count)
      let first = "\(mark)  \(layer)\(padding)  \(finding.fact)"
      guard let remedy = finding.remedy else { return [first] }
      return [first, String(repeating: " ", count: mark.count + width + 4) + "→ " + remedy]
    }
  }

  /// What a program says when it ends: the first fault, which explains those after it.
  package static func verdict(_ diagnosis: Diagnosis) -> String? {
    guard let first = diagnosis.faults.first else { return nil }
    let others = diagnosis.faults.count - 1
    let more = others > 0 ? " It may be the cause of \(others == 1 ? "the other fault" : "the \(others) others")." : ""
    return "The layer at fault is \(first.layer.rawValue): \(first.fact)\(more)"
  }
}

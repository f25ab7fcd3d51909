import Noise

/// The patterns of revision 34 (sections 7.4, 7.5 and appendix 18.1), for the vectors.
enum Patterns {
  /// Name, then `→ s` and `← s` known before, then the messages.
  private static let table = """
    N . s | e es
    K s s | e es ss
    X . s | e es s ss
    NN . . | e | e ee
    NK . s | e es | e ee
    NX . . | e | e ee s es
    KN s . | e | e ee se
    KK s s | e es ss | e ee se
    KX s . | e | e ee se s es
    XN . . | e | e ee | s se
    XK . s | e es | e ee | s se
    XX . . | e | e ee s es | s se
    IN . . | e s | e ee se
    IK . s | e es s ss | e ee se
    IX . . | e s | e ee se s es
    NK1 . s | e | e ee es
    NX1 . . | e | e ee s | es
    X1N . . | e | e ee | s | se
    X1K . s | e es | e ee | s | se
    XK1 . s | e | e ee es | s se
    X1K1 . s | e | e ee es | s | se
    X1X . . | e | e ee s es | s | se
    XX1 . . | e | e ee s | es s se
    X1X1 . . | e | e ee s | es s | se
    K1N s . | e | e ee | se
    K1K s s | e es | e ee | se
    KK1 s s | e | e ee se es
    K1K1 s s | e | e ee es | se
    K1X s . | e | e ee s es | se
    KX1 s . | e | e ee se s | es
    K1X1 s . | e | e ee s | se es
    I1N . . | e s | e ee | se
    I1K . s | e es s | e ee | se
    IK1 . s | e s | e ee se es
    I1K1 . s | e s | e ee es | se
    I1X . . | e s | e ee s es | se
    IX1 . . | e s | e ee se s | es
    I1X1 . . | e s | e ee s | se es
    """

  private static let tokens: [Substring: NoiseToken] = [
    "e": .e, "s": .s, "ee": .ee, "es": .es, "se": .se, "ss": .ss,
  ]

  private static let all: [String: HandshakePattern] = {
    var all: [String: HandshakePattern] = [:]
    for line in table.split(separator: "\n") {
      let parts = line.split(separator: "|").map { $0.split(separator: " ") }
      let name = String(parts[0][0])
      all[name] = HandshakePattern(
        name, initiatorKnown: parts[0][1] == "s" ? [.s] : [], responderKnown: parts[0][2] == "s" ? [.s] : [],
        messages: parts.dropFirst().map { $0.compactMap { tokens[$0] } })
    }
    return all
  }()

  /// `XX`, `XXpsk0`, `NNpsk0+psk2`.
  static func named(_ name: String) -> HandshakePattern? {
    let base = String(name[..<(name.firstRange(of: "psk")?.lowerBound ?? name.endIndex)])
    let modifiers = name.dropFirst(base.count).split(separator: "+").compactMap { Int($0.dropFirst(3)) }
    guard let pattern = all[base] else { return nil }
    return modifiers.isEmpty ? pattern : pattern.addingPresharedKeys(modifiers)
  }
}

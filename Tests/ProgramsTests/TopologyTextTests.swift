import ControlAPI
import Programs
import Testing

@Suite struct TopologyTextTests {
  private func map(_ name: String = "ben") -> TopologyAnswer {
    TopologyAnswer(
      nodes: [
        .init(id: "1a2b3c4d00000000000000000000000a", name: "ann", isOwn: true, hops: 0),
        .init(id: "5e6f7a8b00000000000000000000000b", name: name, hops: 1),
        .init(id: "9c0d1e2f", name: ""),
        .init(id: "0f1e2d3c00000000000000000000000d", name: "dan", hops: 1),
        .init(id: "4455667700000000000000000000000e", name: "eve", hops: 5),
      ],
      edges: [
        .init(
          from: "1a2b3c4d00000000000000000000000a", to: "5e6f7a8b00000000000000000000000b", source: .link,
          seenSecondsAgo: 0),
        .init(
          from: "1a2b3c4d00000000000000000000000a", to: "0f1e2d3c00000000000000000000000d", source: .link,
          seenSecondsAgo: 0),
        .init(from: "9c0d1e2f", to: "5e6f7a8b00000000000000000000000b", source: .route, seenSecondsAgo: 12),
        .init(
          from: "0f1e2d3c00000000000000000000000d", to: "5e6f7a8b00000000000000000000000b", source: .route,
          seenSecondsAgo: 3),
        .init(from: "nobody", to: "9c0d1e2f", source: .route, seenSecondsAgo: 3),
      ])
  }

  @Test func theNearestWaysAreATreeAndTheRestStandsBelow() {
    let lines = TopologyText.lines(map())
    #expect(lines.count == 6, "\(lines)")
    #expect(lines[0].hasPrefix("ann") && lines[0].hasSuffix("(this node)"))
    #expect(lines[1].hasPrefix("├─ ben"))
    #expect(lines[2].hasPrefix("│  └─ ") && lines[2].contains("9c0d1e2f") && lines[2].contains("seen 12"))
    #expect(lines[3].hasPrefix("└─ dan"))
    #expect(lines[4].hasPrefix("also linked: dan") && lines[4].contains("ben"))
    #expect(lines[5].hasPrefix("somewhere: eve") && lines[5].hasSuffix(", 5 hops"))
  }

  @Test func aNameDoesNotGetOutOfItsStringInAGraph() {
    let text = TopologyText.dot(map("\"]; x -- y [\\N")).joined(separator: "\n")
    #expect(text.hasPrefix("graph mesh {") && text.hasSuffix("}"))
    #expect(text.contains("\\\"]; x -- y [\\\\N"))
    #expect(text.contains("\"9c0d1e2f\" -- \"5e6f7a8b00000000000000000000000b\" [style=dashed];"))
  }

  @Test func ofNothingNothingIsSaid() {
    #expect(TopologyText.lines(TopologyAnswer(nodes: [], edges: [])).isEmpty)
  }
}

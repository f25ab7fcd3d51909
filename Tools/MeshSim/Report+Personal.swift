/// What messages for one node have cost and taken.
extension Simulation {
  func personal(among measured: [Int], _ oracle: Oracle) -> Report.Personal? {
    var part = Report.Personal()
    var receipts = [Int](repeating: 0, count: messages.count)
    for message in messages { if let number = message.answers { receipts[number] += message.sends } }
    var (latencies, answers): ([Int], [Int]) = ([], [])
    var (sends, receiptSends, calmSends, calm, shortest, calmShortest) = (0, 0, 0, 0, 0, 0)
    let neighbours = neighbours()
    for number in measured {
      let message = messages[number]
      guard let destination = message.destination else { continue }
      part.messages += 1
      sends += message.sends
      receiptSends += receipts[number]
      let links = distance(message.source, destination, neighbours)
      shortest += links
      // A second lane or a flood costs several times the longest lane.
      if message.sends < 2 * links + 6 {
        calm += 1
        calmSends += message.sends
        calmShortest += links
      }
      if let time = message.answeredAfter { answers.append(Int(time / 1_000)) }
      guard scenario.churn == nil || wasThere(destination, at: message.at) else { continue }
      let arrivals = oracle.arrivals(from: message.source, at: message.at, exchange: exchange(of: message))
      guard arrivals[destination] <= scenario.end else { continue }
      part.pairs += 1
      guard let latency = deliveries.latency(row: message.row, node: destination) else { continue }
      part.delivered += 1
      latencies.append(latency)
    }
    guard part.messages > 0 else { return nil }
    latencies.sort()
    answers.sort()
    part.latency = Report.Distribution(latencies, scale: 1_000)
    part.answer = Report.Distribution(answers, scale: 1_000)
    part.answered = answers.count
    let all = Double(part.messages)
    part.sends = Double(sends) / all
    part.receiptSends = Double(receiptSends) / all
    part.calmShare = Double(calm) / all
    part.calmSends = Double(calmSends) / Double(max(1, calm))
    guard scenario.churn == nil, scenario.walk == nil, scenario.replacement == nil else { return part }
    part.shortest = Double(shortest) / all
    part.calmShortest = Double(calmShortest) / Double(max(1, calm))
    return part
  }

  /// Who is linked with whom at the end.
  private func neighbours() -> [[Int]] {
    var neighbours = [[Int]](repeating: [], count: nodes.count)
    for link in links where link.isUp {
      neighbours[link.central].append(link.peripheral)
      neighbours[link.peripheral].append(link.central)
    }
    return neighbours
  }

  /// Links between two nodes at least; 0 when they are not connected.
  private func distance(_ one: Int, _ other: Int, _ neighbours: [[Int]]) -> Int {
    var distances = [Int](repeating: -1, count: nodes.count)
    distances[one] = 0
    var queue = [one]
    var next = 0
    while next < queue.count, distances[other] < 0 {
      let node = queue[next]
      next += 1
      for peer in neighbours[node] where distances[peer] < 0 {
        distances[peer] = distances[node] + 1
        queue.append(peer)
      }
    }
    return max(0, distances[other])
  }
}

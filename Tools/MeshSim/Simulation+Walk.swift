internal import TestKit

/// Somebody who walks to a point anywhere in the square, stands there for a while, and walks on.
struct Walker: Sendable {
  var place: Topology.Point
  var goal: Topology.Point
  /// Metres a second.
  var speed: Double
  /// Seconds left to stand.
  var pause: Double
}

extension Simulation {
  mutating func beginWalk() {
    guard let walk = scenario.walk else { return }
    for _ in nodes.indices {
      let place = anywhere(walk)
      walkers.append(
        Walker(
          place: place, goal: anywhere(walk), speed: .random(in: walk.speed, using: &worldRandom), pause: 0))
    }
  }

  private mutating func anywhere(_ walk: Scenario.Walk) -> Topology.Point {
    Topology.Point(
      x: .random(in: 0..<walk.side, using: &worldRandom), y: .random(in: 0..<walk.side, using: &worldRandom))
  }

  /// Everybody goes on; links out of range end, and those in range find each other.
  mutating func walkOneSecond() {
    guard let walk = scenario.walk else { return }
    for node in walkers.indices { step(node, walk) }
    let square = walk.range * walk.range
    for link in links.indices where links[link].isUp {
      let (one, other) = (links[link].central, links[link].peripheral)
      if walkers[one].place.squareDistance(to: walkers[other].place) > square { takeDown(link) }
    }
    let points = walkers.map { Topology.Point(x: $0.place.x / walk.side, y: $0.place.y / walk.side) }
    for (one, other) in Topology.pairs(points, range: walk.range / walk.side)
    where nodes[one].linkCount < walk.cap && nodes[other].linkCount < walk.cap {
      let link = link(one, other)
      guard !links[link].isUp, !links[link].isComing else { continue }
      reserve(link)
      queue.add(.linkUp, at: now + UInt64.random(in: scenario.air.setUp, using: &worldRandom), link)
    }
  }

  private mutating func step(_ node: Int, _ walk: Scenario.Walk) {
    guard walkers[node].pause <= 0 else {
      walkers[node].pause -= 1
      return
    }
    let (place, goal) = (walkers[node].place, walkers[node].goal)
    let distance = place.squareDistance(to: goal).squareRoot()
    guard distance > walkers[node].speed else {
      walkers[node].place = goal
      walkers[node].goal = anywhere(walk)
      walkers[node].speed = .random(in: walk.speed, using: &worldRandom)
      walkers[node].pause = .random(in: walk.pause, using: &worldRandom)
      return
    }
    let share = walkers[node].speed / distance
    walkers[node].place = Topology.Point(
      x: place.x + (goal.x - place.x) * share, y: place.y + (goal.y - place.y) * share)
  }
}

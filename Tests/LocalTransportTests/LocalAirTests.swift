import Testing

@testable import LocalTransport

@Suite struct LocalAirTests {
  func air(_ text: String) -> LocalAir {
    var air = LocalAir()
    let isRead = air.read(air: Array(text.utf8))
    #expect(isRead)
    return air
  }

  func place(_ text: String, of name: String = "ada") -> LocalAir.Place? {
    var air = LocalAir()
    let isRead = air.read(place: Array(text.utf8), of: name)
    #expect(isRead)
    return air.places[name]
  }

  @Test func withoutFilesEverybodyHearsEverybody() {
    let air = LocalAir()
    #expect(air.isInReach("ada", "bob"))
    #expect(air.conditions(between: "ada", "bob") == LocalAir.Conditions())
    #expect(air.signalStrength("ada", "bob") == -40)
  }

  @Test func aNodeIsHeardUpToTheShorterRange() {
    var air = LocalAir()
    air.places = ["ada": .init(x: 0, range: 10), "bob": .init(x: 10, range: 20), "eve": .init(x: 10.001, range: 20)]
    #expect(air.isInReach("ada", "bob") && air.isInReach("bob", "ada"))
    #expect(!air.isInReach("ada", "eve") && !air.isInReach("eve", "ada"))
    air.places["ada"]?.range = 0
    #expect(!air.isInReach("ada", "bob"))
    air.places["bob"]?.x = 0
    #expect(air.isInReach("ada", "bob"))
  }

  @Test func conditionsOfAPairStandOverThoseOfEverybody() {
    let air = air(
      """
      [air]
      loss = 0.25
      delay = 40
      [air bob ada]
      loss = 0.5
      jitter = 3
      frame-size = 100
      broken = yes
      """)
    #expect(air.conditions(between: "bob", "eve").loss == 0.25)
    #expect(air.conditions(between: "bob", "eve").delayMilliseconds == 40)
    let pair = air.conditions(between: "ada", "bob")
    #expect(pair == air.conditions(between: "bob", "ada"))
    #expect(pair.loss == 0.5 && pair.delayMilliseconds == 40 && pair.jitterMilliseconds == 3)
    #expect(pair.frameSize == 100 && pair.isBroken)
    #expect(!air.isInReach("ada", "bob") && air.isInReach("ada", "eve"))
  }

  @Test(arguments: [
    ("loss = -0.001", "loss = 0"), ("loss = 1.001", "loss = 0"), ("loss = x", "loss = 0"), ("loss = nan", "loss = 0"),
    ("delay = -1", "delay = 0"), ("delay = 60001", "delay = 0"), ("frame-size = 0", "frame-size = 509"),
    ("frame-size = 4097", "frame-size = 509"), ("broken = perhaps", "broken = no"),
  ])
  func aValueOutOfBoundsChangesNothing(_ wrong: String, _ same: String) {
    #expect(air("[air]\n\(wrong)\n") == air("[air]\n\(same)\n"))
  }

  @Test func valuesAtTheBoundsAreTaken() {
    let low = air("[air]\nloss = 0\ndelay = 0\njitter = 0\nframe-size = 1\n").conditions(between: "a", "b")
    #expect(low.frameSize == 1 && low.loss == 0)
    let high = air("[air]\nloss = 1\ndelay = 60000\njitter = 60000\nframe-size = 4096\n").conditions(between: "a", "b")
    #expect(high.loss == 1 && high.delayMilliseconds == 60_000 && high.frameSize == 4_096)
  }

  @Test func aValueThatCannotBeUnderstoodLeavesTheFormerInForce() {
    var air = air("[air]\nloss = 0.5\ndelay = 10\n[air ada bob]\nbroken = yes\nframe-size = 80\n")
    _ = air.read(air: Array("[air]\nloss = much\ndelay = 20\n[air ada bob]\nbroken = maybe\nframe-size = x\n".utf8))
    #expect(air.conditions(between: "eve", "bob").loss == 0.5)
    #expect(air.conditions(between: "eve", "bob").delayMilliseconds == 20)
    #expect(air.conditions(between: "ada", "bob").isBroken)
    #expect(air.conditions(between: "ada", "bob").frameSize == 80)
    let isRead = air.read(air: Array("[air]\n".utf8))
    #expect(isRead)
    #expect(air.conditions(between: "ada", "bob") == LocalAir.Conditions())
  }

  @Test func aFileThatIsNoINIFileLeavesTheFormerInForce() {
    var air = air("[air]\nloss = 0.5\n")
    let former = air
    for broken in ["[air\nloss = 0.1\n", "loss\n[air]\nloss = 0.1\n"] {
      let isRead = air.read(air: Array(broken.utf8))
      #expect(!isRead, "\(broken)")
      #expect(air == former)
    }
    let isRead = air.read(place: Array("x = 1\n[y".utf8), of: "ada")
    #expect(!isRead)
    #expect(air == former)
  }

  @Test func aPlaceIsReadAndWritten() {
    #expect(place("x = 1.5\ny = -2\nrange = 10\n") == .init(x: 1.5, y: -2, range: 10))
    #expect(place("") == .init())
    #expect(place("range = -1\n") == .init())
    #expect(place("x = nan\ny = 3\n") == .init(y: 3))
    for place in [LocalAir.Place(), .init(x: 0.25, y: -7, range: 0), .init(x: 1e9)] {
      #expect(self.place(LocalAir.text(place)) == place)
    }
  }

  @Test func aCoordinateThatCannotBeUnderstoodLeavesTheNodeWhereItIs() {
    var air = LocalAir()
    let isPlaced = air.read(place: Array("x = 5\ny = 6\nrange = 7\n".utf8), of: "ada")
    #expect(isPlaced)
    let isMoved = air.read(place: Array("x = east\ny = 8\nrange = far\n".utf8), of: "ada")
    #expect(isMoved)
    #expect(air.places["ada"] == .init(x: 5, y: 8, range: 7))
  }

  @Test func signalStrengthFallsWithDistanceAndNeverTraps() {
    var air = LocalAir()
    air.places = ["ada": .init(), "bob": .init(x: 10)]
    #expect(air.signalStrength("ada", "bob") == -65)
    air.places["bob"]?.x = 1e6
    #expect(air.signalStrength("ada", "bob") == -128)
    air.places = ["ada": .init(x: -1.7e308, y: 1.7e308), "bob": .init(x: 1.7e308, y: -1.7e308)]
    #expect(air.isInReach("ada", "bob"))
    #expect(air.signalStrength("ada", "bob") == -128)
  }
}

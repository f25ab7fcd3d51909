import Testing

@testable import Diagnosing

/// One test for each finding: the facts that lead to it, and no other trouble beside it.
struct DiagnosisTests {
  private static let working = DiagnosisFacts(
    kernel: .init(hasBluetooth: true, controllers: ["hci0"]),
    switches: [.init(name: "hci0", isSoft: false, isHard: false)],
    bus: .answers(
      .init(process: "bluetoothd", user: 0),
      [.init(name: "hci0", address: "00:11:22:33:44:55", advertisements: 1, freeAdvertisements: 4, hasOurService: true)]
    ),
    wanted: nil,
    daemon: .answers(
      transports: [.init(name: "bluez", scheme: "bluez", state: "poweredOn")],
      links: [.init(isDialled: true, isReady: true, hasMissed: false)], refusedAdvertisements: 0))

  private func findings(_ change: (inout DiagnosisFacts) -> Void) -> [Finding] {
    var facts = Self.working
    change(&facts)
    return Diagnosis(facts).findings
  }

  private func troubles(_ change: (inout DiagnosisFacts) -> Void) -> [String] {
    let troubles = findings(change).filter { $0.state != .ok }
    #expect(troubles.allSatisfy { $0.remedy?.isEmpty == false }, "every trouble has a remedy")
    return troubles.map { "\($0.layer.rawValue) \($0.state.rawValue)" }
  }

  private func adapter(_ facts: inout DiagnosisFacts, _ change: (inout DiagnosisFacts.Adapter) -> Void) {
    guard case .answers(let owner, var adapters) = facts.bus else { return }
    change(&adapters[0])
    facts.bus = .answers(owner, adapters)
  }

  private func links(_ links: [DiagnosisFacts.Link], refused: UInt64 = 0) -> DiagnosisFacts.Daemon {
    .answers(
      transports: [.init(name: "bluez", scheme: "bluez", state: "poweredOn")], links: links,
      refusedAdvertisements: refused)
  }

  @Test func whatWorksIsWellInEveryLayer() {
    let findings = Diagnosis(Self.working).findings
    #expect(findings.allSatisfy { $0.state == .ok && $0.remedy == nil })
    #expect(findings.map(\.layer) == Finding.Layer.allCases.filter { $0 != .name && $0 != .dialling } + [.dialling])
    #expect(DiagnosisText.verdict(Diagnosis(Self.working)) == nil)
  }

  @Test func noController() {
    let found = findings {
      $0.kernel.controllers = []
      $0.bus = .answers(.init(), [])
    }
    #expect(found.first?.layer == .kernel && found.first?.state == .fault)
    #expect(found.contains { $0.layer == .adapter && $0.state == .fault })
    #expect(!found.contains { $0.layer == .power })
  }

  @Test func kernelWithoutBluetooth() {
    let found = findings {
      $0.kernel = .init(hasBluetooth: false, controllers: [])
      $0.bus = .withoutBlueZ(isInstalled: true)
    }
    #expect(found.first?.remedy?.contains("modprobe") == true)
  }

  @Test func controllerThatBlueZDoesNotHave() {
    #expect(troubles { $0.bus = .answers(.init(), []) } == ["adapter fault"])
  }

  @Test func softAndHardBlock() {
    #expect(troubles { $0.switches[0].isSoft = true } == ["rfkill fault"])
    #expect(troubles { $0.switches[0].isHard = true } == ["rfkill fault"])
    let found = findings { $0.switches[0].isHard = true }
    #expect(found.first { $0.layer == .rfkill }?.remedy?.contains("rfkill unblock") == false)
  }

  @Test func switchOfAnotherAdapterIsNoFault() {
    func two(_ facts: inout DiagnosisFacts) {
      guard case .answers(let owner, let adapters) = facts.bus else { return }
      facts.bus = .answers(owner, adapters + [.init(name: "hci1", address: "00:11:22:33:44:66")])
      facts.switches.append(.init(name: "hci1", isSoft: true, isHard: false))
    }
    #expect(troubles { two(&$0) } == [])
    #expect(
      troubles {
        two(&$0)
        $0.wanted = "hci1"
      } == ["rfkill fault"])
    #expect(
      troubles {
        two(&$0)
        $0.switches.append(.init(name: "dell-bluetooth", isSoft: false, isHard: true))
      } == ["rfkill fault"])
  }

  @Test func adapterOfTheDaemonIsLookedAt() {
    func use(_ name: String, _ facts: inout DiagnosisFacts) {
      guard case .answers(let owner, let adapters) = facts.bus else { return }
      facts.bus = .answers(owner, adapters + [.init(name: "hci1", address: "00:11:22:33:44:66", isPowered: false)])
      facts.daemon = .answers(
        transports: [.init(name: "bluez:\(name)", scheme: "bluez", state: "poweredOn")], links: [],
        refusedAdvertisements: 0)
    }
    #expect(troubles { use("hci0", &$0) } == [])
    #expect(troubles { use("00:11:22:33:44:66", &$0) } == ["power fault"])
    #expect(troubles { use("hci5", &$0) } == ["adapter fault"])
  }

  @Test func noBus() {
    #expect(troubles { $0.bus = .absent(reason: "no such file.\nindeed") } == ["bus fault"])
  }

  @Test func bluetoothdAbsent() {
    #expect(troubles { $0.bus = .withoutBlueZ(isInstalled: true) } == ["bluetoothd fault"])
    #expect(troubles { $0.bus = .withoutBlueZ(isInstalled: false) } == ["bluetoothd fault"])
    #expect(troubles { $0.bus = .silent(.init(), reason: "no answer in time") } == ["bluetoothd fault"])
  }

  @Test func policy() { #expect(troubles { $0.bus = .denied(.init()) } == ["policy fault"]) }

  @Test func nameOfBlueZTaken() {
    #expect(troubles { $0.bus = .denied(.init(process: "mock", user: 1_000)) } == ["name warning", "policy fault"])
  }

  @Test func serviceOfAnotherDaemon() {
    #expect(troubles { $0.daemon = .absent(socket: "/x") } == ["name warning", "daemon fault"])
    let elsewhere = DiagnosisFacts.Daemon.answers(
      transports: [.init(name: "bluez:hci1", scheme: "bluez", state: "poweredOn")], links: [], refusedAdvertisements: 0)
    #expect(
      troubles {
        $0.daemon = elsewhere
        $0.wanted = "hci0"
      } == ["name warning"])
    #expect(
      troubles {
        adapter(&$0) { $0.isPowered = false }
        $0.daemon = .answers(
          transports: [.init(name: "bluez:00:11:22:33:44:55", scheme: "bluez", state: "poweredOff")], links: [],
          refusedAdvertisements: 0)
      } == ["power fault", "transport fault"], "a registration outlives the power")
  }

  @Test func adapterThatIsMeantIsMissing() {
    #expect(troubles { $0.wanted = "hci7" } == ["adapter fault"])
    #expect(troubles { $0.wanted = "00:11:22:33:44:55" } == [])
  }

  @Test func switchedOff() {
    #expect(troubles { adapter(&$0) { $0.isPowered = false } } == ["power fault"])
  }

  @Test func lowEnergyDisabled() {
    #expect(
      troubles { adapter(&$0) { ($0.hasServices, $0.hasAdvertising) = (false, false) } } == ["low-energy fault"])
    #expect(troubles { adapter(&$0) { $0.roles = ["central"] } } == ["low-energy fault"])
    #expect(troubles { adapter(&$0) { $0.hasServices = false } } == ["low-energy fault"])
    #expect(troubles { adapter(&$0) { $0.roles = ["central-peripheral", "central", "peripheral"] } } == [])
    #expect(troubles { adapter(&$0) { $0.roles = nil } } == [])
  }

  @Test func advertisingRefused() {
    #expect(troubles { adapter(&$0) { $0.hasAdvertising = false } } == ["advertising fault"])
    #expect(
      troubles {
        adapter(&$0) { ($0.freeAdvertisements, $0.hasOurService) = (0, false) }
        $0.daemon = .answers(transports: [], links: [], refusedAdvertisements: 0)
      } == ["advertising fault", "transport warning"])
    #expect(
      troubles {
        adapter(&$0) { $0.advertisements = 0 }
        $0.daemon = links([], refused: 3)
      } == ["advertising fault"])
  }

  @Test func kernelThatDialsOnlyWhileItDiscovers() {
    let missed = DiagnosisFacts.Link(isDialled: true, isReady: false, hasMissed: true)
    #expect(troubles { $0.daemon = links([missed]) } == [], "one peer may be out of range")
    #expect(troubles { $0.daemon = links([missed, missed]) } == ["dialling fault"])
    let dialled = DiagnosisFacts.Link(isDialled: true, isReady: true, hasMissed: false)
    #expect(troubles { $0.daemon = links([missed, missed, dialled]) } == [])
  }

  @Test func controllerThatDoesNotDialBesideInboundLinks() {
    let missed = DiagnosisFacts.Link(isDialled: true, isReady: false, hasMissed: true)
    let inbound = DiagnosisFacts.Link(isDialled: false, isReady: true, hasMissed: false)
    #expect(troubles { $0.daemon = links([missed, missed, inbound]) } == ["dialling warning"])
  }

  @Test(arguments: [
    ("poweredOff", "transport fault"), ("unauthorized", "transport fault"), ("unsupported", "transport fault"),
    ("resetting", "transport warning"),
  ])
  func stateOfTheTransport(state: String, trouble: String) {
    let found = troubles {
      adapter(&$0) { $0.hasOurService = false }
      $0.daemon = .answers(
        transports: [.init(name: "bluez", scheme: "bluez", state: state)], links: [], refusedAdvertisements: 0)
    }
    #expect(found == [trouble])
  }

  @Test func daemonWithoutBluetooth() {
    let found = troubles {
      adapter(&$0) { $0.hasOurService = false }
      $0.daemon = .answers(
        transports: [.init(name: "local", scheme: "local", state: "poweredOn")], links: [], refusedAdvertisements: 0)
    }
    #expect(found == ["transport warning"])
  }

  @Test func daemonThatCannotBeAsked() {
    func quiet(_ facts: inout DiagnosisFacts) { adapter(&facts) { $0.hasOurService = false } }
    for daemon: DiagnosisFacts.Daemon in [.absent(socket: "/x"), .denied(socket: "/x"), .failed(reason: "It is old.")] {
      var facts = Self.working
      quiet(&facts)
      facts.daemon = daemon
      let diagnosis = Diagnosis(facts)
      #expect(diagnosis.faults.map(\.layer) == [.daemon] && diagnosis.lacksDaemonOnly)
    }
  }

  @Test func verdictNamesTheFirstFault() {
    var facts = Self.working
    facts.switches[0].isSoft = true
    facts.daemon = .absent(socket: "/x")
    let diagnosis = Diagnosis(facts)
    #expect(!diagnosis.lacksDaemonOnly)
    #expect(DiagnosisText.verdict(diagnosis)?.hasPrefix("The layer at fault is rfkill: ") == true)
    let lines = DiagnosisText.lines(diagnosis.findings)
    #expect(lines.count == diagnosis.findings.count + diagnosis.findings.count { $0.remedy != nil })
  }

  @Test func factsAreSentencesOnOneLine() {
    let long = String(repeating: "x\n", count: 5_000)
    for bus: DiagnosisFacts.Bus in [.absent(reason: long), .silent(.init(process: long), reason: long)] {
      for finding in findings({ $0.bus = bus }) {
        #expect(finding.fact.hasSuffix(".") && !finding.fact.contains("\n") && finding.fact.count < 400)
      }
    }
  }
}

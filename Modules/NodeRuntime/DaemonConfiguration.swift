internal import Archive
internal import Arguments
internal import Glibc
internal import Identities
internal import Links
internal import Storing
internal import Telemetry
internal import Transports

/// Everything the daemon was told, checked.
struct DaemonConfiguration: Sendable {
  struct ChosenTransport: Sendable {
    var factory: TransportFactory
    var options: TransportOptions
    /// `file:line` when it comes from the configuration file.
    var place: String?
  }

  var name: PeerName?
  var icon: PeerIcon?
  var isBot: Bool
  var isNamedInRoutes: Bool
  var communityKey: CommunityKey?
  var statePath: String
  var key: KeySource?
  var retention = RetentionPolicy()
  /// What a step of the move into the sealed form waits for.
  var proving = Migration.Settings(beginsByItself: false)
  var socketPath: String
  var group: String?
  var logLevel: LogLevel
  var isJSONLog: Bool
  var transports: [ChosenTransport]

  init(
    _ invocation: Invocation, command: Command, environment: [String: String], user: UInt32,
    factories: [TransportFactory]
  ) throws(DaemonError) {
    let paths = StandardPaths(environment: environment, user: user)
    let early = Settings(invocation, environment: environment)
    let file = try Self.file(early.text("config"), standard: paths.configuration, command: command)
    let settings = Settings(invocation, environment: environment, file: file)
    do throws(SettingError) {
      isBot = try settings.flag("bot")
      isNamedInRoutes = try !settings.flag("no-route")
      key = try KeySource(settings)
      if let days = try settings.integer("keep-days", in: 1...36_500) {
        retention.ageMilliseconds = UInt64(days) * 86_400_000
      }
      if let megabytes = try settings.integer("keep-megabytes", in: 1...1_048_576) {
        retention.bytes = UInt64(megabytes) << 20
      }
      if let days = try settings.integer("seal-days", in: NodeRuntimeLimits.sealDays) { proving.days = days }
      if let restarts = try settings.integer("seal-restarts", in: NodeRuntimeLimits.sealRestarts) {
        proving.restarts = restarts
      }
    } catch {
      throw .setting(error)
    }
    name = try settings.text("name").map { (text) throws(DaemonError) in
      guard let name = try? PeerName(text), !name.isLikeID else {
        throw .setting(
          settings.error(
            "name",
            expected:
              "1 to 32 bytes of visible text that neither begins with # nor is like an ID (eight or more hex digits)"
          ))
      }
      return name
    }
    icon = try settings.text("icon").map { (text) throws(DaemonError) in
      guard let icon = try? PeerIcon(text) else { throw .setting(settings.error("icon", expected: "one emoji")) }
      return icon
    }
    communityKey = try settings.text("community-key").map { (path) throws(DaemonError) in
      do throws(CommunityKeyFileError) { return try CommunityKeyFile.read(path) } catch {
        throw .communityKey(path: path, error)
      }
    }
    guard let level = LogLevel(name: settings.text("log-level") ?? "") else {
      throw .setting(settings.error("log-level", expected: "trace, debug, info, notice, warning or error"))
    }
    logLevel = level
    let format = settings.text("log-format") ?? "text"
    guard ["text", "json"].contains(format) else {
      throw .setting(settings.error("log-format", expected: "text or json"))
    }
    isJSONLog = format == "json"
    statePath = settings.text("state") ?? paths.state
    socketPath = settings.text("socket") ?? paths.socket
    group = settings.text("group") ?? (paths.isSystem && Self.groupExists("relaychat") ? "relaychat" : nil)
    transports = try Self.transports(settings, file: file, factories: factories)
  }

  private static func file(
    _ asked: String?, standard: String, command: Command
  ) throws(DaemonError) -> ConfigurationFile? {
    let file: ConfigurationFile?
    do { file = try ConfigurationFile.read(path: asked ?? standard, for: command) } catch {
      throw .configuration(error)
    }
    if file == nil, let asked { throw .missingConfiguration(path: asked) }
    return file
  }

  private static func transports(
    _ settings: Settings, file: ConfigurationFile?, factories: [TransportFactory]
  ) throws(DaemonError) -> [ChosenTransport] {
    var chosen: [ChosenTransport] = []
    for text in settings.all("transport") {
      let options: TransportOptions
      do { options = try TransportOptions(parsing: text) } catch { throw .transport(text, error, place: nil) }
      chosen.append(try choose(options, place: nil, factories: factories))
    }
    if chosen.isEmpty, let file {
      for section in file.document.sections where section.name.hasPrefix("transport.") {
        var values = Dictionary(
          file.entries(inSection: section.name).map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
        let scheme = values.removeValue(forKey: "scheme") ?? String(section.name.dropFirst("transport.".count))
        chosen.append(
          try choose(
            TransportOptions(scheme: scheme, values: values), place: "\(file.path):\(section.line)",
            factories: factories))
      }
    }
    guard !chosen.isEmpty else { throw .noTransport(known: factories.map(\.usage)) }
    return chosen
  }

  private static func choose(
    _ options: TransportOptions, place: String?, factories: [TransportFactory]
  ) throws(DaemonError) -> ChosenTransport {
    guard let factory = factories.first(where: { $0.scheme == options.scheme }) else {
      throw .unknownScheme(options.scheme, known: factories.map(\.usage), place: place)
    }
    return ChosenTransport(factory: factory, options: options, place: place)
  }

  private static func groupExists(_ name: String) -> Bool { unsafe getgrnam(name) != nil }
}

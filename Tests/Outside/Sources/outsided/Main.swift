import NodeRuntime
import Transports

// snippet: main
@main
struct Outside {
  static let post = TransportFactory(scheme: "post", usage: "post:DIRECTORY[,name=NAME]") {
    options, context throws(TransportConfigurationError) in
    for option in options.values.keys where option != "path" && option != "name" {
      throw TransportConfigurationError(option: option, reason: "there is no such option; known are path and name")
    }
    guard let directory = options.values["path"], directory.utf8.count <= 60 else {
      throw TransportConfigurationError(option: "path", reason: "name a directory of at most 60 bytes")
    }
    let name = options.values["name"] ?? context.nodeName
    guard !name.isEmpty, name.utf8.count <= 32, !name.contains("/") else {
      throw TransportConfigurationError(option: "name", reason: "use 1 to 32 bytes without a slash")
    }
    return PostTransport(directory: directory, name: name, context: context)
  }

  static func main() async { await Daemon.main(transports: [post]) }
}
// end snippet

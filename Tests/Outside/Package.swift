// swift-tools-version: 6.2
import PackageDescription

// A daemon with a transport of its own, as somebody would build it who uses RelayChat and does not change it.
let package = Package(
  name: "outside",
  dependencies: [.package(name: "relaychat-linux", path: "../..")],
  targets: [
    .executableTarget(
      name: "outsided",
      dependencies: [
        .product(name: "NodeRuntime", package: "relaychat-linux"),
        .product(name: "Transports", package: "relaychat-linux"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
  ]
)

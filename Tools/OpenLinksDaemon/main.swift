import Glibc
import LocalTransport
import NodeRuntime
import OpenLinks

// The daemon with links that protect nothing: what `Tools/demo` lets the tap listen to, so that silence on sealed links
// means something. Only the local transport, so it can never go on the air.
exit(
  await Daemon.run(
    arguments: Array(CommandLine.arguments.dropFirst()), environment: [:],
    transports: [LocalTransportFactory.factory], security: { OpenLinks(ownCard: $0) }))

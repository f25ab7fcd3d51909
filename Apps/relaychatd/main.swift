import LocalTransport
import NodeRuntime

await Daemon.main(transports: [LocalTransportFactory.factory])

import BlueZTransport
import LocalTransport
import NodeRuntime

await Daemon.main(transports: [BlueZTransportFactory.factory, LocalTransportFactory.factory])

package verbena.nic.kind.fourth;

import verbena.nic.engine.Engine;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.QueuePairWiring;
import verbena.nic.roce.RoceKind;
import verbena.transport.QueuePairProtocol;
import verbena.transport.rc.ReliableConnection;

/// The InfiniBand transport in frames, where the shortest messages of reliable connections need none.
final class TubeKind extends RoceKind {
    private final TubeLink link;

    TubeKind(DeviceHost host, TubeLink link) {
        super(host);
        this.link = link;
        Engine engine = host.engine();
        link.listener = telegram -> engine.hand(
                telegram.toQpn(), to -> to instanceof TubeConnection connection && connection.onTelegram(telegram));
    }

    @Override
    protected QueuePairProtocol reliable(QueuePairWiring wiring) {
        return new TubeConnection(new ReliableConnection(wiring.parts()), link);
    }
}

package verbena.nic.roce;

import java.lang.foreign.MemorySegment;
import verbena.nic.ManagementAgent;
import verbena.nic.ManagementPort;
import verbena.nic.kind.DeviceHost;
import verbena.verbs.Gid;
import verbena.verbs.spi.OwnedObject;
import verbena.wire.mad.Mad;

/// An agent's port on queue pair 1 of one device.
final class GsiPort extends OwnedObject implements ManagementPort {
    private final DeviceHost host;
    private final Gsi gsi;
    private final int managementClass;

    GsiPort(DeviceHost host, Gsi gsi, int managementClass, ManagementAgent agent) {
        super("agent of management class 0x%02x".formatted(managementClass));
        this.host = host;
        this.gsi = gsi;
        this.managementClass = managementClass;
        madeFrom(host.context());
        boolean added = false;
        try {
            gsi.add(managementClass, agent);
            added = true;
        } finally {
            if (!added) {
                abandon();
            }
        }
    }

    @Override
    public void send(MemorySegment mad, Gid local, Gid remote) {
        checkOpen("send");
        if (mad.byteSize() != Mad.BYTES) {
            throw new IllegalArgumentException(
                    "mad: a management datagram has " + Mad.BYTES + " bytes, got " + mad.byteSize());
        }
        MemorySegment copy = MemorySegment.ofArray(new byte[Mad.BYTES]).copyFrom(mad);
        host.engine().call(() -> {
            gsi.send(copy, local, remote);
            return true;
        });
    }

    @Override
    protected boolean help() {
        return host.engines().help();
    }

    @Override
    protected void release() {
        gsi.remove(managementClass);
    }
}

package verbena.nic;

import java.lang.foreign.MemorySegment;
import verbena.verbs.Gid;
import verbena.verbs.spi.OwnedObject;
import verbena.wire.cm.Mad;

/// The way of a [ManagementAgent] to the network. Closing it ends the agent's duty. Safe for use by any thread.
public final class ManagementPort extends OwnedObject {
    private final DeviceHost host;
    private final Gsi gsi;
    private final int managementClass;

    ManagementPort(DeviceHost host, Gsi gsi, int managementClass, ManagementAgent agent) {
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

    /// Sends a datagram to queue pair 1 of `remote`: whether it arrives, nobody knows. When too many wait to leave
    /// it is dropped and counted (`management-overflows`).
    ///
    /// @param mad 256 bytes, of any class; copied
    /// @param local an own address of the device
    /// @throws IllegalArgumentException when `mad` has another size
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

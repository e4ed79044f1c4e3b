package verbena.nic.link.sharing;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.MessageBlock;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;

/// The kernel's group of sockets bound to a shared address, as seen by the link of one of these sockets. A [Survey]
/// finds out which socket has which index in the group.
final class SocketGroup implements Survey.Ground {
    private static final int NONE = -1;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final LinuxSockets linux;
    private final MessageBlock outgoing;
    private final Presence presence;
    private final Gid gid;
    private final int scopeId;
    private final int port;
    private final Runnable wakeup;
    private final Frame probe;
    private int socket = NONE;
    private boolean stampsArrivals;

    /// @param outgoing free whenever no call of this object is under way
    /// @param wakeup makes the link's sleeping thread look when the survey is due
    SocketGroup(
            LinuxSockets linux,
            Arena arena,
            MessageBlock outgoing,
            Presence presence,
            GidEntry at,
            int port,
            Runnable wakeup) {
        this.linux = linux;
        this.outgoing = outgoing;
        this.presence = presence;
        this.gid = at.gid();
        this.scopeId = gid.isLinkLocal() ? at.interfaceIndex() : 0;
        this.port = port;
        this.wakeup = wakeup;
        probe = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
    }

    /// Called when this link's UDP socket is about to be bound: bound sockets are in the group.
    void onSocket(int udpSocket, boolean hasNeighbours) {
        assert socket == NONE : "one socket at an address";
        socket = udpSocket;
        stampArrivals(hasNeighbours);
    }

    /// Makes the kernel record when packets arrive, or stops it. Recording costs a little for each packet, and only
    /// packets that are passed on to neighbours need it.
    void stampArrivals(boolean isWanted) {
        if (socket != NONE && isWanted != stampsArrivals) {
            stampsArrivals = isWanted;
            int _ = linux.setOption(socket, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_TIMESTAMPNS, isWanted ? 1 : 0);
        }
    }

    /// Returns whether an arrival is a probe of a link of the group: one from this same address and port.
    boolean isProbe(Frame frame) {
        return Steering.isProbe(frame)
                && frame.sourcePort == port
                && frame.sourceHigh == gid.high()
                && frame.sourceLow == gid.low();
    }

    @Override
    public boolean isTaken(int slot) {
        return presence.isTaken(slot);
    }

    @Override
    public int neighbours() {
        return presence.count();
    }

    @Override
    public void hurry() {
        wakeup.run();
    }

    @Override
    public long cookie() {
        return RANDOM.nextLong();
    }

    @Override
    public void probe(int index, long cookie) {
        Steering.putProbe(probe, index, presence.slot(), cookie);
        probe.destinationHigh = gid.high();
        probe.destinationLow = gid.low();
        outgoing.prepareSend(0, 0, probe);
        outgoing.address(0, probe, port, scopeId);
        int _ = linux.sendMessages(socket, outgoing.headersFrom(0), 1);
    }

    @Override
    public boolean steer(int[] indexes) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment program = Steering.layOut(Steering.program(indexes), call);
            // A sandbox may forbid it: then all packets are forwarded.
            return linux.setOption(socket, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_ATTACH_REUSEPORT_CBPF, program) >= 0;
        }
    }
}

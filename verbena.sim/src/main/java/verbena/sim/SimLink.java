package verbena.sim;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Link;
import verbena.nic.link.Seal;
import verbena.nic.link.UdpSeal;
import verbena.transport.Protocol;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.roce.RoceV2;

/// A device's way into the simulated wire. It behaves as a socket does. It seals what it sends, and judges what
/// it receives by what a socket can see. It takes fewer frames when its way out is full, and loses arrivals when
/// the device has not received for long.
///
/// A device with several engines has one for each, at the same addresses. Each hears what is for the queue pair
/// numbers of its slot; the first also hears what is for queue pair 1.
final class SimLink implements Link {
    /// Packets that may wait to be received; more are lost, as in a socket's buffer.
    static final int ARRIVALS_MAX = 4_096;

    private static final int SOURCE_PORT = RoceV2.UDP_PORT;
    /// A slot is the eight highest bits of a queue pair number.
    private static final int SLOT_SHIFT = 16;

    /// The wire that a link sends into.
    interface Wire {
        long nowNanos();

        /// Returns whether the packets that this link has sent leave room for more.
        boolean hasRoom(SimLink from);

        void send(SimLink from, Frame frame);

        /// Takes back a packet that has been received.
        void free(Flight flight);
    }

    final String name;
    /// A number that stands for the device in the trace.
    final int number;

    private final Wire wire;
    private final List<GidEntry> gids;
    private final int packetMax;
    private final int slot;
    private final Seal seal = new UdpSeal(SOURCE_PORT);
    private final Set<Gid> groups = new HashSet<>();
    private final Flight[] arrivals = new Flight[ARRIVALS_MAX];
    private int arrivalsFirst;
    private int arrivalsCount;
    private int arrivalsMax = ARRIVALS_MAX;
    private long nanosPerPacket;
    private boolean isClosed;
    /// The device works on what it has received last, and takes no more before then.
    private long busyUntil = Long.MIN_VALUE;

    // The network's, of this link as a sender.

    /// The time when the last bit of the last packet has left.
    long freeNanos;
    /// Everything sent before this time is lost.
    long blackHoleUntil = Long.MIN_VALUE;
    /// Every answer sent before this time is lost: acknowledgements, NAKs, and what READs and atomics ask for.
    long muteUntil = Long.MIN_VALUE;
    /// Packets sent.
    long sent;
    /// Those that are to be overtaken: each stands where the number of the packet is that it will follow.
    final @Nullable Flight[] overtaken = new @Nullable Flight[2 * NetworkFaults.REORDER_PACKETS_MAX];

    SimLink(Wire wire, String name, int number, List<GidEntry> gids, int packetMax, int slot) {
        this.wire = wire;
        this.name = name;
        this.number = number;
        this.gids = gids;
        this.packetMax = packetMax;
        this.slot = slot;
    }

    // ---- the network's side

    /// Returns whether this packet arrives here.
    boolean hears(Frame frame) {
        if (isClosed) {
            return false;
        }
        long high = frame.destinationHigh;
        long low = frame.destinationLow;
        for (int i = 0; i < gids.size(); i++) {
            Gid own = gids.get(i).gid();
            if (own.low() == low && own.high() == high) {
                return slot == NO_SLOT || slot == Bth.destinationQp(frame.slot, frame.start) >>> SLOT_SHIFT;
            }
        }
        return !groups.isEmpty() && groups.contains(new Gid(high, low));
    }

    @Override
    public boolean hasArrivals() {
        return arrivalsCount > 0 && wire.nowNanos() >= busyUntil;
    }

    /// Sets how many packets may wait from now on, and how long receiving a packet takes.
    void slow(int packets, long nanosPerPacket) {
        arrivalsMax = packets;
        this.nanosPerPacket = nanosPerPacket;
    }

    /// Returns the time when a packet can be received; [Protocol#NEVER] when nothing has arrived.
    long readableNanos() {
        return arrivalsCount > 0 ? busyUntil : Protocol.NEVER;
    }

    /// Takes a packet that arrives; returns false when there is no room for it.
    boolean arrive(Flight flight) {
        if (arrivalsCount == arrivalsMax) {
            return false;
        }
        arrivals[(arrivalsFirst + arrivalsCount++) % ARRIVALS_MAX] = flight;
        return true;
    }

    // ---- the engine's side

    @Override
    public List<GidEntry> gids() {
        return gids;
    }

    @Override
    public int slot() {
        return slot;
    }

    @Override
    public int packetMax() {
        return packetMax;
    }

    @Override
    public int receive(Frame[] frames, int from, int count) {
        long now = wire.nowNanos();
        if (now < busyUntil) {
            return 0;
        }
        int n = 0;
        while (n < count && arrivalsCount > 0) {
            Flight flight = arrivals[arrivalsFirst];
            arrivalsFirst = (arrivalsFirst + 1) % ARRIVALS_MAX;
            arrivalsCount--;
            Frame frame = frames[from + n++];
            frame.copyFrom(flight.frame);
            seal.judge(frame, 0);
            wire.free(flight);
        }
        busyUntil = now + n * nanosPerPacket;
        return n;
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        int n = 0;
        while (n < count && wire.hasRoom(this)) {
            Frame frame = frames[from + n];
            seal.seal(frame, n); // the i-th of one send has identification i, as with UDP GSO
            wire.send(this, frame);
            n++;
        }
        return n;
    }

    @Override
    public int sourcePort(Gid from, Gid to) {
        return SOURCE_PORT;
    }

    @Override
    public void join(Gid group) {
        if (!group.isMulticast()) {
            throw new IllegalArgumentException("join: " + group + " is no multicast address");
        }
        groups.add(group);
    }

    @Override
    public void leave(Gid group) {
        groups.remove(group);
    }

    /// Does nothing: no thread sleeps here, and the world drives.
    @Override
    public void await(long timeoutNanos) {}

    @Override
    public void wakeup() {}

    @Override
    public long malformed() {
        return 0;
    }

    @Override
    public long unsendable() {
        return 0;
    }

    @Override
    public void close() {
        isClosed = true;
        groups.clear();
    }
}

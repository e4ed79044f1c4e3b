package verbena.sim.ethernet;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Frames of real hosts on an [EthernetNetwork]. Frames come in with the time of the caller's clock, pass links and
/// switches in the network's own time, and go out when that time has come. So the network has the rates, delays,
/// queues, marks, pauses and losses that it has in virtual time.
///
/// Each host of the network stands for one outside. A frame goes to the host that has its destination address: each
/// has [#mac], and others are learned from the frames that hosts send, as switches do. Groups and unknown addresses
/// go to all other hosts. The priority is that of a VLAN tag, or else the upper three bits of the DSCP.
///
/// A host's card sends as fast as its link, and obeys pauses. Meanwhile frames wait in the card, which takes
/// [#QUEUE_BYTES] and no more ([#hasRoom]); the caller lets the others wait outside. So nothing is lost between the
/// host and a switch that pauses.
///
/// One thread. Allocates nothing for a frame.
public final class Emulation {
    /// The longest frame without check sequence: 9,000 bytes, and an Ethernet header with a tag.
    public static final int FRAME_MAX = 9_018;
    /// The most bytes that a host's card queues before it takes no more, and one frame.
    public static final int QUEUE_BYTES = 64 << 10;
    /// Frames under way at once.
    private static final int FRAMES = 1 << 14;

    private static final int SLOT_BYTES = 9_024;
    /// The bytes that a frame adds on the wire: preamble, check sequence, gap.
    private static final int WIRE_BYTES = 24;

    private final EthernetNetwork network;
    private final Calendar calendar;
    private final MacTable macs;
    private final Outlet outlet;
    private final MemorySegment[] slots = new MemorySegment[FRAMES];
    private final int[] lengths = new int[FRAMES];
    private final int[] free = new int[FRAMES];
    private int freeCount;
    private final long beganNanos;
    /// The caller's time in [#advance].
    private long caller;

    private long offered;
    private long malformed;
    private long crowded;

    /// A taker of the frames that have arrived.
    public interface Outlet {
        /// Takes a frame for a host, which is valid during this call.
        ///
        /// @param frame     begins with it
        /// @param lateNanos how much later this is than the network would have had it
        void send(int host, MemorySegment frame, int length, long lateNanos);
    }

    /// Takes a network that has begun, and has no transfers.
    ///
    /// @param nowNanos the time of the caller's clock, which is the network's beginning
    public Emulation(EthernetNetwork network, Arena arena, Outlet outlet, long nowNanos) {
        this.network = network;
        this.calendar = network.calendar();
        this.outlet = outlet;
        this.beganNanos = nowNanos;
        this.macs = new MacTable();
        MemorySegment memory = arena.allocate((long) FRAMES * SLOT_BYTES, 64);
        for (int i = 0; i < FRAMES; i++) {
            slots[i] = memory.asSlice((long) i * SLOT_BYTES, SLOT_BYTES);
            free[freeCount++] = i;
        }
        network.pool().onFrameOver(frame -> free[freeCount++] = frame);
        for (Host host : network.hosts()) {
            macs.learn(mac(host.number), host.number);
            host.outside((packet, now) -> deliver(host, packet));
        }
    }

    /// Returns the Ethernet address of a host: a locally administered one.
    public static long mac(int host) {
        return 0x0276_0000_0000L + host + 1;
    }

    // ---- in

    /// Returns whether the card of a host takes another frame now.
    public boolean hasRoom(int host) {
        return freeCount > network.hosts().size()
                && network.hosts().get(host).port().queuedBytes() < QUEUE_BYTES;
    }

    /// Takes a frame that a host sends; copies it. A frame that is too short or too long is dropped and counted,
    /// and so is one that finds no room.
    ///
    /// @param frame    begins with it
    /// @param length   without check sequence
    /// @param nowNanos the time of the caller's clock, not before that of an earlier call
    public void offer(int host, MemorySegment frame, int length, long nowNanos) {
        advance(nowNanos);
        offered++;
        if (length < FrameHeaders.MAC_BYTES || length > FRAME_MAX) {
            malformed++;
            return;
        }
        long source = FrameHeaders.mac(frame, FrameHeaders.SOURCE);
        if (!FrameHeaders.isGroup(source)) {
            macs.learn(source, host);
        }
        long destination = FrameHeaders.mac(frame, 0);
        int known = FrameHeaders.isGroup(destination) ? MacTable.UNKNOWN : macs.find(destination);
        if (known == host) {
            return; // behind the same card, where the sender has reached it already
        }
        for (Host each : network.hosts()) {
            if (each.number != host && (known == MacTable.UNKNOWN || known == each.number)) {
                send(network.hosts().get(host), each, frame, length);
            }
        }
    }

    private void send(Host from, Host to, MemorySegment frame, int length) {
        if (freeCount == 0 || from.port().queuedBytes() > 2L * QUEUE_BYTES) {
            crowded++;
            return;
        }
        int slot = free[--freeCount];
        MemorySegment.copy(frame, 0, slots[slot], 0, length);
        lengths[slot] = length;
        LightPacket packet = network.pool()
                .take(
                        LightPacket.Kind.DATA,
                        Math.max(length, FrameHeaders.FRAME_MIN) + WIRE_BYTES,
                        FrameHeaders.priority(frame, length),
                        0);
        packet.to = to.number;
        packet.hash = FrameHeaders.flow(frame, length);
        packet.frame = slot;
        packet.isMarkable = FrameHeaders.isMarkable(frame, length);
        from.port().add(packet, calendar.now());
    }

    // ---- out

    /// Lets the network's time pass until now; frames that arrive go out.
    public void advance(long nowNanos) {
        long until = nowNanos - beganNanos;
        if (until > network.nowNanos()) {
            caller = nowNanos;
            network.run(until);
        }
    }

    private void deliver(Host host, LightPacket packet) {
        MemorySegment frame = slots[packet.frame];
        int length = lengths[packet.frame];
        if (packet.marked) {
            FrameHeaders.mark(frame, length);
        }
        outlet.send(host.number, frame, length, caller - beganNanos - network.nowNanos());
    }

    /// Returns the time when [#advance] has something to do next, by the caller's clock; [Long#MAX_VALUE] for
    /// never.
    public long dueNanos() {
        long due = calendar.due();
        return due == Calendar.NEVER ? Long.MAX_VALUE : beganNanos + Math.ceilDiv(due, Calendar.NANO) + 1;
    }

    // ---- figures

    /// Returns the number of frames that hosts have sent.
    public long offered() {
        return offered;
    }

    /// Returns the number of frames that were no Ethernet frames, or too long.
    public long malformed() {
        return malformed;
    }

    /// Returns the number of frames that found no room in the sender's card.
    public long crowded() {
        return crowded;
    }
}

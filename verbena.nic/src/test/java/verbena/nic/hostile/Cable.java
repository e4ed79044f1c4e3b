package verbena.nic.hostile;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import verbena.nic.device.DeviceContext;
import verbena.nic.link.Link;
import verbena.nic.link.psp.KeyLog;
import verbena.nic.link.psp.PspLink;
import verbena.nic.link.psp.PspPolicy;
import verbena.nic.roce.LinkDevice;
import verbena.transport.congestion.CongestionRule;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.wire.Frame;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketPattern;
import verbena.wire.psp.PspVersion;

/// Two devices on a wire in memory, in virtual time. A test may put packets on the wire too. Allocates nothing for
/// a packet that passes.
final class Cable {
    private static final int RING = 1_024;

    /// The virtual time, in nanoseconds.
    long nanos = 1_000_000_000;

    final End a;
    final End b;

    Cable(long seed) {
        this(seed, false);
    }

    /// @param repeatsSelectively whether both keep what comes early, and send again only what is missing
    Cable(long seed, boolean repeatsSelectively) {
        this(seed, repeatsSelectively, link -> link);
    }

    /// A cable whose ends protect their packets by PSP.
    static Cable withPsp(long seed) {
        var clock = new Cable[1];
        clock[0] = new Cable(
                seed,
                false,
                link -> new PspLink(
                        link,
                        new byte[32],
                        PspVersion.AES_GCM_128,
                        PspPolicy.REQUIRED,
                        KeyLog.NONE,
                        () -> clock[0] == null ? 0 : clock[0].nanos,
                        new Random(seed)));
        return clock[0];
    }

    /// @param wrapping makes the link of a device from an end
    private Cable(long seed, boolean repeatsSelectively, UnaryOperator<Link> wrapping) {
        a = new End("10.0.0.1", seed, repeatsSelectively, wrapping);
        b = new End("10.0.0.2", seed + 1, repeatsSelectively, wrapping);
        a.peer = b;
        b.peer = a;
    }

    /// Connects the queue pairs of both.
    void connect() {
        a.qp.connect(b.qp.endpoint());
        b.qp.connect(a.qp.endpoint());
    }

    /// Drives both until no packet moves.
    void settle() {
        boolean any = true;
        while (any) {
            any = a.context.drive();
            any |= b.context.drive();
        }
    }

    /// Lets this much time pass, from deadline to deadline.
    void pass(long time) {
        long end = nanos + time;
        settle();
        for (long next = nextDeadline(); next <= end; next = nextDeadline()) {
            nanos = Math.max(nanos, next);
            settle();
        }
        nanos = end;
        settle();
    }

    private long nextDeadline() {
        return Math.min(a.context.deadlineNanos(), b.context.deadlineNanos());
    }

    /// One device, and its end of the wire.
    final class End implements Link {
        final GidEntry gid;
        final DeviceContext context;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final MemoryRegion memory;
        QueuePair qp;

        /// Sees all frames that leave here.
        Consumer<Frame> tap = _ -> {};
        /// Every so-manieth frame that leaves here gets lost; 0 for none.
        int loseEvery;

        private long left;
        /// How many frames this end takes at once.
        int room = Integer.MAX_VALUE;
        /// How many frames this end may still receive.
        int allowance = Integer.MAX_VALUE;

        private final Frame[] arriving = Frame.allocate(Arena.ofAuto().allocate((long) RING * Frame.SLOT_BYTES, 64));
        private long put;
        private long taken;
        private End peer = this;

        private End(String address, long seed, boolean repeatsSelectively, UnaryOperator<Link> wrapping) {
            gid = new GidEntry(0, Gid.parse(address), GidType.ROCE_V2, "cable0", 1);
            context = (DeviceContext) LinkDevice.open(
                    "at-" + address,
                    List.of(wrapping.apply(this)),
                    () -> nanos,
                    new Random(seed),
                    CongestionRule.NONE,
                    repeatsSelectively,
                    null);
            domain = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(4_096);
            memory = domain.allocate(64 << 10, Access.remoteAll());
            qp = domain.createQueuePair(QueuePairOptions.rc(cq));
        }

        /// The next frame to arrive here; the caller fills it at once.
        Frame arrival() {
            return arriving[(int) (put++ % RING)];
        }

        /// How many frames may still be put here.
        int free() {
            return (int) (RING - (put - taken));
        }

        /// Lets a packet arrive that claims to come from the peer.
        void inject(String packet) {
            write(arrival(), packet);
        }

        /// Writes this packet from the peer into the frame.
        void write(Frame frame, String packet) {
            PacketPattern pattern = PacketPattern.parse(packet, Names.NUMBERS);
            pattern.build(frame, null);
            frame.icrcValid = !pattern.badIcrc();
            frame.sourceHigh = peer.gid.gid().high();
            frame.sourceLow = peer.gid.gid().low();
            frame.destinationHigh = gid.gid().high();
            frame.destinationLow = gid.gid().low();
        }

        long count(String counter) {
            return context.counters().getOrDefault(counter, 0L);
        }

        @Override
        public List<GidEntry> gids() {
            return List.of(gid);
        }

        @Override
        public int packetMax() {
            return Frame.PACKET_MAX;
        }

        @Override
        public int receive(Frame[] frames, int from, int count) {
            int n = 0;
            while (n < Math.min(count, allowance) && taken < put) {
                frames[from + n++].copyFrom(arriving[(int) (taken++ % RING)]);
            }
            allowance -= n;
            return n;
        }

        @Override
        public int transmit(Frame[] frames, int from, int count) {
            int n = Math.min(Math.min(count, room), peer.free());
            for (int i = from; i < from + n; i++) {
                Frame frame = frames[i];
                frame.icrcValid = true;
                tap.accept(frame);
                if (loseEvery == 0 || ++left % loseEvery != 0) {
                    peer.arrival().copyFrom(frame);
                }
            }
            return n;
        }

        @Override
        public void join(Gid group) {}

        @Override
        public void leave(Gid group) {}

        @Override
        public void await(long timeoutNanos) {
            nanos += Math.max(0, timeoutNanos);
        }

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
        public void close() {}
    }
}

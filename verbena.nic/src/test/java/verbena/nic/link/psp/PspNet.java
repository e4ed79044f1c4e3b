package verbena.nic.link.psp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import verbena.cm.noise.Credentials;
import verbena.nic.link.Link;
import verbena.nic.link.PacketPairs;
import verbena.nic.link.SecondPort;
import verbena.transport.psp.Association;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.psp.PspVersion;

/// Ends with PSP on a wire in memory, in virtual time. The test decides what arrives.
final class PspNet {
    static final long SECOND = 1_000_000_000;
    /// The bytes of a packet of PSP here.
    private static final int PACKET_BYTES = 96;
    /// A rotation after 500 packets.
    static final Association.Limits LIMITS =
            new Association.Limits(500 * PACKET_BYTES, 5_000 * PACKET_BYTES, 600 * SECOND, 1_800 * SECOND, 10 * SECOND);
    static final Association.Limits UNLIMITED =
            new Association.Limits(1L << 40, 1L << 41, 600 * SECOND, 1_800 * SECOND, 10 * SECOND);
    static final byte[] SECRET = "a secret of thirty-two bytes 001".getBytes(StandardCharsets.US_ASCII);
    /// Text that must not be seen on the wire.
    static final byte[] TEXT = "attack at dawn, by the north gate".getBytes(StandardCharsets.US_ASCII);

    private static final int HEADER_BYTES = 12;
    private static final int ICRC_BYTES = 4;

    long now = 7 * SECOND;
    /// Whether OpenSSL encrypts, and not the JDK.
    boolean isLibcrypto = true;
    /// The policy of ends that begin from now on.
    PspPolicy policy = PspPolicy.REQUIRED;
    /// The credentials of such ends.
    Credentials credentials = Credentials.NONE;
    /// The second port of such ends; 0 for none.
    int secondPort;

    /// What is on the wire, in the order of departure.
    final Deque<Datagram> wire = new ArrayDeque<>();
    /// All that was ever on the wire.
    final List<Datagram> seen = new ArrayList<>();
    /// Takes each datagram from the wire; usually [#deliver].
    Consumer<Datagram> carrier = this::deliver;

    private final List<End> ends = new ArrayList<>();

    /// One datagram of UDP at the port of RoCE, or at a second one.
    static final class Datagram {
        private final Gid from;
        private final Gid to;
        private final byte[] bytes;
        private final int port;

        Datagram(Gid from, Gid to, byte[] bytes) {
            this(from, to, bytes, 0);
        }

        /// @param port the second port, 0 for that of RoCE
        Datagram(Gid from, Gid to, byte[] bytes, int port) {
            this.from = from;
            this.port = port;
            this.to = to;
            this.bytes = bytes;
        }

        Gid from() {
            return from;
        }

        Gid to() {
            return to;
        }

        byte[] bytes() {
            return bytes;
        }

        int port() {
            return port;
        }

        boolean isExchange() {
            return bytes[0] == 'V' && bytes[1] == 'K';
        }
    }

    End end(String address, byte[] secret, long seed) {
        var end = new End(Gid.parse(address), secret, seed);
        ends.add(end);
        return end;
    }

    /// Ends all.
    void forget() {
        ends.forEach(end -> end.psp.close());
        ends.clear();
    }

    /// Puts a datagram where its address says.
    void deliver(Datagram datagram) {
        for (End end : ends) {
            if (end.gid.equals(datagram.to)) {
                end.arriving.add(datagram);
            }
        }
    }

    /// Lets all arrive that is on the wire, and what it causes.
    void settle() {
        do {
            for (Datagram next = wire.poll(); next != null; next = wire.poll()) {
                carrier.accept(next);
            }
            ends.forEach(End::receive);
        } while (!wire.isEmpty());
    }

    void pass(long nanos) {
        long end = now + nanos;
        while (now < end) {
            now = Math.min(end, now + SECOND / 20);
            settle();
        }
    }

    /// An end: the device's side is the link of PSP, the wire's side this object.
    final class End implements Link, PacketPairs, SecondPort {
        final Gid gid;
        private final int second = secondPort;
        final Deque<Datagram> arriving = new ArrayDeque<>();
        /// The numbers of the packets that came, in their order.
        final List<Integer> received = new ArrayList<>();
        /// Of the last one.
        Frame last = frame();

        PspLink psp;

        private final Frame[] frames = Frame.allocate(Arena.ofAuto().allocate(16L * Frame.SLOT_BYTES, 64));
        private final Frame[] sending = {frame()};

        private End(Gid gid, byte[] secret, long seed) {
            this.gid = gid;
            psp = start(secret, seed);
        }

        private static Frame frame() {
            return Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
        }

        private PspLink start(byte[] secret, long seed) {
            return new PspLink(
                    this,
                    secret,
                    credentials,
                    new PspCiphers(PspVersion.AES_GCM_128, isLibcrypto, KeyLog.NONE),
                    policy,
                    () -> now,
                    new Random(seed),
                    LIMITS);
        }

        /// As when the process ends and another one begins.
        void restart(long seed) {
            psp.close();
            psp = start(SECRET, seed);
        }

        long count(String counter) {
            return psp.counters().getOrDefault(counter, 0L);
        }

        /// How many packets were dropped.
        long dropped() {
            return psp.counters().entrySet().stream()
                    .filter(counter -> counter.getKey().startsWith("psp.dropped."))
                    .mapToLong(Map.Entry::getValue)
                    .sum();
        }

        /// Sends a packet with this number.
        void send(Gid to, int number) {
            Frame frame = sending[0];
            write(frame, number);
            frame.sourceHigh = gid.high();
            frame.sourceLow = gid.low();
            frame.destinationHigh = to.high();
            frame.destinationLow = to.low();
            int _ = psp.transmit(sending, 0, 1);
        }

        static void write(Frame frame, int number) {
            Bth.write(frame.slot, frame.start, Opcode.UC_SEND_ONLY, false, 0, 0xFFFF, 7, false, number & 0xFF_FFFF);
            BigEndian.put32(frame.slot, frame.start + HEADER_BYTES, number);
            MemorySegment.copy(
                    TEXT, 0, frame.slot, ValueLayout.JAVA_BYTE, frame.start + HEADER_BYTES + 4L, TEXT.length);
            frame.length = (HEADER_BYTES + 4 + TEXT.length + 3 & ~3) + ICRC_BYTES;
        }

        int receive() {
            int all = 0;
            for (int n = 1; n > 0 || !arriving.isEmpty(); ) {
                n = psp.receive(frames, 0, frames.length);
                for (int i = 0; i < n; i++) {
                    last.copyFrom(frames[i]);
                    received.add(BigEndian.i32(frames[i].slot, frames[i].start + HEADER_BYTES));
                }
                all += n;
            }
            return all;
        }

        @Override
        public int secondPort() {
            return second;
        }

        @Override
        public List<GidEntry> gids() {
            return List.of(new GidEntry(0, gid, GidType.ROCE_V2, "psp0", 1));
        }

        @Override
        public int packetMax() {
            return Frame.PACKET_MAX;
        }

        @Override
        public int receive(Frame[] into, int from, int count) {
            int n = 0;
            for (; n < count && !arriving.isEmpty(); n++) {
                Datagram next = arriving.remove();
                Frame frame = into[from + n];
                frame.viewOwn();
                frame.length = next.bytes.length;
                MemorySegment.copy(next.bytes, 0, frame.slot, ValueLayout.JAVA_BYTE, frame.start, frame.length);
                frame.sourceHigh = next.from.high();
                frame.sourceLow = next.from.low();
                frame.destinationHigh = next.to.high();
                frame.destinationLow = next.to.low();
                frame.secondPort = next.port;
                frame.icrcValid = true;
            }
            return n;
        }

        @Override
        public int transmit(Frame[] from, int first, int count) {
            for (int i = first; i < first + count; i++) {
                var datagram = new Datagram(
                        new Gid(from[i].sourceHigh, from[i].sourceLow),
                        new Gid(from[i].destinationHigh, from[i].destinationLow),
                        from[i].packet().toArray(ValueLayout.JAVA_BYTE),
                        from[i].secondPort);
                wire.add(datagram);
                seen.add(datagram);
            }
            return count;
        }

        /// Keeps all together.
        @Override
        public boolean keepsTogether(Frame first, Frame next) {
            return true;
        }

        /// Whether the link of PSP keeps two packets to a peer together.
        boolean keepsPairsTo(Gid to) {
            Frame frame = sending[0];
            frame.sourceHigh = gid.high();
            frame.sourceLow = gid.low();
            frame.destinationHigh = to.high();
            frame.destinationLow = to.low();
            return psp.keepsTogether(frame, frame);
        }

        @Override
        public void join(Gid group) {}

        @Override
        public void leave(Gid group) {}

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
        public void close() {}
    }
}

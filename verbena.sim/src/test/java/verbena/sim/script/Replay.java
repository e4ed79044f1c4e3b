package verbena.sim.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import verbena.transport.Protocol;
import verbena.transport.congestion.PeerWindow;
import verbena.transport.congestion.PeerWindows;
import verbena.transport.memory.Region;
import verbena.transport.queue.ReceiveRequest;
import verbena.transport.queue.SendRequest;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.Gid;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.SendOperation;
import verbena.wire.Frame;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Ieth;
import verbena.wire.ib.ImmDt;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Reth;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketText;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.Unwrapped;
import verbena.wire.roce.RoceV2;

/// One capture with our end in the place of one side. Its packets of one kind, requests or responses, have to come
/// in the recorded order; how the two kinds mix is a matter of which end was scheduled when.
@NullMarked
final class Replay {
    /// All that may differ from a recorded packet. Four fields always may. The sender is free to choose the UDP
    /// source port and the IPv4 identification: ours is given the recorded ones before the ICRC is computed and
    /// compared. The ICRC does not cover traffic class and time to live.
    enum Allowance {
        /// rxe goes on with MIDDLE or LAST when it answers the rest of a READ; the standard has FIRST or ONLY
        /// (IBTA 9.7.5.1.3), which we send. PSN and payload must be the same.
        READ_RESUMED_WITHOUT_FIRST,
        /// rxe answers a message longer than its receive with NAK remote operational error, the standard
        /// (IBTA 9.7.5.2.4) and we with NAK invalid request. All but the syndrome must be the same. As A, we
        /// take rxe's.
        SHORT_RECEIVE_IS_OPERATIONAL,
        /// rxe sends a whole WRITE with immediate again after an RNR NAK of its last packet; we only the last
        /// packet. As A these packets and their answers are left out; as B we get and answer them.
        WHOLE_WRITE_AGAIN_AFTER_RNR,
        /// rxe waits for its timer when a READ's answer has a hole; we ask again at once (IBTA 9.7.5.1.1: an
        /// implied NAK). The recorded answer then comes so late for us that our own timer asks once more.
        ASKED_AGAIN_AT_ONCE,
        /// rxe's timer counts in ticks of 4 ms and may end one early; ours is waited for.
        TIMER_IN_TICKS,
        /// After a SEND of an unreliable connection that broke off, rxe takes no more: the message after it is
        /// not received. By the standard (IBTA 9.8.2.2.4) it is, and so it is by us. Nothing on the wire shows
        /// it.
        RECEIVES_AFTER_A_BROKEN_MESSAGE
    }

    /// What is to be known of a capture besides its own two files.
    static final class Plan {
        final String name;
        private final Map<Allowance, Set<Integer>> allowed = new EnumMap<>(Allowance.class);
        private final Set<Integer> lostToA = new HashSet<>();
        private final Set<Integer> lostToB = new HashSet<>();
        private int receivesOfB;
        private int receiveBytesOfB;
        private int receiveStepOfB;
        private int receiveBefore;
        private int receiveOffsetOfA;
        private int receiveBytesOfA;
        private int[] localOffsets = {};
        private int sendBytes;
        private int failure;
        private int wordOffset = -1;
        private long word;
        private int windowKey;
        private int boundKey;
        private long windowAddress;
        private int windowBytes;
        private @Nullable List<String> received;
        private int dataOffset;
        private int dataBytes;
        private boolean dataIsRecorded;
        private final List<int[]> connections = new ArrayList<>();

        Plan(String name) {
            this.name = name;
        }

        Plan receivesOfB(int count, int bytes) {
            receivesOfB = count;
            receiveBytesOfB = bytes;
            return this;
        }

        /// The same, each so many bytes after the one before.
        Plan receivesOfB(int count, int bytes, int step) {
            receiveStepOfB = step;
            return receivesOfB(count, bytes);
        }

        /// After all, B has the first bytes of A's memory here.
        Plan dataOfAAt(int offset, int bytes) {
            dataOffset = offset;
            dataBytes = bytes;
            return this;
        }

        /// The data of A's datagrams is not known but from their packets.
        Plan dataIsRecorded() {
            dataIsRecorded = true;
            return this;
        }

        /// B posts a receive before this packet arrives.
        Plan receiveOfBBefore(int packet, int bytes) {
            receiveBefore = packet;
            receiveBytesOfB = bytes;
            return this;
        }

        Plan receiveOfA(int offset, int bytes) {
            receiveOffsetOfA = offset;
            receiveBytesOfA = bytes;
            return this;
        }

        /// Where the data of A's requests lies; 0 for those that are not named.
        Plan localOffsets(int... offsets) {
            localOffsets = offsets;
            return this;
        }

        /// Bytes of a SEND whose end was never sent.
        Plan sendBytes(int bytes) {
            sendBytes = bytes;
            return this;
        }

        Plan wordOfB(int offset, long value) {
            wordOffset = offset;
            word = value;
            return this;
        }

        Plan windowOfB(int key, int bound, long address, int bytes) {
            windowKey = key;
            boundKey = bound;
            windowAddress = address;
            windowBytes = bytes;
            return this;
        }

        /// A's last request ends with this status.
        Plan failsWith(int status) {
            failure = status;
            return this;
        }

        Plan lostToA(Integer... packets) {
            lostToA.addAll(List.of(packets));
            return this;
        }

        Plan lostToB(Integer... packets) {
            lostToB.addAll(List.of(packets));
            return this;
        }

        Plan allow(Allowance allowance, Integer... packets) {
            allowed.put(allowance, Set.of(packets));
            return this;
        }

        /// For a capture of several connections, whose ends at B share a receive queue: the numbers of the two
        /// queue pairs and A's first PSN.
        Plan connection(int a, int b, int psn) {
            connections.add(new int[] {a, b, psn});
            return this;
        }

        /// What becomes of B's receives, the one posted first has number 100; of several connections, one after
        /// another.
        Plan received(String... completions) {
            received = List.of(completions);
            return this;
        }

        boolean sharesReceives() {
            return !connections.isEmpty();
        }

        boolean allows(Allowance allowance, int packet) {
            return allowed.getOrDefault(allowance, Set.of()).contains(packet);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /// Keys come out as they are put in: what a [verbena.transport.memory.MemoryTable] draws is prescribed.
    private static final class PrescribedKeys implements RandomGenerator {
        private final Deque<Integer> draws = new ArrayDeque<>();

        void add(int key) {
            draws.add(key & 0xFF);
            draws.add(key >>> 8);
        }

        @Override
        public int nextInt() {
            return draws.remove();
        }

        @Override
        public long nextLong() {
            throw new UnsupportedOperationException("this is never drawn");
        }
    }

    /// One side, as the .json describes it.
    private record LoggedEnd(int qpn, int psn, long address, int rkey) {
        private static final Pattern TEXT =
                Pattern.compile("qpn 0x([0-9a-f]+), first PSN 0x([0-9a-f]+), addr 0x([0-9a-f]+), rkey 0x([0-9a-f]+)");

        /// A datagram's two ends, as far as its first packet tells: the packet does not tell where the memory
        /// lies.
        static LoggedEnd senderOf(Frame first) {
            int deth = first.start + Packet.opcode(first).dethOffset();
            return new LoggedEnd(Deth.sourceQp(first.slot, deth), Bth.psn(first.slot, first.start), 0x1000, 0x100);
        }

        static LoggedEnd receiverOf(Frame first) {
            return new LoggedEnd(Bth.destinationQp(first.slot, first.start), 0, 0x1000, 0x200);
        }

        static LoggedEnd of(String json, String name) {
            Matcher matcher = TEXT.matcher(text(json, name));
            assertThat(matcher.find()).as(name).isTrue();
            return new LoggedEnd(
                    Integer.parseInt(matcher.group(1), 16),
                    Integer.parseInt(matcher.group(2), 16),
                    Long.parseLong(matcher.group(3), 16),
                    Integer.parseUnsignedInt(matcher.group(4), 16));
        }
    }

    /// A message that our end is to send, taken from the recorded packets.
    private record Message(SendOperation operation, int firstPsn, int bytes, Frame first, Frame last, int offset) {}

    /// Of B, when its packets name a group only.
    private static final int ANY_QPN = 0x12;

    private static final int REGION_BYTES = 16_384;
    private static final int ALL = Access.bits(Access.remoteAll());

    private final Plan plan;
    private final boolean asA;
    private final List<Frame> packets = new ArrayList<>();
    private final List<Long> times = new ArrayList<>();
    private final RoceV2 roce = new RoceV2();
    private final Arena arena = Arena.ofConfined();
    private final PrescribedKeys keys = new PrescribedKeys();
    private final String json;
    private final Host host;
    private final QpType type;
    private final Region region;
    private final long regionAddress;
    private final List<Seat> seats = new ArrayList<>();
    private long now;
    private int compared;
    private long nextReceive = 100;

    private Replay(Plan plan, Path golden, boolean asA) throws IOException {
        this.plan = plan;
        this.asA = asA;
        json = Files.readString(golden.resolve(plan.name + ".json"));
        read(golden.resolve(plan.name + ".pcap"));
        Frame any = packets.getFirst(); // the requester's comes first
        var addressOfA = new Gid(any.sourceHigh, any.sourceLow);
        var addressOfB = new Gid(any.destinationHigh, any.destinationLow);
        // rxe knows no probes
        var peerWindows = new PeerWindows(PeerWindow.PACKETS_MAX, PeerWindow.NO_PROBES);
        host = new Host(asA ? addressOfA : addressOfB, peerWindows, keys, arena);
        type = QpType.valueOf(Packet.opcode(any).transport().name());
        if (type == QpType.UD) {
            sit(LoggedEnd.senderOf(any), LoggedEnd.receiverOf(any));
        } else if (plan.connections.isEmpty()) {
            sit(LoggedEnd.of(json, "A"), LoggedEnd.of(json, "B"));
        }
        for (int[] c : plan.connections) {
            sit(new LoggedEnd(c[0], c[2], 0x1000, 0x100), new LoggedEnd(c[1], 0xb200, 0x1000, 0x200));
        }
        LoggedEnd own = seats.getFirst().side;
        regionAddress = own.address();
        region = region(own.rkey(), regionAddress, REGION_BYTES, ALL, asA ? 3 : 5, asA ? 1 : 2);
        seats.forEach(seat -> seat.connect(asA ? addressOfB : addressOfA));
        if (!asA) {
            prepareB(seats.getFirst());
        }
        seats.forEach(Seat::findMessages);
        if (asA && plan.receiveBytesOfA > 0) {
            receive(seats.getFirst(), plan.receiveOffsetOfA, plan.receiveBytesOfA);
        }
    }

    private void sit(LoggedEnd a, LoggedEnd b) {
        seats.add(new Seat(asA ? a : b, asA ? b : a));
    }

    /// @param asA whether we are A
    static void run(Plan plan, Path golden, boolean asA) throws IOException {
        new Replay(plan, golden, asA).run();
    }

    // ---- preparation

    private void read(Path file) throws IOException {
        var encapsulation = new Encapsulation();
        try (CaptureReader reader = CaptureReader.open(file)) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                Frame frame = newFrame();
                if (encapsulation.unwrap(packet.linkType(), packet.bytes(), frame) instanceof Unwrapped.Roce) {
                    packets.add(frame);
                    times.add(packet.nanos());
                } // else IGMP
            }
        }
    }

    private Region region(int key, long address, int bytes, int access, int factor, int add) {
        MemorySegment memory = arena.allocate(bytes, 64);
        for (int i = 0; i < bytes; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * factor + add));
        }
        var made = new Region(End.DOMAIN, memory, address, access);
        keys.add(key);
        host.memory.add(made);
        assertThat(made.key()).isEqualTo(key);
        return made;
    }

    private void prepareB(Seat seat) {
        for (int i = 0; i < plan.receivesOfB; i++) {
            receive(seat, i * plan.receiveStepOfB, plan.receiveBytesOfB);
        }
        if (plan.wordOffset >= 0) {
            region.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, plan.wordOffset, plan.word);
        }
        if (plan.windowBytes > 0) {
            bindWindow(seat.end);
        }
    }

    private void bindWindow(End end) {
        Region under = region(0x7700, plan.windowAddress, plan.windowBytes, ALL | Access.MW_BIND.bit(), 5, 2);
        keys.add(plan.windowKey);
        BoundWindow window = host.addWindow("window", 2, End.DOMAIN);
        SendRequest bind = end.sends.claim();
        bind.begin(SendOperation.BIND_WINDOW, 0);
        bind.window = window.window;
        bind.windowRegion = under;
        bind.windowAddress = plan.windowAddress;
        bind.windowBytes = plan.windowBytes;
        bind.windowAccess = Access.REMOTE_WRITE.bit() | Access.REMOTE_READ.bit();
        bind.rkey = plan.boundKey;
        end.sends.publish();
        var wc = new WorkCompletion();
        assertThat(end.takeCompletion(wc, now)).isTrue();
        assertThat(wc.status()).isEqualTo(WcStatus.SUCCESS);
    }

    private void receive(Seat seat, int offset, int bytes) {
        ReceiveRequest request = seat.end.receives.claim();
        request.wrId = nextReceive++;
        request.scatter.clear();
        request.scatter.add(region.key(), regionAddress + offset, bytes);
        seat.end.receives.publish();
    }

    // ---- the run

    private void run() {
        for (int i = 0; i < packets.size(); i++) {
            Frame packet = packets.get(i);
            int number = i + 1;
            long time = times.get(i) - times.getFirst();
            seats.forEach(seat -> seat.advance(time));
            now = Math.max(now, time);
            if (!asA && number == plan.receiveBefore) {
                receive(seats.getFirst(), 0, plan.receiveBytesOfB);
            }
            boolean leftOut = asA && plan.allows(Allowance.WHOLE_WRITE_AGAIN_AFTER_RNR, number);
            for (Seat seat : seats) {
                if (seat.isOurs(packet) && !leftOut) {
                    seat.expect(packet, number);
                } else if (seat.isTheirs(packet) && !leftOut && !(asA ? plan.lostToA : plan.lostToB).contains(number)) {
                    seat.arrive(packet);
                }
            }
        }
        seats.forEach(Seat::finish);
        if (!asA && plan.received != null) {
            Matcher recorded = Pattern.compile("'status': 0").matcher(json);
            if (json.contains("B completions")
                    && !plan.allowed.containsKey(Allowance.RECEIVES_AFTER_A_BROKEN_MESSAGE)) {
                assertThat(recorded.results()).hasSameSizeAs(plan.received);
            }
            assertThat(seats.stream().flatMap(seat -> seat.completions().stream()))
                    .containsExactlyElementsOf(plan.received);
        }
        if (!asA && plan.dataBytes > 0) {
            byte[] expected = new byte[plan.dataBytes];
            for (int i = 0; i < expected.length; i++) {
                expected[i] = (byte) (3 * i + 1);
            }
            assertThat(region.memory().asSlice(plan.dataOffset, plan.dataBytes).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(expected);
        }
        if (!asA && json.contains("GRH area")) {
            compareGrhArea();
        }
        if (type != QpType.RC && !asA) {
            return; // nothing is answered
        }
        assertThat(compared > 0 || (!asA && plan.lostToB.size() == packets.size()))
                .as("something was compared")
                .isTrue();
    }

    /// What B found in front of its first datagram. rxe has the whole IPv4 header; a socket does not show the
    /// identification, which is 0 for us, and the checksum follows.
    private void compareGrhArea() {
        byte[] recorded = HexFormat.of().parseHex(text(json, "GRH area of B's first receive (40 bytes)"));
        byte[] ours = region.memory().asSlice(0, recorded.length).toArray(ValueLayout.JAVA_BYTE);
        var expected = ByteBuffer.wrap(recorded);
        if (host.address.isIpv4()) {
            int identification = Short.toUnsignedInt(expected.getShort(24));
            int checksum = Short.toUnsignedInt(expected.getShort(30)) + identification;
            expected.putShort(24, (short) 0).putShort(30, (short) (checksum + (checksum >>> 16)));
        }
        assertThat(HexFormat.of().formatHex(ours)).isEqualTo(HexFormat.of().formatHex(recorded));
    }

    /// One of our queue pairs: what it has to send, and what it wants to.
    private final class Seat {
        private final LoggedEnd side;
        private final LoggedEnd other;
        private final End end;
        private final Deque<Message> toPost = new ArrayDeque<>();
        private final Deque<Frame> requests = new ArrayDeque<>();
        private final Deque<Frame> responses = new ArrayDeque<>();

        Seat(LoggedEnd side, LoggedEnd other) {
            this.side = side;
            this.other = other;
            int qpn = side.qpn() == Bth.MULTICAST_QP ? ANY_QPN : side.qpn();
            end = new End(asA ? "a" : "b", type, qpn, host, plan.sharesReceives(), true, arena);
        }

        private void connect(Gid to) {
            var p = end.parameters;
            p.path(host.address, to);
            p.windows = host.peerWindows;
            p.pathMtu = number(json, "path MTU", 1024);
            p.access = number(json, "access", ALL);
            p.destinationQpn = other.qpn();
            p.qkey = number(json, "qkey", PacketScript.QKEY);
            Gid group = asA ? to : host.address; // when B is one: nothing tells its own address
            if (group.isMulticast()) {
                p.qkey = Deth.qkey(
                        packets.getFirst().slot, packets.getFirst().start + Opcode.UD_SEND_ONLY_IMMEDIATE.dethOffset());
                host.groups.put(group, Set.of(end));
            }
            p.sqPsn = side.psn();
            p.rqPsn = other.psn();
            p.readsOutstandingMax = 16;
            p.readsServedMax = 16;
            p.minRnrTimerCode = number(json, "min_rnr_timer", 12);
            p.ackTimeoutNanos =
                    new AckTimeout(number(json, "timeout", 14)).duration().toNanos();
            p.retryCount = number(json, "retry", 7);
            p.rnrRetry = number(json, "rnr_retry", 7);
            end.modify(QpState.INIT, now);
            end.modify(QpState.RTR, now);
            end.modify(QpState.RTS, now);
        }

        /// The messages behind our recorded requests, each once.
        void findMessages() {
            Set<Integer> seen = new HashSet<>();
            @Nullable Frame first = null;
            int bytes = 0;
            int count = 0;
            for (int i = 0; i < packets.size(); i++) {
                Frame frame = packets.get(i);
                Opcode opcode = Packet.opcode(frame);
                int psn = Bth.psn(frame.slot, frame.start);
                if (!isOurs(frame) || opcode.isResponse() || isCoveredByRead(seen, frame, opcode) || !seen.add(psn)) {
                    continue;
                }
                if (opcode.startsMessage()) {
                    first = frame;
                    bytes = 0;
                }
                bytes += Packet.payloadBytes(frame, opcode);
                boolean broken = !opcode.endsMessage() && isLastNew(i + 1, seen);
                if (first != null && (opcode.endsMessage() || broken)) {
                    int offset = count < plan.localOffsets.length ? plan.localOffsets[count] : 0;
                    int whole = broken && plan.sendBytes > 0 ? plan.sendBytes : bytes;
                    toPost.add(message(first, frame, whole, offset));
                    count++;
                    first = null;
                }
            }
        }

        private boolean isLastNew(int from, Set<Integer> seen) {
            return packets.subList(from, packets.size()).stream()
                    .noneMatch(frame -> isOurs(frame) && !seen.contains(Bth.psn(frame.slot, frame.start)));
        }

        // A READ takes the PSNs of its answer; asked again, it starts at one of them.
        private boolean isCoveredByRead(Set<Integer> seen, Frame frame, Opcode opcode) {
            int psn = Bth.psn(frame.slot, frame.start);
            if (opcode != Opcode.RC_READ_REQUEST || seen.contains(psn)) {
                return false;
            }
            long bytes = Reth.dmaLength(frame.slot, frame.start + opcode.rethOffset());
            for (int i = 1; i < Psn.count(bytes, end.parameters.pathMtu); i++) {
                seen.add(Psn.add(psn, i));
            }
            return false;
        }

        private void post(Message message) {
            SendRequest request = end.sends.claim();
            request.begin(message.operation(), 0);
            Frame first = message.first();
            Frame last = message.last();
            Opcode opening = Packet.opcode(first);
            Opcode closing = Packet.opcode(last);
            if (opening.rethOffset() >= 0) {
                long reth = first.start + (long) opening.rethOffset();
                request.remoteAddress = Reth.virtualAddress(first.slot, reth);
                request.rkey = Reth.rkey(first.slot, reth);
            }
            if (opening.isAtomic()) {
                long eth = first.start + (long) opening.atomicEthOffset();
                boolean swaps = message.operation() == SendOperation.COMPARE_SWAP;
                request.remoteAddress = AtomicEth.virtualAddress(first.slot, eth);
                request.rkey = AtomicEth.rkey(first.slot, eth);
                request.operand = swaps ? AtomicEth.compare(first.slot, eth) : AtomicEth.swapOrAdd(first.slot, eth);
                request.swap = swaps ? AtomicEth.swapOrAdd(first.slot, eth) : 0;
            }
            if (closing.hasImmediate()) {
                request.immediateOrKey = ImmDt.immediate(last.slot, last.start + (long) closing.immediateOffset());
            }
            if (closing.hasInvalidate()) {
                request.immediateOrKey = Ieth.rkey(last.slot, last.start + (long) closing.iethOffset());
            }
            request.solicited = Bth.solicited(last.slot, last.start);
            if (opening.dethOffset() >= 0) {
                request.path = end.parameters.path;
                request.destinationQpn = Bth.destinationQp(first.slot, first.start);
                request.qkey = Deth.qkey(first.slot, first.start + opening.dethOffset());
            }
            if (plan.dataIsRecorded) {
                MemorySegment.copy(
                        first.slot,
                        Packet.payloadOffset(first, opening),
                        region.memory(),
                        message.offset(),
                        message.bytes());
            }
            if (message.bytes() > 0) {
                request.scatter.add(region.key(), regionAddress + message.offset(), message.bytes());
            }
            end.sends.publish();
            drain();
        }

        // The numbers of different connections may be equal at different ends: the address counts too.
        private boolean isOurs(Frame packet) {
            return packet.sourceLow == host.address.low()
                    && Bth.destinationQp(packet.slot, packet.start) == other.qpn();
        }

        private boolean isTheirs(Frame packet) {
            return packet.destinationLow == host.address.low()
                    && Bth.destinationQp(packet.slot, packet.start) == side.qpn();
        }

        private void arrive(Frame packet) {
            Frame copy = newFrame();
            copy.copyFrom(packet);
            host.receive(copy, now);
            drain();
        }

        private void advance(long to) {
            while (end.protocol.deadlineNanos() <= to) {
                now = Math.max(now, end.protocol.deadlineNanos());
                end.protocol.onDeadline(now);
                drain();
            }
            now = Math.max(now, to);
        }

        private void drain() {
            Frame frame = newFrame();
            while (end.poll(frame, now)) {
                (Packet.opcode(frame).isResponse() ? responses : requests).add(frame);
                frame = newFrame();
            }
        }

        private void expect(Frame recorded, int number) {
            boolean isResponse = Packet.opcode(recorded).isResponse();
            Deque<Frame> ours = isResponse ? responses : requests;
            Message next = toPost.peek();
            if (ours.isEmpty() && next != null && next.firstPsn() == Bth.psn(recorded.slot, recorded.start)) {
                post(toPost.remove());
            }
            if (ours.isEmpty()
                    && plan.allows(Allowance.TIMER_IN_TICKS, number)
                    && end.protocol.deadlineNanos() != Protocol.NEVER) {
                advance(end.protocol.deadlineNanos());
            }
            String what = "packet " + number + " of " + plan + " as " + end.name + ", recorded as " + text(recorded);
            assertThat(ours).as(what + ": we send nothing").isNotEmpty();
            compare(recorded, ours.remove(), number, what);
        }

        List<String> completions() {
            var all = new ArrayList<String>();
            var wc = new WorkCompletion();
            while (end.completions.poll(wc)) {
                all.add(Reports.text(wc));
            }
            return all;
        }

        void finish() {
            requests.removeIf(frame -> plan.allowed.getOrDefault(Allowance.ASKED_AGAIN_AT_ONCE, Set.of()).stream()
                    .anyMatch(number -> text(frame).equals(text(packets.get(number - 1)))));
            if (asA && plan.failure > 0) {
                while (end.protocol.deadlineNanos() != Protocol.NEVER) {
                    advance(end.protocol.deadlineNanos());
                }
            } else {
                assertThat(requests).as("requests that were not recorded").isEmpty();
                assertThat(end.parameters.state == QpState.ERR).isEqualTo(plan.failure > 0 && isRefusal());
            }
            assertThat(responses).as("answers that were not recorded").isEmpty();
            assertThat(toPost).isEmpty();
            if (asA) {
                WcStatus last = WcStatus.SUCCESS;
                var wc = new WorkCompletion();
                while (end.completions.poll(wc)) {
                    assertThat(last).as("only the last one fails").isEqualTo(WcStatus.SUCCESS);
                    last = wc.status();
                }
                assertThat(last.code()).as("status of the last request").isEqualTo(plan.failure);
            }
        }
    }

    private void compare(Frame recorded, Frame ours, int number, String what) {
        compared++;
        if (plan.allows(Allowance.READ_RESUMED_WITHOUT_FIRST, number)) {
            Opcode opcode = Packet.opcode(ours);
            assertThat(opcode).isIn(Opcode.RC_READ_RESPONSE_FIRST, Opcode.RC_READ_RESPONSE_ONLY);
            assertThat(Bth.psn(ours.slot, ours.start)).as(what).isEqualTo(Bth.psn(recorded.slot, recorded.start));
            assertThat(payload(ours)).as(what).isEqualTo(payload(recorded));
            return;
        }
        if (plan.allows(Allowance.SHORT_RECEIVE_IS_OPERATIONAL, number)) {
            assertThat(text(ours).replace("invalid-request", "operational"))
                    .as(what)
                    .isEqualTo(text(recorded));
            return;
        }
        ours.sourcePort = recorded.sourcePort;
        long hidden = roce.hiddenFields(recorded);
        roce.seal(ours, (int) (hidden >>> 16), (int) hidden & 0xFFFF);
        assertThat(text(ours)).as(what).isEqualTo(text(recorded));
        assertThat(ours.packet().toArray(ValueLayout.JAVA_BYTE))
                .as(what)
                .isEqualTo(recorded.packet().toArray(ValueLayout.JAVA_BYTE));
        assertThat(new Gid(ours.sourceHigh, ours.sourceLow))
                .as(what)
                .isEqualTo(new Gid(recorded.sourceHigh, recorded.sourceLow));
    }

    // B stays well when it is A that gives up.
    private boolean isRefusal() {
        return plan.failure != WcStatus.RETRY_EXC_ERR.code() && plan.failure != WcStatus.RNR_RETRY_EXC_ERR.code();
    }

    private static Message message(Frame first, Frame last, int payloadBytes, int offset) {
        Opcode opening = Packet.opcode(first);
        Opcode closing = Packet.opcode(last);
        SendOperation operation = operation(opening, closing);
        int bytes = opening.rethOffset() >= 0
                ? (int) Reth.dmaLength(first.slot, first.start + opening.rethOffset())
                : opening.isAtomic() ? Long.BYTES : payloadBytes;
        return new Message(operation, Bth.psn(first.slot, first.start), bytes, first, last, offset);
    }

    private static SendOperation operation(Opcode opening, Opcode closing) {
        if (opening.isSend()) {
            return closing.hasImmediate()
                    ? SendOperation.SEND_WITH_IMMEDIATE
                    : closing.hasInvalidate() ? SendOperation.SEND_WITH_INVALIDATE : SendOperation.SEND;
        }
        if (opening.isWrite()) {
            return closing.hasImmediate() ? SendOperation.WRITE_WITH_IMMEDIATE : SendOperation.WRITE;
        }
        return switch (opening) {
            case RC_FETCH_ADD -> SendOperation.FETCH_ADD;
            case RC_COMPARE_SWAP -> SendOperation.COMPARE_SWAP;
            default -> SendOperation.READ;
        };
    }

    private byte[] payload(Frame frame) {
        Opcode opcode = Packet.opcode(frame);
        return frame.slot
                .asSlice(Packet.payloadOffset(frame, opcode), Packet.payloadBytes(frame, opcode))
                .toArray(ValueLayout.JAVA_BYTE);
    }

    private static String text(Frame frame) {
        return PacketText.format(frame, Names.NUMBERS);
    }

    private Frame newFrame() {
        return Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
    }

    private static String text(String json, String name) {
        Matcher matcher =
                Pattern.compile("\"" + Pattern.quote(name) + "\": \"([^\"]*)\"").matcher(json);
        assertThat(matcher.find()).as(name).isTrue();
        return matcher.group(1);
    }

    private static int number(String json, String name, int otherwise) {
        Matcher matcher = Pattern.compile("\"" + name + "\": ([0-9]+)").matcher(json);
        return matcher.find() ? Integer.parseInt(matcher.group(1)) : otherwise;
    }
}

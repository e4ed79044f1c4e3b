package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.cm.Apr;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.Drep;
import verbena.wire.cm.Dreq;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.Lap;
import verbena.wire.cm.Mra;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.cm.Rtu;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.mad.Mad;
import verbena.wire.notation.CmText;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.Encapsulation;

/// What two Linux kernels said to each other, replayed. Our communication manager takes the place of one
/// side, and its owner does at each time what that side's program did. It has to send what that side sent,
/// byte for byte, except for what `allowed` names.
class GoldenConnectionsTest {
    private record Said(long nanos, boolean byA, CmMessage message, MemorySegment mad, Gid source, Gid destination) {}

    static List<Path> captures() throws IOException {
        String root = Objects.requireNonNull(System.getProperty("verbena.root"));
        try (Stream<Path> files = Files.list(Path.of(root, "golden"))) {
            return files.filter(file -> file.getFileName().toString().matches("cm-.*\\.pcap"))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("captures")
    void inThePlaceOfTheActiveSide(Path capture) throws IOException {
        new ReplayedEnd(read(capture), true).play();
    }

    @ParameterizedTest
    @MethodSource("captures")
    void inThePlaceOfThePassiveSide(Path capture) throws IOException {
        new ReplayedEnd(read(capture), false).play();
    }

    @Test
    void thereAreTen() throws IOException {
        assertThat(captures()).hasSize(10);
    }

    private static List<Said> read(Path capture) throws IOException {
        var all = new ArrayList<Said>();
        var encapsulation = new Encapsulation();
        Gid first = null;
        try (var reader = CaptureReader.open(capture)) {
            for (var packet = reader.next(); packet != null; packet = reader.next()) {
                Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES))[0];
                encapsulation.unwrap(packet.linkType(), packet.bytes(), frame);
                if (frame.length == 0 || Bth.destinationQp(frame.slot, frame.start) != Mad.QPN) {
                    continue;
                }
                MemorySegment mad = frame.slot.asSlice(Packet.payloadOffset(frame, Opcode.UD_SEND_ONLY), Mad.BYTES);
                var source = new Gid(frame.sourceHigh, frame.sourceLow);
                first = first == null ? source : first;
                all.add(new Said(
                        packet.nanos(),
                        source.equals(first),
                        Objects.requireNonNull(CmMessage.read(mad)),
                        mad,
                        source,
                        new Gid(frame.destinationHigh, frame.destinationLow)));
            }
        }
        return all;
    }

    /// One end of a capture, played by us.
    private static final class ReplayedEnd {
        private final List<Said> capture;
        private final boolean isA;
        private final ArrayDeque<Integer> numbers = new ArrayDeque<>();
        private final CommunicationManager manager;
        private final Map<Integer, CmConnection> byPeersId = new HashMap<>();
        private final Map<Integer, CmConnection> byOwnId = new HashMap<>();
        /// What we call a transaction that the kernel called otherwise.
        private final Map<Long, Long> transactions = new HashMap<>();

        private @Nullable SidrInquiry inquiry;
        private long now;

        ReplayedEnd(List<Said> capture, boolean isA) {
            this.capture = capture;
            this.isA = isA;
            RandomGenerator random = new RandomGenerator() {
                @Override
                public int nextInt() {
                    Integer next = numbers.poll();
                    return next == null ? 1 : next;
                }

                @Override
                public long nextLong() {
                    throw new AssertionError("numbers are drawn by 32 bits");
                }
            };
            manager = new CommunicationManager(guid(), CommunicationManager.NO_SLOT, random, CmLimits.DEFAULT);
        }

        private boolean isOwn(Said said) {
            return said.byA == isA;
        }

        private long guid() {
            for (Said said : capture) {
                if (isOwn(said) && said.message instanceof Req req) {
                    return req.localCaGuid();
                }
                if (isOwn(said) && said.message instanceof Rep rep) {
                    return rep.localCaGuid();
                }
            }
            return 1;
        }

        void play() {
            now = capture.getFirst().nanos;
            listen();
            var seen = new ArrayList<String>();
            for (Said said : capture) {
                String line = CmText.format(said.message);
                boolean isRepeated = seen.contains(line);
                seen.add(line);
                if (!isOwn(said)) {
                    now = Math.max(now, said.nanos);
                    if (said.message instanceof Req req && !isRepeated) {
                        numbers.add(ownIdFor(req));
                    }
                    // The kernel's REQ of cm-req-retry is lost the first time.
                    if (!isRepeated || !(said.message instanceof Req)) {
                        manager.onMessage(said.message, route(said, false), now);
                    }
                    continue;
                }
                CmMessage sent;
                if (isRepeated) {
                    sent = repeated(said);
                } else {
                    now = Math.max(now, said.nanos);
                    act(said);
                    sent = next();
                }
                compare(said, sent);
            }
            assertThat(manager.poll()).as("nothing more is sent").isNull();
        }

        private void listen() {
            for (Said said : capture) {
                if (isOwn(said)) {
                    continue;
                }
                if (said.message instanceof Req req && isTaken(req.localCommId())) {
                    manager.listen(req.serviceId(), 10, (connection, event) -> {
                        if (event instanceof CmEvent.Requested(Req request)) {
                            byPeersId.put(request.localCommId(), connection);
                        }
                    });
                }
                if (said.message instanceof SidrReq sidrRequest
                        && capture.stream()
                                .anyMatch(one -> one.message instanceof SidrRep answer
                                        && answer.requestId() == sidrRequest.requestId()
                                        && answer.status() == SidrRep.VALID)) {
                    manager.answer(sidrRequest.serviceId(), asked -> inquiry = asked);
                }
            }
        }

        /// Whether a program answered the request.
        private boolean isTaken(int peersId) {
            return capture.stream()
                    .anyMatch(said -> (said.message instanceof Rep rep && rep.remoteCommId() == peersId)
                            || (said.message instanceof Rej rej
                                    && rej.remoteCommId() == peersId
                                    && RejectReason.of(rej.reason()) == RejectReason.CONSUMER_REJECT));
        }

        private int ownIdFor(Req req) {
            for (Said said : capture) {
                if (said.message instanceof Rep rep && rep.remoteCommId() == req.localCommId()) {
                    return rep.localCommId();
                }
                if (said.message instanceof Rej rej && rej.remoteCommId() == req.localCommId()) {
                    return rej.localCommId() == 0 ? 1 : rej.localCommId();
                }
            }
            throw new AssertionError("no end answers " + CmText.format(req));
        }

        private CmRoute route(Said said, boolean own) {
            return own ? new CmRoute(said.source, said.destination) : new CmRoute(said.destination, said.source);
        }

        /// Does what the program did, if it did something.
        private void act(Said said) {
            switch (said.message) {
                case Req req -> connect(req, route(said, true));
                case Rep rep ->
                    passive(rep.remoteCommId())
                            .accept(
                                    new CmEnd(
                                            rep.localQpn(),
                                            rep.startingPsn(),
                                            rep.responderResources(),
                                            rep.initiatorDepth(),
                                            rep.rnrRetryCount(),
                                            rep.sharedReceiveQueue(),
                                            CmExtension.of(rep.localQkey()),
                                            rep.privateData()),
                                    now);
                case Rtu rtu -> active(rtu.localCommId()).ready(rtu.privateData(), now);
                case Rej rej -> {
                    if (RejectReason.of(rej.reason()) == RejectReason.CONSUMER_REJECT) {
                        passive(rej.remoteCommId()).reject(RejectReason.CONSUMER_REJECT, rej.privateData(), now);
                    }
                }
                case Dreq dreq -> {
                    numbers.add((int) (dreq.transactionId() >>> 32));
                    any(dreq.localCommId(), dreq.remoteCommId()).disconnect(dreq.privateData(), now);
                }
                case SidrReq sidrRequest -> {
                    numbers.add(sidrRequest.requestId());
                    numbers.add((int) (sidrRequest.transactionId() >>> 32));
                    manager.ask(
                            route(said, true),
                            sidrRequest.serviceId(),
                            20,
                            15,
                            sidrRequest.privateData(),
                            new SidrRequest.Listener() {
                                @Override
                                public void onAnswer(SidrRep answer) {}

                                @Override
                                public void onSilence() {}
                            },
                            now);
                }
                case SidrRep answer -> {
                    if (answer.status() == SidrRep.VALID) {
                        Objects.requireNonNull(inquiry)
                                .answer(answer.status(), answer.qpn(), answer.qkey(), answer.privateData());
                    }
                }
                case Drep _, Mra _, Lap _, Apr _ -> {}
            }
        }

        private void connect(Req req, CmRoute route) {
            numbers.add(req.localCommId());
            numbers.add((int) (req.transactionId() >>> 32));
            CmConnection connection = manager.connect(
                    route,
                    new CmCall(
                            req.serviceId(),
                            req.transportType(),
                            req.pathMtu(),
                            req.primary().ackTimeout(),
                            req.retryCount(),
                            req.primary().trafficClass(),
                            req.primary().hopLimit(),
                            req.primary().packetRate(),
                            req.remoteResponseTimeout(),
                            req.maxCmRetries()),
                    new CmEnd(
                            req.localQpn(),
                            req.startingPsn(),
                            req.responderResources(),
                            req.initiatorDepth(),
                            req.rnrRetryCount(),
                            req.sharedReceiveQueue(),
                            CmExtension.of(req.localQkey()),
                            req.privateData()),
                    (_, _) -> {},
                    now);
            byOwnId.put(req.localCommId(), Objects.requireNonNull(connection));
        }

        private CmConnection passive(int peersId) {
            return Objects.requireNonNull(byPeersId.get(peersId));
        }

        private CmConnection active(int ownId) {
            return Objects.requireNonNull(byOwnId.get(ownId));
        }

        private CmConnection any(int ownId, int peersId) {
            return byOwnId.containsKey(ownId) ? active(ownId) : passive(peersId);
        }

        private CmMessage next() {
            return Objects.requireNonNull(manager.poll(), "nothing is sent").message();
        }

        /// By the timer. The kernel counts in milliseconds that are powers of two, we in 4.096 µs: 5 % later.
        private CmMessage repeated(Said said) {
            long at = manager.deadlineNanos();
            assertThat((double) (at - capture.getFirst().nanos) / (said.nanos - capture.getFirst().nanos))
                    .as("time of repetition")
                    .isBetween(0.95, 1.1);
            now = at;
            manager.onDeadline(now);
            return next();
        }

        private void compare(Said said, CmMessage sent) {
            MemorySegment ours = MemorySegment.ofArray(new byte[Mad.BYTES]);
            sent.write(ours);
            MemorySegment theirs = MemorySegment.ofArray(said.mad.toArray(ValueLayout.JAVA_BYTE));
            if (said.message instanceof Req || said.message instanceof Dreq || said.message instanceof SidrReq) {
                transactions.put(said.message.transactionId(), sent.transactionId());
            }
            allowed(said.message, theirs);
            assertThat(hex(ours))
                    .as("%s%nexpected %s", CmText.format(sent), CmText.format(said.message))
                    .isEqualTo(hex(theirs));
        }

        private static String hex(MemorySegment mad) {
            return HexFormat.of().formatHex(mad.toArray(ValueLayout.JAVA_BYTE));
        }

        /// What may differ is made equal, after it has been looked at.
        private void allowed(CmMessage kernels, MemorySegment mad) {
            // A transaction ID is opaque: its high half is the same here, its low half is the communication ID, which
            // the kernel has in its own byte order. Answers have that of what they answer.
            Long transaction = transactions.get(kernels.transactionId());
            mad.set(
                    ValueLayout.JAVA_LONG_UNALIGNED.withOrder(java.nio.ByteOrder.BIG_ENDIAN),
                    8,
                    transaction == null ? kernels.transactionId() : transaction);
            if (kernels instanceof Req req) {
                // We send no flow label: it chooses the UDP source port, which is 4791 here.
                assertThat(req.primary().flowLabel()).isNotZero();
                clear(mad, 88, 0xFF);
                clear(mad, 89, 0xFF);
                clear(mad, 90, 0xF0);
                // rsockets say that they use credits. Neither side does, in fact; we say so.
                clear(mad, 43, 0x01);
            } else if (kernels instanceof Rep) {
                clear(mad, 26, 0x01);
            }
        }

        private static void clear(MemorySegment mad, int octet, int bits) {
            int at = Mad.HEADER_BYTES + octet;
            mad.set(ValueLayout.JAVA_BYTE, at, (byte) (mad.get(ValueLayout.JAVA_BYTE, at) & ~bits));
        }
    }

    @Test
    void theHeaderInFrontOfThePrivateDataIsWhatWeWouldWrite() throws IOException {
        int headers = 0;
        for (Path capture : captures()) {
            for (Said said : read(capture)) {
                PrivateData data = switch (said.message) {
                    case Req req -> req.privateData();
                    case SidrReq sidrRequest -> sidrRequest.privateData();
                    default -> null;
                };
                if (data != null) {
                    IpCmHeader header = Objects.requireNonNull(IpCmHeader.read(data));
                    assertThat(header.before(data.from(IpCmHeader.BYTES))).isEqualTo(data);
                    assertThat(new Gid(header.sourceHigh(), header.sourceLow())).isEqualTo(said.source);
                    assertThat(new Gid(header.destinationHigh(), header.destinationLow()))
                            .isEqualTo(said.destination);
                    headers++;
                }
            }
        }
        assertThat(headers).isGreaterThanOrEqualTo(10);
    }
}

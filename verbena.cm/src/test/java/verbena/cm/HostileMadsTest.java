package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.cm.CmConnection.State;
import verbena.verbs.Gid;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.cm.Rtu;
import verbena.wire.mad.Mad;

/// Management datagrams that no peer should send (goal H4), to a manager that is at work: noise, and real
/// messages with something wrong in them. They come from the attacker's addresses. The attacker sees and
/// knows everything, but cannot send from the honest peer's address; so the honest peer's connections stay.
class HostileMadsTest {
    private static final long DATAGRAMS = Boolean.getBoolean("verbena.deep") ? 20_000_000 : 1_000_000;
    private static final long SEED = Long.getLong("verbena.seed", 1);
    private static final Gid SERVER = Gid.parse("10.0.0.2");
    private static final Gid HONEST = Gid.parse("10.9.9.9");
    private static final int[] ATTRIBUTES = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A};
    private static final int HEARD_MAX = 256;
    private static final int HONEST_CONNECTIONS = 20;

    private final Random random = new Random(SEED);
    private final CommunicationManager server =
            new CommunicationManager(0xB, CommunicationManager.NO_SLOT, new Random(SEED + 1), CmLimits.DEFAULT);
    private final List<CmConnection> live = new ArrayList<>();
    private final List<CmConnection> honest = new ArrayList<>();
    private final List<SidrInquiry> open = new ArrayList<>();
    /// What was said on the wire, which the attacker has heard.
    private final List<MemorySegment> heard = new ArrayList<>();
    private final MemorySegment mad = MemorySegment.ofArray(new byte[Mad.BYTES]);
    private long now = 1_000;
    private long told;
    private int qpn = 1;

    private void onEvent(CmConnection connection, CmEvent event) {
        told++;
        if (event instanceof CmEvent.Requested && live.size() < 200) {
            live.add(connection);
        }
        if (connection.route().remote().equals(HONEST) && !(event instanceof CmEvent.Requested)) {
            assertThat(event).as("an honest connection").isInstanceOf(CmEvent.Established.class);
        }
    }

    private CmEnd end() {
        qpn = qpn % 0xFF_FFFE + 1;
        return new CmEnd(qpn, random.nextInt(1 << 24), 1, 1, 7, false, CmExtension.NONE, PrivateData.NONE);
    }

    private void hear(CmMessage message) {
        MemorySegment copy = MemorySegment.ofArray(new byte[Mad.BYTES]);
        message.write(copy);
        if (heard.size() < HEARD_MAX) {
            heard.add(copy);
        } else {
            heard.set(random.nextInt(HEARD_MAX), copy);
        }
    }

    private void connectHonestPeers() {
        var peer = new CommunicationManager(0xC, CommunicationManager.NO_SLOT, new Random(SEED + 2), CmLimits.DEFAULT);
        var here = new CmRoute(SERVER, HONEST);
        var there = new CmRoute(HONEST, SERVER);
        for (int i = 0; i < HONEST_CONNECTIONS; i++) {
            var own = end();
            CmConnection active = Objects.requireNonNull(peer.connect(
                    there,
                    TwoManagers.CALL,
                    own,
                    (connection, event) -> {
                        if (event instanceof CmEvent.Accepted) {
                            connection.ready(PrivateData.NONE, now);
                        }
                    },
                    now));
            server.onMessage(take(peer, Req.class), here, now);
            CmConnection passive = live.removeLast();
            passive.accept(end(), now);
            peer.onMessage(take(server, Rep.class), there, now);
            server.onMessage(take(peer, Rtu.class), here, now);
            assertThat(active.state()).isEqualTo(State.ESTABLISHED);
            honest.add(passive);
        }
    }

    private <T extends CmMessage> T take(CommunicationManager from, Class<T> kind) {
        CmMessage message = Objects.requireNonNull(from.poll()).message();
        hear(message);
        return kind.cast(message);
    }

    /// Something for the next datagram.
    private void make() {
        int choice = random.nextInt(16);
        if (choice == 0) {
            random.nextBytes((byte[]) mad.heapBase().orElseThrow());
            return;
        }
        if (choice < 4 || heard.isEmpty()) {
            random.nextBytes((byte[]) mad.heapBase().orElseThrow());
            header(ATTRIBUTES[random.nextInt(ATTRIBUTES.length)]);
        } else {
            mad.copyFrom(heard.get(random.nextInt(heard.size())));
        }
        if (choice < 6) {
            return; // as it was heard, or with a right header at least
        }
        for (int i = random.nextInt(4); i >= 0; i--) {
            int at = random.nextInt(5) == 0 ? random.nextInt(Mad.BYTES) : 8 + random.nextInt(90);
            switch (random.nextInt(4)) {
                case 0 -> mad.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt(256));
                case 1 -> mad.set(ValueLayout.JAVA_BYTE, at, (byte) (random.nextBoolean() ? 0 : -1));
                case 2 -> // names of another message
                    MemorySegment.copy(heard.get(random.nextInt(heard.size())), 24, mad, 24, 8);
                default -> mad.set(ValueLayout.JAVA_BYTE, 17, (byte) ATTRIBUTES[random.nextInt(ATTRIBUTES.length)]);
            }
        }
    }

    private void header(int attribute) {
        mad.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
        mad.set(ValueLayout.JAVA_BYTE, 1, (byte) Mad.CLASS_CM);
        mad.set(ValueLayout.JAVA_BYTE, 2, (byte) (random.nextInt(8) == 0 ? random.nextInt(256) : Mad.CM_VERSION));
        mad.set(ValueLayout.JAVA_BYTE, 3, (byte) Mad.METHOD_SEND);
        mad.set(ValueLayout.JAVA_BYTE, 16, (byte) 0);
        mad.set(ValueLayout.JAVA_BYTE, 17, (byte) attribute);
    }

    /// The owner decides something, by chance; and asks, so that there is something to answer.
    private void act() {
        if (!live.isEmpty()) {
            CmConnection connection = live.remove(random.nextInt(live.size()));
            switch (connection.state()) {
                case REQ_RECEIVED -> {
                    if (random.nextInt(4) == 0) {
                        connection.reject(RejectReason.CONSUMER_REJECT, PrivateData.NONE, now);
                    } else {
                        connection.accept(end(), now);
                        live.add(connection);
                    }
                }
                case REP_RECEIVED -> {
                    connection.ready(PrivateData.NONE, now);
                    live.add(connection);
                }
                case REP_SENT, ESTABLISHED, REQ_SENT -> connection.disconnect(PrivateData.NONE, now);
                case DREQ_SENT, TIMEWAIT, CLOSED -> {}
            }
        }
        if (!open.isEmpty()) {
            open.removeLast().answer(random.nextInt(3), 7, 8, PrivateData.NONE);
        }
        Gid to = attacker();
        if (random.nextInt(3) == 0) {
            CmConnection made = server.connect(new CmRoute(SERVER, to), TwoManagers.CALL, end(), this::onEvent, now);
            if (made != null && live.size() < 200) {
                live.add(made);
            }
        }
        now += random.nextInt(50_000_000);
        server.onDeadline(now);
    }

    private Gid attacker() {
        return new Gid(0, 0xFFFF_0B00_0000L + random.nextInt(3));
    }

    @Test
    void whateverArrivesTheManagerGoesOnAndHonestConnectionsStay() {
        server.listen(TwoManagers.SERVICE, 64, this::onEvent);
        server.answer(TwoManagers.SERVICE + 1, inquiry -> {
            if (open.size() < 100) {
                open.add(inquiry);
            }
        });
        connectHonestPeers();
        long answers = 0;
        for (long i = 0; i < DATAGRAMS; i++) {
            make();
            Gid from = attacker();
            if (random.nextInt(3) == 0) {
                // A REQ has to name the addresses that it travels between.
                MemorySegment.copy(MemorySegment.ofArray(from.bytes()), 0, mad, 24 + 56, Gid.BYTES);
                MemorySegment.copy(MemorySegment.ofArray(SERVER.bytes()), 0, mad, 24 + 72, Gid.BYTES);
            }
            try {
                server.onMad(mad, new CmRoute(SERVER, from), now);
            } catch (RuntimeException | Error e) {
                throw new AssertionError(
                        "seed " + SEED + ", datagram " + i + ": "
                                + HexFormat.of().formatHex(mad.toArray(ValueLayout.JAVA_BYTE)),
                        e);
            }
            int said = 0;
            for (var out = server.poll(); out != null; out = server.poll()) {
                said++;
                hear(out.message());
                assertThat(out.route().remote()).as("datagram %d", i).isNotEqualTo(HONEST);
            }
            assertThat(said)
                    .as("datagram %d: answers", i)
                    .isLessThanOrEqualTo(2); // one, and one to the peer that it displaces
            answers += said;
            if (i % 16 == 0) {
                act();
                for (var out = server.poll(); out != null; out = server.poll()) {
                    hear(out.message());
                }
            }
        }
        assertThat(honest).allMatch(connection -> connection.state() == State.ESTABLISHED);
        assertThat(server.size()).isLessThanOrEqualTo(CmLimits.DEFAULT.connections());
        System.out.printf(
                "H4: %,d management datagrams: 0 exceptions; %,d answered, %,d events; %d of %d honest connections stay; %s%n",
                DATAGRAMS, answers, told, honest.size(), HONEST_CONNECTIONS, server.counters());
        assertThat(told).as("the attacker gets somewhere").isGreaterThan(DATAGRAMS / 200);
        // Those that find no room are goal S6's. Suspects and secrets are the device's, which tells the manager
        // of them: S4 and S8.
        var elsewhere = EnumSet.of(CmCounter.SHED, CmCounter.PUT_OFF, CmCounter.SUSPECTED, CmCounter.UNPROVEN);
        for (CmCounter counter : EnumSet.complementOf(elsewhere)) {
            assertThat(server.get(counter)).as(counter.label()).isPositive();
        }
    }
}

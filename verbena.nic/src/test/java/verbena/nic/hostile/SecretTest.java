package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.GoalRun;
import verbena.nic.hostile.Visits.Visit;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.QpState;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.Secret;
import verbena.wire.Frame;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Packet;
import verbena.wire.mad.Mad;

/// Goal S8: connections whose ends prove to each other that they know a secret (decision 48). In virtual
/// time, on a wire that the attacker controls; and over sockets.
class SecretTest {
    private static final Secret SECRET = secret(1);

    private final Cable cable = new Cable(GoalRun.seed());
    private final Visits visits = new Visits(cable);
    private final List<String> said = new ArrayList<>();

    private static Secret secret(int fill) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) fill);
        return Secret.of(bytes);
    }

    private static ConnectionParameters with(Secret secret) {
        return ConnectionParameters.defaults().withSecret(secret);
    }

    private static MemorySegment mad(Frame frame) {
        return frame.slot.asSlice(Packet.payloadOffset(frame, Packet.opcode(frame)), Mad.BYTES);
    }

    /// The CM message in a frame; null when the frame is a queue pair's.
    private static @Nullable CmMessage message(Frame frame) {
        return Bth.destinationQp(frame.slot, frame.start) == Mad.QPN ? CmMessage.read(mad(frame)) : null;
    }

    /// Passes all messages between the two through `change`.
    private void between(UnaryOperator<CmMessage> change) {
        for (Cable.End end : List.of(cable.a, cable.b)) {
            end.tap = frame -> {
                CmMessage before = message(frame);
                if (before != null) {
                    said.add(before.getClass().getSimpleName());
                    CmMessage after = change.apply(before);
                    if (!after.equals(before)) {
                        after.write(mad(frame).fill((byte) 0));
                    }
                }
            };
        }
    }

    private void assertRefused(Visit visit, String why, int requests) {
        assertThat(visit.isMade()).isFalse();
        assertThat(visit.why()).contains(why);
        assertThat(visits.requests).as("requests that the application has seen").hasSize(requests);
    }

    @Test
    void aPeerWithTheSecretIsConnected() {
        visits.listen(with(SECRET));
        between(message -> message);
        Visit visit = visits.connect(with(SECRET));
        assertThat(visit.isMade()).as(visit.why()).isTrue();
        assertThat(visits.requests).as("without the proof").containsExactly("visit");
        assertThat(said).as("one way there and back more").containsSubsequence("Req", "Rej", "Req", "Rep", "Rtu");
        cable.pass(10_000_000);
        assertThat(visit.passive().state()).isEqualTo(QpState.RTS);
        assertThat(cable.b.count("cm.unproven")).isZero();
    }

    @Test
    void anotherSecretIsRefused() {
        visits.listen(with(SECRET));
        assertRefused(visits.connect(with(secret(2))), "has another secret", 0);
        assertThat(cable.b.count("cm.unproven")).isEqualTo(1);
    }

    @Test
    void noSecretIsRefusedByAListenerThatHasOne() {
        visits.listen(with(SECRET));
        assertRefused(visits.connect(), "takes connections with a secret only", 0);
        assertThat(cable.b.count("cm.unproven")).isEqualTo(1);
    }

    @Test
    void aSecretIsRefusedByAListenerWithoutOne() {
        visits.listen(ConnectionParameters.defaults());
        assertRefused(visits.connect(with(SECRET)), "has no secret for its connections", 0);
    }

    /// An attacker hears the whole exchange and sends the request again: at once, after the connection's end, or
    /// a minute later.
    @ParameterizedTest
    @ValueSource(longs = {0, 1_000_000_000L, 40_000_000_000L, 100_000_000_000L})
    void aProofThatWasHeardIsWorthNothing(long later) {
        visits.listen(with(SECRET));
        var heard = new ArrayList<Frame>();
        cable.a.tap = frame -> {
            if (message(frame) instanceof Req) {
                Frame copy = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES))[0];
                copy.copyFrom(frame);
                heard.add(copy);
            }
        };
        Visit visit = visits.connect(with(SECRET));
        assertThat(visit.isMade()).isTrue();
        visit.disconnect();
        cable.pass(later);
        for (Frame replay : heard) {
            // The same message, and then as if it were a connection with another ID and number.
            cable.b.arrival().copyFrom(replay);
            cable.pass(1_000_000);
            Req req = (Req) message(replay);
            Req other = new Req(
                    9,
                    0x7777,
                    req.serviceId(),
                    req.localCaGuid(),
                    req.localQkey(),
                    0x7777,
                    req.responderResources(),
                    req.initiatorDepth(),
                    req.remoteResponseTimeout(),
                    req.transportType(),
                    req.flowControl(),
                    req.startingPsn(),
                    req.localResponseTimeout(),
                    req.retryCount(),
                    req.pkey(),
                    req.pathMtu(),
                    req.rnrRetryCount(),
                    req.maxCmRetries(),
                    req.sharedReceiveQueue(),
                    req.primary(),
                    CmPath.NONE,
                    req.privateData());
            other.write(mad(replay).fill((byte) 0));
            cable.b.arrival().copyFrom(replay);
            cable.pass(1_000_000);
        }
        assertThat(visits.requests).as("requests that the application has seen").hasSize(1);
    }

    /// A change by a man in the middle.
    enum Change {
        QPN_OF_REQ,
        PSN_OF_REQ,
        PORT_OF_REQ,
        PRIVATE_DATA_OF_REQ,
        QPN_OF_REP,
        PSN_OF_REP,
        PRIVATE_DATA_OF_REP,
        PROOF_OF_REQ_AS_THAT_OF_REP,
        NO_SECRET_IN_REQ,
        NO_SECRET_IN_REP,
        ANOTHER_CHALLENGE
    }

    private PrivateData proof = PrivateData.NONE;

    private CmMessage change(CmMessage message, Change what) {
        return switch (message) {
            case Req req -> {
                proof = req.privateData().from(IpCmHeader.BYTES + 16);
                yield switch (what) {
                    case QPN_OF_REQ -> changed(req, req.localQkey(), req.localQpn() ^ 1, req.startingPsn());
                    case PSN_OF_REQ -> changed(req, req.localQkey(), req.localQpn(), req.startingPsn() ^ 1);
                    case PORT_OF_REQ -> changed(req, req.localQkey() ^ 1, req.localQpn(), req.startingPsn());
                    case NO_SECRET_IN_REQ -> changed(req, 0, req.localQpn(), req.startingPsn());
                    case PRIVATE_DATA_OF_REQ -> req.withPrivateData(flipped(req.privateData(), IpCmHeader.BYTES + 33));
                    default -> req;
                };
            }
            case Rep rep ->
                switch (what) {
                    case QPN_OF_REP -> changed(rep, rep.localQkey(), rep.localQpn() ^ 1, rep.startingPsn());
                    case PSN_OF_REP -> changed(rep, rep.localQkey(), rep.localQpn(), rep.startingPsn() ^ 1);
                    case NO_SECRET_IN_REP -> changed(rep, 0, rep.localQpn(), rep.startingPsn());
                    case PRIVATE_DATA_OF_REP -> rep.withPrivateData(flipped(rep.privateData(), 20));
                    case PROOF_OF_REQ_AS_THAT_OF_REP -> {
                        byte[] data = rep.privateData().bytes();
                        System.arraycopy(proof.bytes(), 0, data, 0, 16);
                        yield rep.withPrivateData(PrivateData.of(data));
                    }
                    default -> rep;
                };
            case Rej rej
            when what == Change.ANOTHER_CHALLENGE && rej.info().bytes()[4] == 2 ->
                new Rej(
                        rej.transactionId(),
                        rej.localCommId(),
                        rej.remoteCommId(),
                        rej.messageRejected(),
                        rej.infoLength(),
                        rej.reason(),
                        flipped(rej.info(), 9),
                        rej.privateData());
            default -> message;
        };
    }

    private static PrivateData flipped(PrivateData data, int at) {
        byte[] bytes = data.bytes();
        bytes[at] ^= 1;
        return PrivateData.of(bytes);
    }

    private static Req changed(Req req, int qkey, int qpn, int psn) {
        return new Req(
                req.transactionId(),
                req.localCommId(),
                req.serviceId(),
                req.localCaGuid(),
                qkey,
                qpn,
                req.responderResources(),
                req.initiatorDepth(),
                req.remoteResponseTimeout(),
                req.transportType(),
                req.flowControl(),
                psn,
                req.localResponseTimeout(),
                req.retryCount(),
                req.pkey(),
                req.pathMtu(),
                req.rnrRetryCount(),
                req.maxCmRetries(),
                req.sharedReceiveQueue(),
                req.primary(),
                req.alternate(),
                req.privateData());
    }

    private static Rep changed(Rep rep, int qkey, int qpn, int psn) {
        return new Rep(
                rep.transactionId(),
                rep.localCommId(),
                rep.remoteCommId(),
                qkey,
                qpn,
                psn,
                rep.responderResources(),
                rep.initiatorDepth(),
                rep.targetAckDelay(),
                rep.failover(),
                rep.flowControl(),
                rep.rnrRetryCount(),
                rep.sharedReceiveQueue(),
                rep.localCaGuid(),
                rep.privateData());
    }

    @ParameterizedTest
    @EnumSource(Change.class)
    void whatIsChangedOnTheWayIsFoundOut(Change what) {
        visits.listen(with(SECRET));
        between(message -> change(message, what));
        Visit visit = visits.connect(with(SECRET));
        assertThat(visit.isMade()).isFalse();
        boolean isSeenByActive = what.name().contains("_REP");
        assertRefused(
                visit,
                isSeenByActive
                        ? "has accepted without proving the secret"
                        : what == Change.NO_SECRET_IN_REQ ? "takes connections with a secret only" : "another secret",
                isSeenByActive ? 1 : 0);
        assertThat((isSeenByActive ? cable.a : cable.b).count("cm.unproven")).isEqualTo(1);
    }

    /// An attacker who pretends to be the passive side without the secret can send nothing that is taken for an
    /// acceptance.
    @Test
    void aPeerThatAcceptsWithoutASecretIsRefused() {
        visits.listen(ConnectionParameters.defaults());
        between(message -> message instanceof Req req
                ? changed(req, 0, req.localQpn(), req.startingPsn()) // B sees no secret, and accepts
                : message);
        assertRefused(visits.connect(with(SECRET)), "has accepted without proving the secret", 1);
    }

    /// Each message is lost once.
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void aLostMessageIsRepeated(int lost) {
        visits.listen(with(SECRET));
        int[] n = new int[1];
        for (Cable.End end : List.of(cable.a, cable.b)) {
            end.tap = frame -> {
                if (message(frame) != null && ++n[0] == lost) {
                    frame.length = 1; // too short for a packet
                }
            };
        }
        Visit visit = visits.connect(with(SECRET));
        assertThat(visit.isMade()).as(visit.why()).isTrue();
        cable.pass(2_000_000_000);
        assertThat(visit.passive().state()).isEqualTo(QpState.RTS);
    }

    @Test
    void hundredsOfRequestsWithoutAProofLeaveNothingBehind() {
        visits.listen(with(SECRET));
        for (int i = 0; i < 300; i++) {
            visits.connect(with(secret(3 + i % 100)));
            cable.pass(1_000_000);
        }
        assertThat(visits.requests).isEmpty();
        assertThat(cable.b.count("cm.unproven")).isEqualTo(300);
        assertThat(visits.connect(with(SECRET)).isMade()).isTrue();
    }

    @Test
    @Timeout(180)
    void overSockets() throws Exception {
        try (Context server = Device.named("rocev2").open();
                Context client = Device.named("rocev2,mtu=1024").open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var at = new InetSocketAddress(server.gid(1, 0).gid().address(), 0);
            var options = ConnectionOptions.defaults().withSecret(SECRET);
            var data = verbena.verbs.cm.PrivateData.of(new byte[24]);
            try (var listener = ConnectionListener.bind(
                    at,
                    options.withDevice(client)
                            .withDevice(server)
                            .withPrivateData(verbena.verbs.cm.PrivateData.of(new byte[180])))) {
                var accepted = threads.submit((Callable<Connection>) listener::accept);
                try (var made = Connection.connect(
                                listener.localAddress(),
                                options.withDevice(client).withPrivateData(data));
                        var other = accepted.get(30, TimeUnit.SECONDS)) {
                    assertThat(made.peer().privateData().length()).isEqualTo(180);
                    assertThat(other.peer().privateData().length()).isEqualTo(24);
                    made.write(
                            made.allocate(8).slice(0, 8),
                            other.allocate(8, verbena.verbs.Access.remoteAll()).remote());
                }
                assertThatThrownBy(() -> Connection.connect(
                                listener.localAddress(),
                                ConnectionOptions.defaults().withDevice(client).withSecret(secret(2))))
                        .isInstanceOf(ConnectionException.class)
                        .hasMessageContaining("another secret");
                assertThatThrownBy(() -> Connection.connect(
                                listener.localAddress(),
                                options.withDevice(client)
                                        .withPrivateData(verbena.verbs.cm.PrivateData.of(new byte[25]))))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("at most 24 bytes");
            }
            // The other direction, where the passive side has the smaller MTU.
            try (var listener = ConnectionListener.bind(
                    new InetSocketAddress(client.gid(1, 0).gid().address(), 0), options.withDevice(client))) {
                var accepted = threads.submit((Callable<Connection>) listener::accept);
                Connection.connect(listener.localAddress(), options.withDevice(server))
                        .close();
                accepted.get(30, TimeUnit.SECONDS).close();
            }
        }
    }

    /// MPA has room for more private data.
    @Test
    @Timeout(60)
    void overIwarp() throws Exception {
        try (Context server = Device.named("iwarp").open();
                Context client = Device.named("iwarp").open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var at = new InetSocketAddress(server.gid(1, 0).gid().address(), 0);
            var options = ConnectionOptions.defaults().withSecret(SECRET);
            var data = verbena.verbs.cm.PrivateData.of(new byte[56]);
            try (var listener = ConnectionListener.bind(
                    at, options.withDevice(server).withPrivateData(verbena.verbs.cm.PrivateData.of(new byte[200])))) {
                var accepted = threads.submit((Callable<Connection>) listener::accept);
                for (Secret wrong : List.of(secret(2), Secret.NONE)) {
                    var how = ConnectionOptions.defaults().withDevice(client);
                    assertThatThrownBy(() -> Connection.connect(
                                    listener.localAddress(), wrong.isNone() ? how : how.withSecret(wrong)))
                            .isInstanceOf(ConnectionException.class)
                            .hasMessageContaining(wrong.isNone() ? "with a secret only" : "another secret");
                }
                try (var made = Connection.connect(
                                listener.localAddress(),
                                options.withDevice(client).withPrivateData(data));
                        var other = accepted.get(30, TimeUnit.SECONDS)) {
                    assertThat(made.peer().privateData().length()).isEqualTo(200);
                    assertThat(other.peer().privateData().length()).isEqualTo(56);
                    made.write(
                            made.allocate(8).slice(0, 8),
                            other.allocate(8, verbena.verbs.Access.remoteAll()).remote());
                }
            }
        }
    }

    @Test
    void aSecretIsNotPrintedAndNotTooShort() {
        assertThat(SECRET)
                .hasToString("a secret of 32 bytes")
                .isEqualTo(secret(1))
                .isNotEqualTo(secret(2));
        assertThat(with(SECRET).toString()).doesNotContain("0101").contains("a secret of 32 bytes");
        assertThatThrownBy(() -> Secret.of(new byte[15])).hasMessage("secret: 16 to 1024 bytes, got 15");
    }
}

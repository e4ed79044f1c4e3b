package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import verbena.cm.CmConnection.State;
import verbena.verbs.Gid;
import verbena.wire.cm.Mra;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Req;
import verbena.wire.cm.SidrRep;

/// What the communication manager's owner sees; the exchanges are in [ExchangesTest].
class CommunicationManagerTest {
    private final TwoManagers two = new TwoManagers(7);

    @Test
    void aConnectionIsMadeAndEnded() {
        two.serve();
        CmConnection a = two.connect();
        two.run(TwoManagers.MILLIS);
        assertThat(two.said).containsExactly("a REQ", "b REP", "a RTU");
        assertThat(two.told("a")).containsExactly("Accepted", "Established");
        assertThat(two.told("b")).containsExactly("Requested", "Established");
        assertThat(a.state()).isEqualTo(State.ESTABLISHED);

        a.disconnect(PrivateData.NONE, two.now);
        two.run(TwoManagers.MILLIS);
        assertThat(two.said).endsWith("a DREQ", "b DREP").hasSize(5);
        assertThat(two.told("a")).endsWith("Disconnected");
        assertThat(two.told("b")).endsWith("Disconnected");
        assertThat(two.a.size()).isEqualTo(1);
        two.run(1_000 * TwoManagers.MILLIS);
        assertThat(two.a.size()).as("after timewait").isZero();
        assertThat(two.b.size()).isZero();
        assertThat(a.state()).isEqualTo(State.CLOSED);
    }

    @Test
    void aLostReqIsSentAgainTheSame() {
        var seen = new ArrayList<Req>();
        two.b.listen(TwoManagers.SERVICE, 1, (connection, event) -> {
            if (event instanceof CmEvent.Requested(Req request)) {
                seen.add(request);
                connection.accept(TwoManagers.END_B, two.now);
            }
        });
        two.loses = two.first(2, "a REQ");
        CmConnection a = two.connect();
        two.run(2_000 * TwoManagers.MILLIS);
        assertThat(two.said).startsWith("a REQ x", "a REQ x", "a REQ", "b REP", "a RTU");
        assertThat(seen).containsExactly(a.request());
    }

    @Test
    void aLostRepIsSentAgainWhenTheReqComesAgain() {
        two.serve();
        two.loses = two.first(1, "b REP");
        two.connect();
        two.run(2_000 * TwoManagers.MILLIS);
        assertThat(two.told("a")).containsExactly("Accepted", "Established");
        assertThat(two.told("b")).containsExactly("Requested", "Established");
    }

    @Test
    void aLostDreqOrDrepIsSentAgain() {
        two.serve();
        CmConnection a = two.connect();
        two.run(TwoManagers.MILLIS);
        two.said.clear();
        var lost = two.first(1, "a DREQ");
        var lostToo = two.first(1, "b DREP");
        two.loses = name -> lost.test(name) || lostToo.test(name);
        a.disconnect(PrivateData.NONE, two.now);
        two.run(60_000 * TwoManagers.MILLIS);
        assertThat(two.said).containsExactly("a DREQ x", "a DREQ", "b DREP x", "a DREQ", "b DREP");
        assertThat(two.told("a")).containsExactly("Accepted", "Established", "Disconnected", "TimewaitExit");
        assertThat(two.told("b")).containsExactly("Requested", "Established", "Disconnected", "TimewaitExit");
        assertThat(two.a.size() + two.b.size()).isZero();
    }

    @Test
    void bothMayEndItAtOnce() {
        var passive = new CmConnection[1];
        two.b.listen(TwoManagers.SERVICE, 1, (connection, event) -> {
            two.note("b").onEvent(connection, event);
            if (event instanceof CmEvent.Requested) {
                passive[0] = connection;
                connection.accept(TwoManagers.END_B, two.now);
            }
        });
        CmConnection a = two.connect();
        two.run(TwoManagers.MILLIS);
        a.disconnect(PrivateData.NONE, two.now);
        passive[0].disconnect(PrivateData.NONE, two.now);
        two.run(60_000 * TwoManagers.MILLIS);
        assertThat(two.told("a")).containsExactly("Accepted", "Established", "Disconnected", "TimewaitExit");
        assertThat(two.told("b")).containsExactly("Requested", "Established", "Disconnected", "TimewaitExit");
        assertThat(two.a.size() + two.b.size()).isZero();
    }

    @Test
    void nobodyListens() {
        var refusals = new ArrayList<Rej>();
        two.a.connect(
                TwoManagers.A_TO_B,
                TwoManagers.CALL,
                TwoManagers.END_A,
                (_, event) -> refusals.add(((CmEvent.Rejected) event).refusal()),
                two.now);
        two.run(TwoManagers.MILLIS);
        assertThat(refusals).hasSize(1);
        assertThat(RejectReason.of(refusals.getFirst().reason())).isEqualTo(RejectReason.INVALID_SERVICE_ID);
        assertThat(two.b.size()).isZero();
    }

    @Test
    void theApplicationSaysNo() {
        two.b.listen(
                TwoManagers.SERVICE,
                1,
                (connection, _) -> connection.reject(RejectReason.CONSUMER_REJECT, PrivateData.of((byte) 9), two.now));
        two.loses = two.first(1, "b REJ");
        var refusals = new ArrayList<Rej>();
        two.a.connect(
                TwoManagers.A_TO_B,
                TwoManagers.CALL,
                TwoManagers.END_A,
                (_, event) -> refusals.add(((CmEvent.Rejected) event).refusal()),
                two.now);
        two.run(60_000 * TwoManagers.MILLIS);
        // The second REQ finds the connection in timewait, and gets the same answer, or is refused anew.
        assertThat(refusals).hasSize(1);
        assertThat(refusals.getFirst().messageRejected()).isZero();
    }

    @Test
    void aSlowApplicationIsWaitedFor() {
        var passive = new CmConnection[1];
        two.b.listen(
                TwoManagers.SERVICE,
                1,
                (connection, _) -> passive[0] = Objects.requireNonNullElse(passive[0], connection));
        CmConnection a = two.connect();
        two.run(180_000 * TwoManagers.MILLIS);
        assertThat(two.said.getLast()).isEqualTo("b MRA");
        passive[0].accept(TwoManagers.END_B, two.now);
        two.run(TwoManagers.MILLIS);
        assertThat(a.state()).isEqualTo(State.ESTABLISHED);
    }

    @Test
    void aSilentPeerIsGivenUp() {
        two.loses = name -> name.startsWith("b");
        two.serve();
        var told = new ArrayList<CmEvent>();
        two.a.connect(TwoManagers.A_TO_B, TwoManagers.CALL, TwoManagers.END_A, (_, event) -> told.add(event), two.now);
        two.run(60_000 * TwoManagers.MILLIS);
        assertThat(told)
                .containsExactly(new CmEvent.Unreachable("10.0.0.2 did not answer REQ, sent 16 times in 9.7 s"));
        assertThat(two.said.stream().filter("a REQ"::equals)).hasSize(16);
        assertThat(two.said).as("the end of it is told").contains("a REJ");
        assertThat(two.told("b")).containsExactly("Requested", "Rejected", "TimewaitExit");
        assertThat(two.a.size() + two.b.size()).isZero();
    }

    @Test
    void anAttemptCanBeGivenUp() {
        var events = new ArrayList<CmEvent>();
        two.b.listen(TwoManagers.SERVICE, 1, (_, event) -> events.add(event));
        CmConnection a = two.connect();
        two.run(TwoManagers.MILLIS);
        a.disconnect(PrivateData.NONE, two.now);
        two.run(60_000 * TwoManagers.MILLIS);
        assertThat(two.told("a")).isEmpty();
        assertThat(events).hasSize(2);
        assertThat(events.get(1)).isInstanceOf(CmEvent.Rejected.class);
        assertThat(two.b.size()).isZero();
    }

    @Test
    void theBacklogIsALimit() {
        two.b.listen(TwoManagers.SERVICE, 2, two.note("b"));
        for (int i = 0; i < 3; i++) {
            two.a.connect(
                    TwoManagers.A_TO_B,
                    TwoManagers.CALL,
                    new CmEnd(i + 1, 0, 1, 1, 7, false, CmExtension.NONE, PrivateData.NONE),
                    two.note("a"),
                    two.now);
        }
        two.run(TwoManagers.MILLIS);
        assertThat(two.told("b")).containsExactly("Requested", "Requested");
        assertThat(two.told("a")).isEmpty();
        assertThat(two.b.get(CmCounter.PUT_OFF)).isEqualTo(1);
    }

    @Test
    void aPeerThatForgotIsStale() {
        two.serve();
        two.connect();
        two.run(TwoManagers.MILLIS);
        // It has been restarted, draws the same queue pair number, and knows nothing of the old connection.
        var again =
                new CommunicationManager(0xA, CommunicationManager.NO_SLOT, new java.util.Random(99), CmLimits.DEFAULT);
        var refusals = new ArrayList<Rej>();
        again.connect(
                TwoManagers.A_TO_B,
                TwoManagers.CALL,
                TwoManagers.END_A,
                (_, event) -> refusals.add(((CmEvent.Rejected) event).refusal()),
                two.now);
        two.b.onMessage(Objects.requireNonNull(again.poll()).message(), TwoManagers.B_TO_A, two.now);
        again.onMessage(Objects.requireNonNull(two.b.poll()).message(), TwoManagers.A_TO_B, two.now);
        assertThat(RejectReason.of(refusals.getFirst().reason())).isEqualTo(RejectReason.STALE_CONNECTION);
    }

    @Test
    void aStrangerCannotEndAConnection() {
        two.serve();
        CmConnection a = two.connect();
        two.run(TwoManagers.MILLIS);
        var stranger = new CmRoute(Gid.parse("10.0.0.2"), Gid.parse("10.0.0.66"));
        int ours = 1;
        int theirs = a.localCommId();
        two.b.onMessage(new verbena.wire.cm.Dreq(1, theirs, ours, 0x2222, PrivateData.NONE), stranger, two.now);
        two.run(TwoManagers.MILLIS);
        assertThat(two.told("b")).containsExactly("Requested", "Established");
        assertThat(two.b.get(CmCounter.STRAYS)).isEqualTo(1);
    }

    /// Room for four, of which three are the share of a peer. The first peer asks four times, and then the second.
    @Test
    void whoHasMoreThanTheShareGivesRoomUpTheOldestFirst() {
        var limited = new CommunicationManager(
                0xB, CommunicationManager.NO_SLOT, new java.util.Random(3), new CmLimits(100, 4, 3));
        var waiting = new ArrayList<CmConnection>();
        var ends = new ArrayList<CmEvent>();
        limited.listen(TwoManagers.SERVICE, 100, (connection, event) -> {
            if (event instanceof CmEvent.Requested) {
                waiting.add(connection);
            } else {
                ends.add(event);
            }
        });
        var asked = new ArrayList<Integer>();
        var answers = new ArrayList<String>();
        for (int i = 0; i < 8; i++) {
            Req req = request(limited, i, Gid.parse("10.0.1." + i / 4));
            asked.add(req.localCommId());
            for (var said = limited.poll(); said != null; said = limited.poll()) {
                switch (said.message()) {
                    case Rej rej -> answers.add("refused " + asked.indexOf(rej.remoteCommId()));
                    case Mra mra -> answers.add("put off " + asked.indexOf(mra.remoteCommId()));
                    default -> answers.add(said.toString());
                }
            }
        }
        assertThat(answers).containsExactly("refused 0", "refused 1", "refused 2", "put off 7");
        assertThat(limited.get(CmCounter.SHED)).isEqualTo(3);
        assertThat(limited.get(CmCounter.PUT_OFF)).isEqualTo(1);
        assertThat(ends)
                .hasSize(3)
                .containsOnly(new CmEvent.Unreachable(
                        "the request of 10.0.1.0 was forgotten: too many connections are being made"));
        assertThat(waiting.stream().map(CmConnection::state))
                .containsExactly(
                        State.CLOSED,
                        State.CLOSED,
                        State.CLOSED,
                        State.REQ_RECEIVED,
                        State.REQ_RECEIVED,
                        State.REQ_RECEIVED,
                        State.REQ_RECEIVED);
    }

    /// As MPI does at its start: more requests of one host than the share of a peer, and more than the backlog.
    @Test
    void oneHostMayAskAsOftenAsThereIsRoom() {
        var waiting = new ArrayDeque<CmConnection>();
        var server =
                new CommunicationManager(0xB, CommunicationManager.NO_SLOT, new java.util.Random(3), CmLimits.DEFAULT);
        server.listen(TwoManagers.SERVICE, 200, (connection, event) -> {
            if (event instanceof CmEvent.Requested) {
                waiting.add(connection);
            }
        });
        for (int i = 0; i < 300; i++) {
            Req _ = request(server, i, Gid.parse("10.0.1.1"));
        }
        assertThat(waiting).hasSize(200);
        assertThat(server.get(CmCounter.PUT_OFF)).isEqualTo(100);
        assertThat(server.get(CmCounter.REFUSED)).isZero();
        Req _ = request(server, 300, Gid.parse("10.0.1.2")); // a neighbour is not kept out
        assertThat(waiting).hasSize(201);
        assertThat(waiting.getFirst().state()).isEqualTo(State.CLOSED);
        assertThat(waiting.getLast().route().remote()).isEqualTo(Gid.parse("10.0.1.2"));
    }

    /// A host of its own asks.
    private Req request(CommunicationManager of, int number, Gid from) {
        Gid here = Gid.parse("10.0.0.2");
        var asker = new CommunicationManager(
                0xA0 + number, CommunicationManager.NO_SLOT, new java.util.Random(number), CmLimits.DEFAULT);
        asker.connect(new CmRoute(from, here), TwoManagers.CALL, TwoManagers.END_A, (_, _) -> {}, two.now);
        var req = (Req) Objects.requireNonNull(asker.poll()).message();
        of.onMessage(req, new CmRoute(here, from), two.now);
        return req;
    }

    /// A peer that is asked to wait asks again later, and gets an answer then.
    @Test
    void whoIsPutOffConnectsWhenThereIsRoom() {
        var waiting = new ArrayDeque<CmConnection>();
        two.b.listen(TwoManagers.SERVICE, 1, (connection, event) -> {
            if (event instanceof CmEvent.Requested) {
                waiting.add(connection);
            }
        });
        Req _ = request(two.b, 7, Gid.parse("10.0.1.1"));
        two.b.poll();
        two.connect();
        two.run(TwoManagers.MILLIS);
        assertThat(two.b.get(CmCounter.PUT_OFF)).isEqualTo(1);
        waiting.remove().reject(RejectReason.CONSUMER_REJECT, PrivateData.NONE, two.now);
        two.run(5_000 * TwoManagers.MILLIS);
        waiting.remove().accept(TwoManagers.END_B, two.now);
        two.run(TwoManagers.MILLIS);
        assertThat(two.told("a")).contains("Accepted");
    }

    @Test
    void datagramServicesAreFound() {
        two.b.answer(
                TwoManagers.SERVICE,
                inquiry -> inquiry.answer(
                        SidrRep.VALID, 0x77, 0x88, inquiry.request().privateData()));
        two.loses = two.first(1, "b SIDRREP");
        var answers = new ArrayList<SidrRep>();
        ask(TwoManagers.SERVICE, answers);
        two.run(10_000 * TwoManagers.MILLIS);
        assertThat(answers).hasSize(1);
        assertThat(answers.getFirst().qpn()).isEqualTo(0x77);
        assertThat(answers.getFirst().qkey()).isEqualTo(0x88);
        answers.clear();
        ask(TwoManagers.SERVICE + 1, answers);
        two.run(10_000 * TwoManagers.MILLIS);
        assertThat(answers.getFirst().status()).isEqualTo(SidrRep.NOT_SUPPORTED);
        answers.clear();
        two.loses = _ -> true;
        ask(TwoManagers.SERVICE, answers);
        two.run(60_000 * TwoManagers.MILLIS);
        assertThat(answers).as("silence").containsExactly((SidrRep) null);
    }

    private void ask(long service, List<SidrRep> answers) {
        two.a.ask(
                TwoManagers.A_TO_B,
                service,
                17,
                15,
                PrivateData.of((byte) 5),
                new SidrRequest.Listener() {
                    @Override
                    public void onAnswer(SidrRep answer) {
                        answers.add(answer);
                    }

                    @Override
                    public void onSilence() {
                        answers.add(null);
                    }
                },
                two.now);
    }

    @Test
    void verbsHaveTheirStates() {
        CmConnection a = two.connect();
        assertThatThrownBy(() -> a.accept(TwoManagers.END_A, two.now))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("accept: the connection is in REQ_SENT, not in REQ_RECEIVED");
        assertThatThrownBy(() -> a.ready(PrivateData.NONE, two.now)).hasMessageContaining("not in REP_RECEIVED");
        assertThatThrownBy(() -> a.reject(RejectReason.NO_QP, PrivateData.NONE, two.now))
                .hasMessage("reject: the connection is in REQ_SENT");
    }

    /// Several managers may share an address, and repeated requests have to be brought to this one.
    @Test
    void aClosedServiceIsQuietWhenItsRequestIsEstablished() {
        CmConnection asked = aRequest();
        List<String> quiet = closeService();

        two.loses = two.first(1, "b REP");
        asked.accept(TwoManagers.END_B, two.now);
        assertThat(quiet).as("the answer may be lost").isEmpty();
        two.run(2_000 * TwoManagers.MILLIS);

        assertThat(two.told("a")).contains("Established");
        assertThat(quiet).hasSize(1);
    }

    @Test
    void aClosedServiceIsQuietWhenItsRequestIsRejected() {
        CmConnection asked = aRequest();
        List<String> quiet = closeService();

        assertThat(quiet).as("a request waits").isEmpty();
        asked.reject(RejectReason.CONSUMER_REJECT, PrivateData.NONE, two.now);

        assertThat(quiet).hasSize(1);
    }

    private CmConnection aRequest() {
        var asked = new ArrayList<CmConnection>();
        two.b.listen(TwoManagers.SERVICE, 1, (connection, event) -> {
            if (event instanceof CmEvent.Requested) {
                asked.add(connection);
            }
        });
        two.connect();
        two.run(TwoManagers.MILLIS);
        return asked.getFirst();
    }

    @Test
    void aClosedServiceOfDatagramsIsQuietWhenItsLastRequestIsAnswered() {
        var asked = new ArrayList<SidrInquiry>();
        two.b.answer(TwoManagers.SERVICE, asked::add);
        ask(TwoManagers.SERVICE, new ArrayList<>());
        two.run(TwoManagers.MILLIS);

        List<String> quiet = closeService();
        assertThat(quiet).isEmpty();
        asked.getFirst().answer(SidrRep.VALID, 1, 2, PrivateData.NONE);

        assertThat(quiet).hasSize(1);
    }

    @Test
    void aClosedServiceThatNoPeerAsksForIsQuietAtOnce() {
        assertThat(closeService()).hasSize(1);
    }

    /// Closes the service at both addresses of b; what is returned grows when the first of them is quiet.
    private List<String> closeService() {
        var quiet = new ArrayList<String>();
        two.b.unlisten(TwoManagers.SERVICE);
        two.b.unanswer(TwoManagers.SERVICE);
        two.b.whenQuiet(TwoManagers.SERVICE, TwoManagers.B_TO_A.local(), () -> quiet.add("quiet"));
        var elsewhere = new ArrayList<String>();
        two.b.whenQuiet(TwoManagers.SERVICE, Gid.parse("10.0.0.3"), () -> elsewhere.add("quiet"));
        assertThat(elsewhere).as("at an address that no peer has asked at").hasSize(1);
        return quiet;
    }
}

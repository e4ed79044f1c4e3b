package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import verbena.nic.GoalRun;
import verbena.transport.PacketFate;
import verbena.verbs.Access;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.GidType;
import verbena.verbs.Mtu;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;
import verbena.wire.ib.Psn;

/// Goal S10: every fate of a packet, provoked 1,000 times, and 10,000 with `-Dverbena.deep=true`. The number of
/// received packets is the sum of all fates, and each packet is counted under its fate only.
class FatesTest {
    private static final int TIMES = GoalRun.size(1_000, 10_000);
    private static final int PEER_QPN = 0x77;
    private static final int QKEY = 0x1234;

    private final Cable cable = new Cable(GoalRun.seed());
    /// The device; the test plays its peer.
    private final Cable.End here = cable.b;

    private final QueuePair qp = here.qp;
    private final WorkCompletion wc = new WorkCompletion();
    private int psn;
    private Map<PacketFate, Long> before = fates();

    private Map<PacketFate, Long> fates() {
        var fates = new EnumMap<PacketFate, Long>(PacketFate.class);
        for (PacketFate fate : PacketFate.values()) {
            fates.put(fate, here.count(fate.label()));
        }
        return fates;
    }

    private void connect() {
        psn = 0xFF_FFF0;
        qp.connect(new Endpoint(cable.a.gid.gid(), GidType.ROCE_V2, PEER_QPN, psn, Mtu.MTU_1024));
    }

    private void reconnect() {
        qp.modify(new Transition.ToReset());
        connect();
    }

    private void arrives(String packet) {
        here.inject(packet.contains(" qp ") ? packet : packet + " qp 0x" + Integer.toHexString(qp.qpn()));
        cable.settle();
    }

    /// `va … rkey …` of the region with all rights.
    private String memory() {
        return "va 0x%x rkey 0x%x".formatted(here.memory.address(), here.memory.rkey());
    }

    /// Asserts that all packets since the last call, except those in `before`, met this fate.
    private void assertAll(PacketFate fate, int packets) {
        Map<PacketFate, Long> after = fates();
        for (PacketFate each : PacketFate.values()) {
            assertThat(after.get(each) - before.get(each)).as(each.label()).isEqualTo(each == fate ? packets : 0);
        }
        assertThat(here.count("received.packets"))
                .isEqualTo(after.values().stream().mapToLong(n -> n).sum());
        before = after;
    }

    @ParameterizedTest
    @EnumSource(PacketFate.class)
    void eachPacketHasOneFateAndEachFateItsCounter(PacketFate fate) {
        Runnable provoke = switch (fate) {
            case ACCEPTED -> this::whatIsCarriedOutIsAccepted;
            case DUPLICATE -> this::whatWasCarriedOutBeforeIsADuplicate;
            case REFUSED -> this::aWrongKeyIsRefused;
            case OUT_OF_SEQUENCE -> this::whatComesAheadOfAGapIsOutOfSequence;
            case RECEIVER_NOT_READY -> this::aSendThatFindsNoReceiveIsTooEarly;
            case DROPPED_MALFORMED -> this::anotherVersionIsMalformed;
            case DROPPED_ICRC -> this::aWrongIcrcIsDropped;
            case DROPPED_UNKNOWN_QP -> this::anUnusedNumberIsUnknown;
            case DROPPED_CLOSED_QP -> this::aNumberOfAClosedQueuePairIsKnownAsClosed;
            case DROPPED_WRONG_SERVICE -> this::packetsOfAnotherServiceAreDropped;
            case DROPPED_STATE -> this::nothingIsReceivedBeforeRtr;
            case DROPPED_PKEY -> this::anotherPartitionIsDropped;
            case DROPPED_QKEY -> this::aDatagramWithAWrongQkeyIsDropped;
            case DROPPED_SOURCE -> this::aPacketFromAnotherSourceIsDropped;
            case DROPPED_NO_REPLAY -> this::aDuplicateReadThatIsNotRememberedIsDropped;
            case DROPPED_BUSY -> this::whatCannotBeAnsweredBecauseNothingLeavesIsDropped;
            case DROPPED_GHOST_ACK -> this::anAnswerToWhatWasNeverSentIsAGhost;
            case DROPPED_EARLY_RESPONSE -> this::aResponseBeforeAnEarlierOneIsDropped;
            case DROPPED_MESSAGE -> this::aDatagramWithoutAReceiveIsLost;
            case DROPPED_NOTIFICATION -> this::aNotificationThatNothingHeedsIsDropped;
            case DROPPED_MANAGEMENT -> this::aManagementDatagramWithoutAnAgentIsDropped;
        };
        provoke.run();
        assertAll(fate, TIMES);
        GoalRun.print(
                "S10", TIMES + " packets met the fate " + fate.label() + "; received less the sum of all fates is 0");
    }

    private void whatIsCarriedOutIsAccepted() {
        connect();
        for (int i = 0; i < TIMES; i++, psn = Psn.next(psn)) {
            arrives("WRITE_ONLY psn %d %s len 8 | 8".formatted(psn, memory()));
        }
    }

    private void whatWasCarriedOutBeforeIsADuplicate() {
        connect();
        arrives("WRITE_ONLY psn %d %s len 8 | 8".formatted(psn, memory()));
        assertAll(PacketFate.ACCEPTED, 1);
        for (int i = 0; i < TIMES; i++) {
            arrives("WRITE_ONLY psn %d %s len 8 | 8".formatted(psn, memory()));
        }
    }

    private void aWrongKeyIsRefused() {
        for (int i = 0; i < TIMES; i++) {
            reconnect();
            arrives("WRITE_ONLY psn %d va 0 rkey 0x%x len 8 | 8".formatted(psn, here.memory.rkey() ^ 1));
        }
    }

    private void whatComesAheadOfAGapIsOutOfSequence() {
        connect();
        for (int i = 0; i < TIMES; i++) {
            arrives("WRITE_ONLY psn %d %s len 8 | 8".formatted(Psn.add(psn, 1 + i), memory()));
        }
    }

    private void aSendThatFindsNoReceiveIsTooEarly() {
        connect();
        for (int i = 0; i < TIMES; i++) {
            arrives("SEND_ONLY psn %d | 8".formatted(psn));
        }
    }

    private void anotherVersionIsMalformed() {
        connect();
        for (int i = 0; i < TIMES; i++) {
            arrives("SEND_ONLY psn %d version 1 | 8".formatted(psn));
        }
    }

    private void aWrongIcrcIsDropped() {
        connect();
        for (int i = 0; i < TIMES; i++) {
            arrives("SEND_ONLY psn %d qp 0x%x | 8 badicrc".formatted(psn, qp.qpn()));
        }
    }

    private void anUnusedNumberIsUnknown() {
        connect();
        for (int i = 0; i < TIMES; i++) {
            arrives("SEND_ONLY psn %d qp 0x%x | 8".formatted(psn, qp.qpn() ^ (1 + i)));
        }
    }

    private void aNumberOfAClosedQueuePairIsKnownAsClosed() {
        connect();
        qp.close();
        for (int i = 0; i < TIMES; i++) {
            arrives("SEND_ONLY psn %d | 8".formatted(psn));
        }
    }

    private void packetsOfAnotherServiceAreDropped() {
        connect();
        for (int i = 0; i < TIMES; i++) {
            arrives("UC_SEND_ONLY psn %d | 8".formatted(psn));
        }
    }

    private void nothingIsReceivedBeforeRtr() {
        qp.modify(new Transition.ToInit(Access.remoteAll()));
        for (int i = 0; i < TIMES; i++) {
            arrives("SEND_ONLY psn %d | 8".formatted(psn));
        }
    }

    private void anotherPartitionIsDropped() {
        connect();
        for (int i = 0; i < TIMES; i++) {
            arrives("SEND_ONLY psn %d pkey 0x8123 | 8".formatted(psn));
        }
    }

    private void aNotificationThatNothingHeedsIsDropped() {
        connect();
        for (int i = 0; i < TIMES; i++) {
            arrives("CNP psn 0 becn | 16");
        }
    }

    /// A queue pair for datagrams, with no receive posted.
    private QueuePair datagrams() {
        QueuePair ud = here.domain.createQueuePair(QueuePairOptions.ud(here.cq));
        ud.modify(new Transition.ToInitUd(1, 0, QKEY));
        ud.modify(new Transition.ToRtrUd());
        return ud;
    }

    private void aDatagramWithAWrongQkeyIsDropped() {
        int ud = datagrams().qpn();
        for (int i = 0; i < TIMES; i++) {
            arrives("UD_SEND_ONLY psn 1 qp 0x%x qkey 0x4321 srcqp 5 | 8".formatted(ud));
        }
    }

    private void aDatagramWithoutAReceiveIsLost() {
        int ud = datagrams().qpn();
        for (int i = 0; i < TIMES; i++) {
            arrives("UD_SEND_ONLY psn 1 qp 0x%x qkey 0x1234 srcqp 5 | 8".formatted(ud));
        }
    }

    private void aManagementDatagramWithoutAnAgentIsDropped() {
        here.context.manage(0x09, (_, _, _, _) -> {});
        for (int i = 0; i < TIMES; i++) {
            arrives("UD_SEND_ONLY psn 1 qp 1 qkey 0x80010000 srcqp 1 | 256");
        }
    }

    private void aPacketFromAnotherSourceIsDropped() {
        qp.connect(new Endpoint(Gid.parse("10.0.0.77"), GidType.ROCE_V2, PEER_QPN, psn, Mtu.MTU_1024));
        for (int i = 0; i < TIMES; i++) {
            arrives("SEND_ONLY psn %d | 8".formatted(psn));
        }
    }

    private void aDuplicateReadThatIsNotRememberedIsDropped() {
        connect();
        for (int i = 0; i < TIMES; i++) {
            arrives("READ_REQUEST psn %d %s len 8".formatted(Psn.previous(psn), memory()));
        }
    }

    private void whatCannotBeAnsweredBecauseNothingLeavesIsDropped() {
        connect();
        here.room = 0;
        // Each repetition of an atomic is owed a response: the way out fills up, and then the queue of responses.
        String atomic = "FETCH_ADD psn %d qp 0x%x %s add 1".formatted(psn, qp.qpn(), memory());
        for (int i = 0; here.count("dropped.busy") == 0; i++) {
            assertThat(i).isLessThan(1_000);
            here.inject(atomic);
            here.context.drive();
        }
        before = fates();
        for (int i = 0; i < TIMES; i++) {
            here.inject(atomic);
            here.context.drive();
        }
    }

    private void anAnswerToWhatWasNeverSentIsAGhost() {
        connect();
        int never = Psn.add(qp.query().sending().sqPsn(), 1_000);
        for (int i = 0; i < TIMES; i++) {
            arrives("ACK psn %d msn 1".formatted(never));
        }
    }

    private void aResponseBeforeAnEarlierOneIsDropped() {
        connect();
        int first = qp.query().sending().sqPsn();
        for (int i = 0; i < TIMES; i++, first = Psn.add(first, 2)) {
            qp.postRead(1, new RemoteMemory(0, 1, 8), here.memory.slice(0, 8));
            qp.postRead(2, new RemoteMemory(0, 1, 8), here.memory.slice(8, 8));
            cable.settle();
            arrives("READ_RESPONSE_ONLY psn %d msn 1 | 8".formatted(Psn.next(first)));
            arrives("READ_RESPONSE_ONLY psn %d msn 1 | 8".formatted(first));
            arrives("READ_RESPONSE_ONLY psn %d msn 2 | 8".formatted(Psn.next(first)));
            before.merge(PacketFate.ACCEPTED, 2L, Long::sum); // the two responses in order
            for (int read = 1; read <= 2; read++) {
                assertThat(here.cq.poll(wc)).isTrue();
                assertThat(wc.ok()).as(wc.toString()).isTrue();
            }
        }
    }
}

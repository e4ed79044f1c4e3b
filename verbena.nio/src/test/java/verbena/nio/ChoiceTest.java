package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import verbena.nio.Choice.Failure;
import verbena.nio.Choice.Turn;
import verbena.nio.KnownPeers.Reach;

/// Which of RDMA and TCP is tried when, and what is learnt from it. Time is virtual.
class ChoiceTest {
    private static final long WAIT = millis(250);
    private static final long FOREVER = Long.MAX_VALUE;

    private final KnownPeers known = new KnownPeers(WAIT);
    private final InetSocketAddress peer = at(7_000);
    private long now = -millis(5); // the clock of the JVM may begin below zero

    private static long millis(long of) {
        return Duration.ofMillis(of).toNanos();
    }

    private static InetSocketAddress at(int port) {
        return new InetSocketAddress(InetAddress.ofLiteral("10.1.2.3"), port);
    }

    private Choice begin(InetSocketAddress to, Reach reach, long limit) {
        return new Choice(known, to, reach, true, limit, now);
    }

    private Choice begin() {
        return begin(peer, Reach.HOST, FOREVER);
    }

    private Turn after(Choice of, long millis) {
        now += millis(millis);
        of.onTime(now);
        return of.turn();
    }

    @Test
    void aPeerThatSaysNothingHasItsHeadStartAndThenItIsTcpsTurn() {
        Choice choice = begin();
        choice.onAsked(now);
        assertThat(after(choice, 249)).isEqualTo(Turn.RDMA);
        assertThat(choice.nanosLeft(now)).isEqualTo(millis(1));
        assertThat(after(choice, 1)).isEqualTo(Turn.TCP);
        assertThat(choice.onAnswer(now)).as("too late: it is not confirmed").isFalse();
        assertThat(choice.onRdma()).isFalse();
        assertThat(choice.onTcp(now)).isTrue();
        assertThat(choice.turn()).isEqualTo(Turn.OVER);
    }

    @Test
    void aHostThatSaidNothingIsLeftAloneLongerEachTime() {
        for (int seconds : new int[] {10, 20, 40, 60, 60}) {
            Choice choice = begin();
            choice.onAsked(now);
            assertThat(after(choice, 250)).isEqualTo(Turn.TCP);
            now += millis(seconds * 1_000L) - 1;
            assertThat(begin(at(7_001), Reach.HOST, FOREVER).turn())
                    .as("any listener of the host")
                    .isEqualTo(Turn.TCP);
            now += 1;
            assertThat(begin().turn()).isEqualTo(Turn.RDMA);
        }
    }

    @Test
    void anAnswerInTimeIsConfirmedAndTheHostHasLongerFromThenOn() {
        Choice choice = begin();
        choice.onAsked(now);
        assertThat(choice.onAnswer(now)).isTrue();
        assertThat(choice.nanosLeft(now)).isEqualTo(FOREVER);
        assertThat(after(choice, 10_000))
                .as("the last step takes what it takes")
                .isEqualTo(Turn.RDMA);
        assertThat(choice.onRdma()).isTrue();
        assertThat(choice.turn()).isEqualTo(Turn.OVER);
        Choice next = begin();
        next.onAsked(now);
        assertThat(after(next, 999)).isEqualTo(Turn.RDMA);
        assertThat(after(next, 1)).isEqualTo(Turn.TCP);
    }

    @Test
    void aPeerOfThisHostHasThreeTimesTheWait() {
        Choice choice = begin(peer, Reach.WITHIN, FOREVER);
        choice.onAsked(now);
        assertThat(after(choice, 749)).isEqualTo(Turn.RDMA);
        assertThat(after(choice, 1)).isEqualTo(Turn.TCP);
        assertThat(begin(at(7_001), Reach.WITHIN, FOREVER).turn())
                .as("another listener of this host")
                .isEqualTo(Turn.RDMA);
    }

    @Test
    void aDeviceThatOpensSlowlyDoesNotCountAsThePeersSilence() {
        Choice choice = begin();
        assertThat(after(choice, 749)).isEqualTo(Turn.RDMA);
        assertThat(after(choice, 1)).isEqualTo(Turn.TCP);
        assertThat(begin().turn()).isEqualTo(Turn.RDMA);
    }

    @Test
    void theLimitOfTheProgramLeavesThreeQuartersToTcp() {
        Choice choice = begin(peer, Reach.HOST, millis(1_200));
        assertThat(after(choice, 200)).isEqualTo(Turn.RDMA);
        choice.onAsked(now);
        assertThat(after(choice, 99)).isEqualTo(Turn.RDMA);
        assertThat(after(choice, 1)).isEqualTo(Turn.TCP);
    }

    @Test
    void aShortLimitIsForTcpUnlessTheHostHasAnsweredBefore() {
        assertThat(begin(peer, Reach.HOST, millis(999)).turn()).isEqualTo(Turn.TCP);
        assertThat(begin().onAnswer(now)).isTrue();
        Choice choice = begin(peer, Reach.HOST, millis(400));
        choice.onAsked(now);
        assertThat(after(choice, 99)).isEqualTo(Turn.RDMA);
        assertThat(after(choice, 1)).isEqualTo(Turn.TCP);
    }

    @Test
    void whatAShortLimitIsDoesNotDependOnTheWait() {
        for (long wait : new long[] {1, 250, 20_000}) {
            var others = new KnownPeers(millis(wait));
            assertThat(others.headStart(peer, Reach.HOST, millis(999), now)).isZero();
            assertThat(others.headStart(peer, Reach.HOST, millis(1_000), now)).isPositive();
        }
    }

    @Test
    void withinThisHostAShortLimitLeavesAQuarterToRdma() {
        Choice choice = begin(peer, Reach.WITHIN, millis(400)); // the kernel has said that a process has the port
        assertThat(after(choice, 99)).isEqualTo(Turn.RDMA);
        assertThat(after(choice, 1)).isEqualTo(Turn.TCP);
    }

    @Test
    void anAttemptThatIsGivenUpIsRememberedSoThatALaterOneReachesAPeerWithoutRdma() {
        int tries = 0;
        while (begin().turn() == Turn.RDMA) {
            Choice choice = begin();
            choice.onAsked(now);
            if (after(choice, 15) == Turn.RDMA) { // a limit of which the channel is not told
                choice.onCancel(now);
            }
            assertThat(++tries).isLessThan(4);
        }
        assertThat(tries).isPositive();
        now += millis(60_000);
        assertThat(begin().turn()).isEqualTo(Turn.RDMA);
    }

    @Test
    void aRefusalIsTcpsTurnAtOnceAndIsRememberedWhenTcpIsTaken() {
        Choice choice = begin();
        choice.onAsked(now);
        assertThat(choice.onRdmaFailed(Failure.REFUSED, now)).isTrue();
        assertThat(choice.turn()).isEqualTo(Turn.TCP);
        assertThat(begin().turn()).isEqualTo(Turn.RDMA);
        choice.onTcp(now);
        assertThat(begin().turn()).isEqualTo(Turn.TCP);
        assertThat(begin(at(7_001), Reach.HOST, FOREVER).turn()).isEqualTo(Turn.RDMA);
        known.listensForBoth(7_000);
        assertThat(begin().turn()).isEqualTo(Turn.RDMA);
    }

    @Test
    void aConnectionThatFailsAtTheLastStepGoesByTcp() {
        Choice choice = begin();
        choice.onAsked(now);
        assertThat(choice.onAnswer(now)).isTrue();
        choice.onRdmaFailed(Failure.OWN, now);
        assertThat(choice.turn()).isEqualTo(Turn.TCP);
    }

    @Test
    void whatIsGivenUpTakesNothing() {
        Choice choice = begin();
        choice.onCancel(now);
        assertThat(choice.onAnswer(now)).isFalse();
        assertThat(choice.onRdma()).isFalse();
        assertThat(choice.onTcp(now)).isFalse();
        assertThat(choice.onRdmaFailed(Failure.SILENCE, now)).isFalse();
        assertThat(after(choice, 1_000_000)).isEqualTo(Turn.OVER);
    }

    private void closed(long bytes, long setupMillis, long millis) {
        known.closed(peer, bytes, millis(setupMillis), millis(millis), now);
    }

    @Test
    void shortConnectionsInARowLeaveTheNextOnesToTcpUntilThereIsALongOneOrAPause() {
        for (int i = 0; i < KnownPeers.SHORTS_MAX; i++) {
            assertThat(begin().turn()).isEqualTo(Turn.RDMA);
            now += millis(3_900);
            closed(16, 1, 1);
        }
        assertThat(begin().turn()).isEqualTo(Turn.TCP);
        closed(KnownPeers.SHORT_BYTES, 1, 1);
        assertThat(begin().turn()).as("much was moved").isEqualTo(Turn.RDMA);
        for (int i = 0; i < KnownPeers.SHORTS_MAX; i++) {
            closed(16, 1, 999);
        }
        assertThat(begin().turn()).isEqualTo(Turn.TCP);
        now += millis(4_000);
        assertThat(begin().turn()).as("a pause").isEqualTo(Turn.RDMA);
        closed(16, 1, 1);
        assertThat(begin().turn()).as("the row began anew").isEqualTo(Turn.RDMA);
        assertThat(begin(at(7_001), Reach.HOST, FOREVER).turn()).isEqualTo(Turn.RDMA);
    }

    @Test
    void onABusyMachineAConnectionIsShortThatDidNotLiveForFourTimesWhatItTookToMakeIt() {
        for (int i = 0; i < KnownPeers.SHORTS_MAX; i++) {
            assertThat(begin().turn()).isEqualTo(Turn.RDMA);
            closed(16, 2_000, 7_999);
            now += millis(31_000);
        }
        assertThat(begin().turn()).isEqualTo(Turn.TCP);
        closed(16, 2_000, 8_000);
        assertThat(begin().turn()).isEqualTo(Turn.RDMA);
    }

    @Test
    void noMoreThanSoManyPeersAreRemembered() {
        for (int port = 1; port <= 2 * KnownPeers.REMEMBERED_MAX; port++) {
            known.takesTcpOnly(at(port), now);
        }
        assertThat(known.size()).isEqualTo(KnownPeers.REMEMBERED_MAX);
        assertThat(begin(at(2 * KnownPeers.REMEMBERED_MAX), Reach.HOST, FOREVER).turn())
                .isEqualTo(Turn.TCP);
        assertThat(begin(at(1), Reach.HOST, FOREVER).turn()).isEqualTo(Turn.RDMA);
    }
}

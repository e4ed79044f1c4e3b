package verbena.transport.congestion;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PeerWindowTest {
    private static final long PROBE_MIN = PeerWindow.PROBE_NANOS_MIN;

    private final PeerWindows windows = new PeerWindows();
    private final PeerWindow window = windows.join(1, 2);

    private void fillAndAnswer() {
        int all = window.limit();
        window.sent(all);
        window.answered(all);
        window.done(all);
    }

    private void grow() {
        while (window.limit() < PeerWindow.PACKETS_MAX) {
            fillAndAnswer();
        }
    }

    @Test
    void itDoublesUntilItIsAtItsLargest() {
        assertThat(window.limit()).isEqualTo(32);
        fillAndAnswer();
        assertThat(window.limit()).isEqualTo(64);
        fillAndAnswer();
        fillAndAnswer();
        assertThat(window.limit()).isEqualTo(128);
    }

    @Test
    void whatIsNotUsedDoesNotGrow() {
        for (int i = 0; i < 1_000; i++) {
            window.sent(15);
            window.answered(15);
            window.done(15);
        }
        assertThat(window.limit()).isEqualTo(32);
    }

    @Test
    void aLossHalvesItOnceInARoundTripAndNeverBelowFour() {
        grow();
        window.roundTrip(100_000);
        window.lost(1_000_000);
        window.lost(1_099_999);
        assertThat(window.limit()).isEqualTo(64);
        window.lost(1_100_000);
        assertThat(window.limit()).isEqualTo(32);
        for (long now = 2_000_000; now < 3_000_000; now += 100_000) {
            window.lost(now);
        }
        assertThat(window.limit()).isEqualTo(4);
    }

    @Test
    void afterALossItGrowsByOneInEightWindows() {
        grow();
        window.lost(0);
        for (int i = 0; i < 8; i++) {
            assertThat(window.limit()).isEqualTo(64);
            fillAndAnswer();
        }
        assertThat(window.limit()).isEqualTo(65);
    }

    @Test
    void whoWaitsIsToldInOrderWithARunOfRoomForEach() {
        List<String> told = new ArrayList<>();
        window.sent(window.limit());
        for (String name : List.of("a", "b", "c", "d")) {
            window.await(() -> told.add(name));
        }
        window.done(1);
        assertThat(told).containsExactly("a");
        window.done(19);
        assertThat(told).containsExactly("a", "b", "c");
        window.done(0);
        assertThat(told).containsExactly("a", "b", "c", "d");
    }

    @Test
    void whoWasToldAndFoundNoRoomIsToldBeforeThoseThatCameLater() {
        List<String> told = new ArrayList<>();
        window.sent(window.limit());
        window.await(() -> told.add("later"));
        window.awaitAgain(() -> told.add("lost its turn"));
        window.awaitAgain(() -> told.add("so did this"));
        window.done(31);
        assertThat(told).containsExactly("lost its turn", "so did this", "later");
    }

    @Test
    void whoWaitsAloneIsToldWhenTwoRunsFit() {
        grow();
        List<String> told = new ArrayList<>();
        window.sent(128);
        window.await(() -> told.add("a"));
        window.done(2 * PeerWindow.RUN - 1);
        assertThat(told).isEmpty();
        window.done(1);
        assertThat(told).containsExactly("a");
    }

    @Test
    void ofASmallWindowAQuarterIsEnough() {
        List<String> told = new ArrayList<>();
        window.sent(32);
        window.await(() -> told.add("a"));
        window.done(7);
        assertThat(told).isEmpty();
        window.done(1);
        assertThat(told).containsExactly("a");
    }

    @Test
    void whenNothingIsUnderWayAllAreTold() {
        var told = new ArrayList<Integer>();
        window.sent(32);
        for (int i = 0; i < 100; i++) {
            int number = i;
            window.await(() -> told.add(number));
        }
        window.done(32);
        assertThat(told).hasSize(100);
    }

    @Test
    void whoDoesNotWantToBeToldIsNot() {
        var told = new ArrayList<String>();
        PeerWindow.Waiter waiter = () -> told.add("a");
        window.sent(32);
        window.await(waiter);
        window.forget(waiter);
        window.done(32);
        assertThat(told).isEmpty();
    }

    @Test
    void aProbeWaitsForTwoRoundTripsAndFourDeviations() {
        assertThat(window.mayProbe()).isFalse();
        assertThat(window.answerNanos()).isEqualTo(PeerWindow.ANSWER_NANOS_AT_FIRST);
        window.roundTrip(50_000);
        assertThat(window.answerNanos()).isEqualTo(PROBE_MIN);
        for (int i = 0; i < 100; i++) {
            window.roundTrip(10_000_000);
        }
        assertThat(window.answerNanos()).isBetween(19_900_000L, 20_100_000L);
    }

    @Test
    void allConnectionsToAPeerShareOneAndTheLastForgetsIt() {
        assertThat(windows.join(1, 2)).isSameAs(window);
        assertThat(windows.join(1, 3)).isNotSameAs(window);
        windows.leave(window);
        assertThat(windows.join(1, 2)).isSameAs(window);
        windows.leave(window);
        windows.leave(window);
        assertThat(windows.join(1, 2)).isNotSameAs(window);
    }
}

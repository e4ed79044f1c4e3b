package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.nic.link.LinkBench.frames;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.wire.BigEndian;
import verbena.wire.Frame;

/// Requests that arrive before any link serves their service.
class EarlyRequestsTest {
    private static final long MILLIS = 1_000_000;

    private final Arena arena = Arena.ofConfined();
    private long now = Long.MAX_VALUE - 50 * MILLIS; // the clock may overflow
    private final EarlyRequests early = new EarlyRequests(arena, () -> now);
    private final Frame request = frames(1)[0];
    private final Frame[] out = frames(EarlyRequests.MAX);

    private final Set<Long> here = new HashSet<>();
    private final Set<Long> elsewhere = new HashSet<>();
    private final List<Long> passedOn = new ArrayList<>();

    private final EarlyRequests.Servers servers = new EarlyRequests.Servers() {
        @Override
        public boolean isServedHere(Frame frame) {
            return here.contains(frame.destinationLow);
        }

        @Override
        public boolean passOn(Frame frame) {
            return elsewhere.contains(frame.destinationLow) && passedOn.add(number(frame));
        }
    };

    @AfterEach
    void close() {
        arena.close();
    }

    private boolean hold(long number, long serviceId) {
        request.length = 64;
        BigEndian.put64(request.slot, request.start, number);
        request.destinationLow = serviceId;
        return early.hold(request);
    }

    private static long number(Frame frame) {
        return BigEndian.i64(frame.slot, frame.start);
    }

    private List<Long> after(long millis) {
        now += millis * MILLIS;
        int n = early.handOut(out, 0, out.length, servers);
        return List.of(out).subList(0, n).stream()
                .map(EarlyRequestsTest::number)
                .toList();
    }

    @Test
    void noRequestWaitsAtFirst() {
        assertThat(early.due()).isEqualTo(Long.MAX_VALUE);
        assertThat(early.isDue()).isFalse();
        assertThat(after(1_000)).isEmpty();
    }

    @Test
    void aLinkThatBeginsToServeGetsTheRequest() {
        assertThat(hold(1, 17)).isTrue();
        assertThat(hold(2, 18)).isTrue();
        assertThat(after(50)).isEmpty();
        here.add(18L);
        assertThat(after(5)).containsExactly(2L);
        assertThat(early.size()).isEqualTo(1);
    }

    @Test
    void thisLinkGetsTheRequestAtOnceWhenItBeginsToServe() {
        hold(1, 17);
        here.add(17L);
        assertThat(early.isDue()).isFalse();
        early.hurry();
        assertThat(early.isDue()).isTrue();
        assertThat(after(0)).containsExactly(1L);
        early.hurry();
        assertThat(early.isDue()).as("no request waits").isFalse();
    }

    @Test
    void anotherLinkThatServesGetsTheRequest() {
        hold(1, 17);
        assertThat(after(10)).isEmpty();
        elsewhere.add(17L);
        assertThat(after(10)).isEmpty();
        assertThat(passedOn).containsExactly(1L);
        assertThat(early.due()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aRequestThatNoLinkServesGoesToTheDevice() {
        hold(1, 17);
        assertThat(after(60)).isEmpty();
        hold(2, 17);
        assertThat(after(39)).isEmpty();
        assertThat(after(5)).containsExactly(1L);
        assertThat(after(50)).isEmpty();
        assertThat(after(10)).containsExactly(2L);
        assertThat(passedOn).isEmpty();
    }

    @Test
    void onlySoManyWait() {
        for (int i = 0; i < EarlyRequests.MAX; i++) {
            assertThat(hold(i, i)).isTrue();
        }
        assertThat(hold(99, 99)).isFalse();
        assertThat(after(110)).hasSize(EarlyRequests.MAX).startsWith(0L, 1L).doesNotContain(99L);
        assertThat(hold(99, 99)).isTrue();
    }

    @Test
    void whatDoesNotFitComesNext() {
        for (int i = 0; i < 4; i++) {
            hold(i, 17);
        }
        now += 200 * MILLIS;
        assertThat(early.handOut(out, 0, 3, servers)).isEqualTo(3);
        assertThat(early.isDue()).isTrue();
        assertThat(after(0)).containsExactly(3L);
    }

    @Test
    void addressesStayWithIt() {
        request.sourceLow = 0x1234;
        request.sourcePort = 49_152;
        request.hopLimit = 63;
        hold(1, 17);
        request.sourceLow = 0;
        here.add(17L);
        assertThat(after(5)).containsExactly(1L);
        assertThat(out[0].sourceLow).isEqualTo(0x1234);
        assertThat(out[0].destinationLow).isEqualTo(17);
        assertThat(out[0].sourcePort).isEqualTo(49_152);
        assertThat(out[0].hopLimit).isEqualTo(63);
    }
}

package verbena.transport.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import verbena.verbs.Access;

/// What those who have passed a key on learn of it, and what a key opens.
class KeyWatchTest implements KeyWatch {
    private static final int DOMAIN = 3;
    private static final int QPN = 0x11;
    private static final int READ = Access.REMOTE_READ.bit();
    private static final int ALL = Access.bits(Access.remoteAll()) | Access.MW_BIND.bit();

    private final MemoryTable first = new MemoryTable(new SplittableRandom(1), 100, () -> 0);
    private final MemoryTable second = first.forAnotherEngine();
    private final MemorySegment memory = Arena.ofAuto().allocate(1000, 8);
    private final Region region = new Region(DOMAIN, memory, 0x1000, ALL);
    private final List<String> told = new ArrayList<>();
    private boolean isFree = true;

    KeyWatchTest() {
        assertThat(first.add(region)).isTrue();
        second.watch(this);
    }

    @Override
    public boolean onEnded(int key) {
        told.add("ended " + key + (opens(key) ? ", open" : ""));
        return isFree;
    }

    @Override
    public void onUnbound(int key) {
        told.add("unbound " + key + (opens(key) ? ", open" : ""));
    }

    private boolean opens(int key) {
        return first.opening(key, DOMAIN, QPN) != null;
    }

    private Window window(int type) {
        var window = new Window(DOMAIN, type);
        assertThat(first.add(window)).isTrue();
        return window;
    }

    private void bind(Window window, int variant, long address, long bytes) {
        assertThat(second.bind(window, variant, region, address, bytes, READ, DOMAIN, QPN))
                .isEqualTo(MemoryVerdict.OK);
    }

    @Test
    void theEndOfARegionIsToldWhenTheKeyOpensNothingAnyMore() {
        assertThat(first.remove(region)).isTrue();
        assertThat(told).containsExactly("ended " + region.key());
    }

    @Test
    void whetherAPeerStillUsesTheMemoryIsTheAnswer() {
        isFree = false;
        assertThat(first.remove(region)).isFalse();
    }

    /// Each engine remembers what it found last.
    @Test
    void noEngineFindsARegionThatHasEnded() {
        for (MemoryTable table : List.of(first, second)) {
            assertThat(table.opening(region.key(), DOMAIN, QPN)).isNotNull();
            assertThat(table.checkRemote(region.key(), DOMAIN, QPN, 0x1000, 8, READ))
                    .isEqualTo(MemoryVerdict.OK);
        }
        boolean _ = first.remove(region);
        for (MemoryTable table : List.of(first, second)) {
            assertThat(table.opening(region.key(), DOMAIN, QPN)).isNull();
            assertThat(table.checkRemote(region.key(), DOMAIN, QPN, 0x1000, 8, READ))
                    .isEqualTo(MemoryVerdict.NO_SUCH_KEY);
        }
    }

    @Test
    void anEngineFindsWhatHasTheKeyNow() {
        Window window = window(2);
        bind(window, 5, 0x1010, 100);
        int before = window.key();
        assertThat(first.checkRemote(before, DOMAIN, QPN, 0x1010, 8, READ)).isEqualTo(MemoryVerdict.OK);
        assertThat(second.invalidate(before, DOMAIN, QPN)).isEqualTo(MemoryVerdict.OK);
        bind(window, 6, 0x1010, 100);
        assertThat(first.checkRemote(before, DOMAIN, QPN, 0x1010, 8, READ)).isEqualTo(MemoryVerdict.NO_SUCH_KEY);
        assertThat(first.checkRemote(window.key(), DOMAIN, QPN, 0x1010, 8, READ))
                .isEqualTo(MemoryVerdict.OK);
    }

    @Test
    void otherRightsAreTold() {
        second.reregister(region, DOMAIN, READ);
        assertThat(told).containsExactly("ended " + region.key() + ", open");
        assertThat(first.opening(region.key(), DOMAIN, QPN)).isEqualTo(new Opening(0x1000, READ, memory, region.key()));
    }

    @Test
    void theFirstBindingEndsNothing() {
        bind(window(1), 5, 0x1010, 100);
        bind(window(2), 5, 0x1010, 100);
        assertThat(told).isEmpty();
    }

    @Test
    void aWindowThatIsBoundAnewIsTold() {
        Window window = window(1);
        bind(window, 5, 0x1010, 100);
        int before = window.key();
        bind(window, 6, 0x1020, 100);
        assertThat(told).containsExactly("unbound " + before);
        bind(window, 6, 0x1030, 100);
        assertThat(told).containsExactly("unbound " + before, "unbound " + window.key() + ", open");
    }

    @Test
    void aWindowThatIsUnboundIsTold() {
        Window window = window(1);
        bind(window, 5, 0x1010, 100);
        int before = window.key();
        bind(window, 6, 0, 0);
        assertThat(told).containsExactly("unbound " + before);
    }

    @Test
    void anInvalidatedWindowIsTold() {
        Window window = window(2);
        bind(window, 5, 0x1010, 100);
        assertThat(first.invalidate(window.key(), DOMAIN, QPN + 1)).isEqualTo(MemoryVerdict.WRONG_QUEUE_PAIR);
        assertThat(told).isEmpty();
        assertThat(first.invalidate(window.key(), DOMAIN, QPN)).isEqualTo(MemoryVerdict.OK);
        assertThat(told).containsExactly("unbound " + window.key());
    }

    @Test
    void theEndOfAWindowIsTold() {
        Window window = window(2);
        bind(window, 5, 0x1010, 100);
        assertThat(first.remove(window)).isTrue();
        assertThat(told).containsExactly("ended " + window.key());
    }

    // ---- what a key opens

    @Test
    void aRegionOpensAllOfItWithItsRemoteRights() {
        assertThat(second.opening(region.key(), DOMAIN, QPN))
                .isEqualTo(new Opening(
                        0x1000, ALL & ~Access.LOCAL_WRITE.bit() & ~Access.MW_BIND.bit(), memory, region.key()));
        assertThat(second.opening(region.key() ^ 1, DOMAIN, QPN)).isNull();
        assertThat(second.opening(region.key(), DOMAIN + 1, QPN)).isNull();
    }

    @Test
    void aWindowOpensWhatItIsBoundToAndOfTypeTwoForItsQueuePairOnly() {
        Window window = window(2);
        assertThat(first.opening(window.key(), DOMAIN, QPN)).as("not bound").isNull();
        bind(window, 5, 0x1010, 100);
        assertThat(first.opening(window.key(), DOMAIN, QPN))
                .isEqualTo(new Opening(0x1010, READ, memory.asSlice(0x10, 100), region.key()));
        assertThat(first.opening(window.key(), DOMAIN, QPN + 1)).isNull();
        assertThat(first.opening(window.key(), DOMAIN + 1, QPN)).isNull();
        assertThat(first.opening(window.keyOf(6), DOMAIN, QPN)).isNull();
    }
}

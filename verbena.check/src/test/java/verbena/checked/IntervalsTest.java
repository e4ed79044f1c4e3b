package verbena.checked;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.check.races.Intervals;

/// Things by the bytes that they have, against a list of them.
class IntervalsTest {
    private static final int STEPS = 20_000;
    private static final int KEPT = 60;

    private record Thing(long start, long length) {
        boolean overlaps(Thing other) {
            return start < other.start + other.length && other.start < start + length;
        }
    }

    private static List<Thing> found(Intervals<Thing> in, Thing of) {
        var found = new ArrayList<Thing>();
        assertThat(in.overlapping(of.start, of.length, each -> !found.add(each)))
                .isFalse();
        return found;
    }

    private static Thing drawn(Random random) {
        int longest = 1 << random.nextInt(12);
        return new Thing(random.nextInt(4_096), 1 + random.nextInt(longest));
    }

    @Test
    void eachThingWithAByteIsFoundOnceAndNoOther() {
        var random = new Random(1);
        var intervals = new Intervals<Thing>();
        var all = new ArrayList<Thing>();
        for (int i = 0; i < STEPS; i++) {
            Thing next = drawn(random);
            intervals.add(next.start, next.length, next);
            all.add(next);
            if (all.size() > random.nextInt(KEPT)) {
                Thing gone = all.remove(random.nextInt(all.size()));
                intervals.remove(gone.start, gone.length, gone);
            }
            Thing of = drawn(random);
            assertThat(found(intervals, of))
                    .containsExactlyInAnyOrderElementsOf(
                            all.stream().filter(of::overlaps).toList());
        }
    }

    @Test
    void aThingIsRemovedByItselfAndNotByItsEqual() {
        var one = new Thing(8, 8);
        var other = new Thing(8, 8);
        var intervals = new Intervals<Thing>();
        intervals.add(8, 8, one);
        intervals.remove(8, 8, other);
        assertThat(found(intervals, one)).singleElement().isSameAs(one);
        intervals.add(8, 8, other);
        intervals.remove(8, 8, one);
        assertThat(found(intervals, one)).singleElement().isSameAs(other);
    }

    @Test
    void theVisitorEndsTheSearch() {
        var intervals = new Intervals<Thing>();
        for (int i = 0; i < KEPT; i++) {
            intervals.add(i, 100, new Thing(i, 100));
        }
        var found = new ArrayList<Thing>();
        assertThat(intervals.overlapping(50, 1, each -> {
                    found.add(each);
                    return found.size() == 3;
                }))
                .isTrue();
        assertThat(found).hasSize(3);
    }
}

package verbena.check.races;

import java.util.Comparator;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.check.races.RaceStep.Access;

/// Accesses by address. Those of like length are together, so that one long access makes no search long.
final class AccessIndex {
    /// @param order tells those of one address apart
    private record Start(long from, long order) {
        static final Comparator<Start> ORDER =
                Comparator.comparingLong(Start::from).thenComparingLong(Start::order);
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of generic maps
    private final @Nullable TreeMap<Start, Access>[] lengths = new TreeMap[Long.SIZE];

    private static int length(Access access) {
        return Long.SIZE - Long.numberOfLeadingZeros(access.length());
    }

    private static Start start(Access access, int index) {
        return new Start(access.from(), (access.step().order << 8) + index);
    }

    /// @param index tells those of one step apart
    void add(Access access, int index) {
        int length = length(access);
        TreeMap<Start, Access> map = lengths[length];
        if (map == null) {
            map = new TreeMap<>(Start.ORDER);
            lengths[length] = map;
        }
        map.put(start(access, index), access);
    }

    void remove(Access access, int index) {
        TreeMap<Start, Access> map = lengths[length(access)];
        if (map != null) {
            map.remove(start(access, index));
        }
    }

    /// Visits those that have a byte of `access`.
    void overlapping(Access access, Consumer<Access> visitor) {
        for (int i = 0; i < lengths.length; i++) {
            TreeMap<Start, Access> map = lengths[i];
            if (map == null || map.isEmpty()) {
                continue;
            }
            var first = new Start(access.from() - (1L << i), 0);
            for (Access each : map.subMap(first, new Start(access.to(), 0)).values()) {
                if (each.overlaps(access)) {
                    visitor.accept(each);
                }
            }
        }
    }
}

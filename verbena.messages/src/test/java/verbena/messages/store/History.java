package verbena.messages.store;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/// What clients of a store have asked, when, and what they were told. It is linearizable when some order of the
/// operations explains all answers, in which each operation takes effect between its call and its return.
///
/// The search is that of Wing and Gong (1993), with Lowe's memory of where it has been (2017): the operations that
/// have taken effect, and the value. Keys have nothing to do with each other, so each is searched by itself. Safe
/// for use by any thread.
final class History {
    /// What a key has when it has no value.
    static final String NONE = "";

    static final long NEVER = Long.MAX_VALUE;

    /// An operation on a key.
    ///
    /// @param value what is put; [#NONE] to delete. Of a get, what it was told
    /// @param wasThere what a change was told of the value before
    /// @param returned when; [#NEVER] when the outcome is not known: it may take effect at any later time, or never
    record Operation(boolean isGet, String value, boolean wasThere, long called, long returned) {
        boolean isKnown() {
            return returned != NEVER;
        }

        /// Whether it can take effect where the key has a value.
        boolean fits(String before) {
            if (isGet) {
                return value.equals(before);
            }
            return !isKnown() || wasThere == !before.equals(NONE);
        }
    }

    private final Map<String, List<Operation>> byKey = new TreeMap<>();

    synchronized void add(String key, Operation operation) {
        byKey.computeIfAbsent(key, _ -> new ArrayList<>()).add(operation);
    }

    synchronized Map<String, List<Operation>> byKey() {
        return byKey;
    }

    /// Whether the operations on one key are linearizable, when it had no value at first.
    static boolean isLinearizable(List<Operation> operations) {
        var sorted = operations.stream()
                .sorted(Comparator.comparingLong(Operation::called))
                .toList();
        return new Search(sorted).goOn(NONE);
    }

    private record Place(BitSet taken, String value) {}

    private static final class Search {
        private final List<Operation> operations;
        private final BitSet taken = new BitSet();
        private final Set<Place> been = new HashSet<>();

        Search(List<Operation> operations) {
            this.operations = operations;
        }

        /// Whether the rest can take effect, from a value on.
        private boolean goOn(String value) {
            if (!been.add(new Place((BitSet) taken.clone(), value))) {
                return false;
            }
            long firstReturn = NEVER; // what is called later has to come later
            for (int i = taken.nextClearBit(0); i < operations.size(); i = taken.nextClearBit(i + 1)) {
                firstReturn = Math.min(firstReturn, operations.get(i).returned);
            }
            if (firstReturn == NEVER) {
                return true; // what is left need not take effect
            }
            for (int i = taken.nextClearBit(0); i < operations.size(); i = taken.nextClearBit(i + 1)) {
                Operation next = operations.get(i);
                if (next.called > firstReturn) {
                    return false;
                }
                if (next.fits(value)) {
                    taken.set(i);
                    if (goOn(next.value)) {
                        return true;
                    }
                    taken.clear(i);
                }
            }
            return false;
        }
    }
}

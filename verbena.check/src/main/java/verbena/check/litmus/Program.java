package verbena.check.litmus;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;

/// A litmus program: memory, queue pairs, threads, and what is asked about its end.
///
/// @param words the words of memory with their nodes, in order; words of one array lie side by side
/// @param queues the queue pairs by name
/// @param threads the threads, each with its node
/// @param condition what is asked
public record Program(
        SequencedMap<String, Word> words,
        SequencedMap<String, Queue> queues,
        List<Strand> threads,
        Condition condition) {
    /// A word of memory of 8 bytes.
    ///
    /// @param array the name of its array; the word's own when it stands alone
    public record Word(String name, String array, String node, int initial) {}

    /// A queue pair between two nodes.
    ///
    /// @param receives the words of each receive that is posted beforehand, by node; none for one without room
    public record Queue(
            String name, String one, String other, boolean relaxed, Map<String, List<List<String>>> receives) {
        public Queue {
            receives = Map.copyOf(receives);
        }

        boolean isBetween(String node) {
            return node.equals(one) || node.equals(other);
        }

        String peer(String node) {
            return node.equals(one) ? other : one;
        }
    }

    /// A thread of a node.
    public record Strand(String name, String node, List<Step> steps) {
        public Strand {
            steps = List.copyOf(steps);
        }
    }

    public Program {
        threads = List.copyOf(threads);
    }

    /// Returns the value of a key that a map has: the parser has judged all names.
    static <K, V> V known(Map<K, V> map, K key) {
        return Objects.requireNonNull(map.get(key));
    }

    /// Returns whether the halves of some word can differ: whether a value in it has two digits.
    boolean isWide() {
        return words.values().stream().anyMatch(each -> each.initial() >= Value.HALF)
                || threads.stream().flatMap(thread -> thread.steps().stream()).anyMatch(step -> switch (step) {
                    case Step.Store store -> store.value().number() >= Value.HALF;
                    case Step.Post post -> post.values().stream().anyMatch(value -> value.number() >= Value.HALF);
                    default -> false;
                });
    }
}

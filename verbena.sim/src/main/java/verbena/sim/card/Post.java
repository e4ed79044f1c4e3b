package verbena.sim.card;

import java.util.Arrays;

/// The requests that a thread posts by one doorbell, and its work before.
final class Post {
    /// The time that the thread works before it posts, in picoseconds.
    long thinkPicos;
    /// The number of its completions that the thread takes before, in all.
    long completions;

    int count;
    Operation[] operations = new Operation[16];
    int[] bytes = new int[16];
    boolean[] inline = new boolean[16];
    boolean[] signaled = new boolean[16];
    int[] queuePairs = new int[16];
    long[] pages = new long[16];
    int[] regions = new int[16];

    /// Begins anew, without requests.
    void clear() {
        thinkPicos = 0;
        completions = 0;
        count = 0;
    }

    /// Adds a request, whose other fields stand at `count - 1` then.
    ///
    /// @return its index
    int add(Operation operation, int length, boolean isInline, boolean isSignaled) {
        if (count == bytes.length) {
            grow();
        }
        int index = count++;
        operations[index] = operation;
        bytes[index] = length;
        inline[index] = isInline;
        signaled[index] = isSignaled;
        return index;
    }

    private void grow() {
        int size = 2 * count;
        operations = Arrays.copyOf(operations, size);
        bytes = Arrays.copyOf(bytes, size);
        inline = Arrays.copyOf(inline, size);
        signaled = Arrays.copyOf(signaled, size);
        queuePairs = Arrays.copyOf(queuePairs, size);
        pages = Arrays.copyOf(pages, size);
        regions = Arrays.copyOf(regions, size);
    }
}

package verbena.sim.card;

import java.util.Arrays;

/// The requests under way, each in a slot.
final class CardRequests {
    private static final int NONE = -1;

    Operation[] operations = new Operation[256];
    int[] bytes = new int[256];
    boolean[] inline = new boolean[256];
    boolean[] signaled = new boolean[256];
    int[] queuePairs = new int[256];
    int[] threads = new int[256];
    long[] pages = new long[256];
    int[] regions = new int[256];
    long[] posted = new long[256];
    /// The slot of the next request of the same doorbell, or of the same wait; -1 for none.
    int[] following = new int[256];

    private int free = NONE;
    private int used;
    private int underWay;

    int add(Post post, int index, int thread, long now) {
        int slot = free;
        if (slot == NONE) {
            slot = used++;
            if (slot == bytes.length) {
                grow();
            }
        } else {
            free = following[slot];
        }
        underWay++;
        operations[slot] = post.operations[index];
        bytes[slot] = post.bytes[index];
        inline[slot] = post.inline[index];
        signaled[slot] = post.signaled[index];
        queuePairs[slot] = post.queuePairs[index];
        pages[slot] = post.pages[index];
        regions[slot] = post.regions[index];
        threads[slot] = thread;
        posted[slot] = now;
        following[slot] = NONE;
        return slot;
    }

    void remove(int slot) {
        following[slot] = free;
        free = slot;
        underWay--;
    }

    /// Returns how many there are.
    int underWay() {
        return underWay;
    }

    private void grow() {
        int size = 2 * bytes.length;
        operations = Arrays.copyOf(operations, size);
        bytes = Arrays.copyOf(bytes, size);
        inline = Arrays.copyOf(inline, size);
        signaled = Arrays.copyOf(signaled, size);
        queuePairs = Arrays.copyOf(queuePairs, size);
        threads = Arrays.copyOf(threads, size);
        pages = Arrays.copyOf(pages, size);
        regions = Arrays.copyOf(regions, size);
        posted = Arrays.copyOf(posted, size);
        following = Arrays.copyOf(following, size);
    }
}

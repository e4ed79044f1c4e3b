package verbena.subnet.link;

/// A queue of numbers that grows as needed. For one thread.
public final class IntQueue {
    private static final int FIRST = 16;

    private int[] values = new int[FIRST];
    private int head;
    private int size;

    /// Creates an empty queue.
    public IntQueue() {}

    public boolean isEmpty() {
        return size == 0;
    }

    public int size() {
        return size;
    }

    public void add(int value) {
        if (size == values.length) {
            int[] larger = new int[2 * size];
            for (int i = 0; i < size; i++) {
                larger[i] = values[head + i & size - 1];
            }
            values = larger;
            head = 0;
        }
        values[head + size++ & values.length - 1] = value;
    }

    /// Returns the oldest number; there is at least one.
    public int peek() {
        assert size > 0;
        return values[head];
    }

    /// Takes the oldest out; there is one.
    public int remove() {
        int value = peek();
        head = head + 1 & values.length - 1;
        size--;
        return value;
    }
}

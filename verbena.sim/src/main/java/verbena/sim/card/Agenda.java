package verbena.sim.card;

import java.util.Arrays;

/// The events to come: a heap of times, each with a number that says what happens. Nothing else decides the order,
/// so a run depends on its program alone.
final class Agenda {
    private long[] times = new long[1024];
    private long[] codes = new long[1024];
    private int size;
    private long now;
    private long happened;

    /// Returns the time of what happens now, in picoseconds.
    long now() {
        return now;
    }

    /// Returns how much has happened.
    long happened() {
        return happened;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /// Returns the time of the next event; [Long#MAX_VALUE] when there is none.
    long due() {
        return size == 0 ? Long.MAX_VALUE : times[0];
    }

    void add(long time, long code) {
        assert time >= now : "time does not go back";
        if (size == times.length) {
            times = Arrays.copyOf(times, 2 * size);
            codes = Arrays.copyOf(codes, 2 * size);
        }
        int index = size++;
        while (index > 0) {
            int parent = (index - 1) >>> 2;
            if (times[parent] <= time) {
                break;
            }
            times[index] = times[parent];
            codes[index] = codes[parent];
            index = parent;
        }
        times[index] = time;
        codes[index] = code;
    }

    /// Takes what comes next, and goes to its time.
    ///
    /// @return its code
    long next() {
        long code = codes[0];
        now = times[0];
        happened++;
        long time = times[--size];
        long last = codes[size];
        int index = 0;
        for (int child = 1; child < size; child = 4 * index + 1) {
            int least = child;
            for (int i = child + 1, end = Math.min(child + 4, size); i < end; i++) {
                if (times[i] < times[least]) {
                    least = i;
                }
            }
            if (time <= times[least]) {
                break;
            }
            times[index] = times[least];
            codes[index] = codes[least];
            index = least;
        }
        times[index] = time;
        codes[index] = last;
        return code;
    }
}

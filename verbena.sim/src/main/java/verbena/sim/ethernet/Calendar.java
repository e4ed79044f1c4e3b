package verbena.sim.ethernet;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Virtual time in picoseconds, and what is to happen: a heap of alarms with four children to a node. Alarms of one
/// moment ring in the order in which they were set, so a run depends on nothing but its program.
final class Calendar {
    static final long NANO = 1_000;
    static final long NEVER = Long.MAX_VALUE;

    private @Nullable Alarm[] alarms = new @Nullable Alarm[256];
    /// The times of the alarms, and the order in which they were set. They stand beside the alarms because
    /// comparing reads them alone.
    private long[] times = new long[256];

    private long[] orders = new long[256];
    private int size;
    private long now;
    private long lastOrder;
    private long rung;

    long now() {
        return now;
    }

    long nowNanos() {
        return now / NANO;
    }

    /// Returns the number of alarms that have rung.
    long rung() {
        return rung;
    }

    /// Sets an alarm, or moves it. A time that has passed is now.
    void set(Alarm alarm, long at) {
        int index = alarm.index;
        if (index >= 0) {
            remove(index);
        }
        if (size == times.length) {
            alarms = Arrays.copyOf(alarms, 2 * size);
            times = Arrays.copyOf(times, 2 * size);
            orders = Arrays.copyOf(orders, 2 * size);
        }
        up(alarm, Math.max(now, at), lastOrder++, size++);
    }

    void cancel(Alarm alarm) {
        if (alarm.index >= 0) {
            remove(alarm.index);
            alarm.index = -1;
        }
    }

    /// Goes to the next alarm, if it rings before `end`, and lets it ring; false when there is none.
    boolean step(long end) {
        if (size == 0 || times[0] >= end) {
            return false;
        }
        Alarm first = at(0);
        assert times[0] >= now : "time does not go back";
        now = times[0];
        remove(0);
        first.index = -1;
        rung++;
        first.ring(now);
        return true;
    }

    /// Returns the time when the next alarm rings; [#NEVER] when none is set.
    long due() {
        return size == 0 ? NEVER : times[0];
    }

    /// Lets pass what is left of the time until `end`, when nothing happens in it.
    void pass(long end) {
        assert size == 0 || times[0] >= end : "nothing is left out";
        now = Math.max(now, end);
    }

    private Alarm at(int index) {
        return Objects.requireNonNull(alarms[index]);
    }

    private void put(Alarm alarm, long time, long order, int index) {
        alarms[index] = alarm;
        times[index] = time;
        orders[index] = order;
        alarm.index = index;
    }

    private void remove(int index) {
        int last = --size;
        if (index < last) {
            Alarm moved = at(last);
            long time = times[last];
            long order = orders[last];
            up(moved, time, order, index);
            if (moved.index == index) {
                down(moved, time, order, index);
            }
        }
        alarms[last] = null;
    }

    private void up(Alarm alarm, long time, long order, int from) {
        int index = from;
        while (index > 0) {
            int parent = (index - 1) >>> 2;
            if (times[parent] < time || (times[parent] == time && orders[parent] < order)) {
                break;
            }
            put(at(parent), times[parent], orders[parent], index);
            index = parent;
        }
        put(alarm, time, order, index);
    }

    private void down(Alarm alarm, long time, long order, int from) {
        int index = from;
        for (int child = 4 * index + 1; child < size; child = 4 * index + 1) {
            int least = child;
            for (int i = child + 1, end = Math.min(child + 4, size); i < end; i++) {
                if (times[i] < times[least] || (times[i] == times[least] && orders[i] < orders[least])) {
                    least = i;
                }
            }
            if (time < times[least] || (time == times[least] && order < orders[least])) {
                break;
            }
            put(at(least), times[least], orders[least], index);
            index = least;
        }
        put(alarm, time, order, index);
    }
}

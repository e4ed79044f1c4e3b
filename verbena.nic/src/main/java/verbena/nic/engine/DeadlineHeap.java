package verbena.nic.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.transport.Protocol;

/// Stations by the time at which they want to be asked, earliest first: a binary heap in an array. A deadline that
/// moves later is left where it is until [#settle()], because waking too early is harmless; one that moves earlier
/// moves at once.
final class DeadlineHeap {
    private @Nullable EngineTask[] heap = new @Nullable EngineTask[64];
    private int size;

    /// The earliest time, or [Protocol#NEVER].
    long earliestNanos() {
        EngineTask first = heap[0];
        return size == 0 || first == null ? Protocol.NEVER : first.heapNanos;
    }

    /// Puts what would come first where it belongs now: for a thread that is about to sleep, and would wake in vain.
    void settle() {
        for (EngineTask first = heap[0]; first != null; first = heap[0]) {
            long deadline = first.isLost ? Protocol.NEVER : first.scheduled.deadlineNanos();
            if (deadline <= first.heapNanos) {
                return;
            }
            if (deadline == Protocol.NEVER) {
                remove(first);
            } else {
                first.heapNanos = deadline;
                down(first, 0);
            }
        }
    }

    /// Sees to it that `station` is asked at its deadline or before.
    void schedule(EngineTask station) {
        long deadline = station.scheduled.deadlineNanos();
        if (deadline == Protocol.NEVER) {
            return;
        }
        if (station.heapIndex < 0) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, 2 * size);
            }
            station.heapNanos = deadline;
            up(station, size++);
        } else if (deadline < station.heapNanos) {
            station.heapNanos = deadline;
            up(station, station.heapIndex);
        }
    }

    /// Takes the first station out when its time has come.
    @Nullable
    EngineTask pollDue(long now) {
        EngineTask first = heap[0];
        if (size == 0 || first == null || first.heapNanos > now) {
            return null;
        }
        remove(first);
        return first;
    }

    void remove(EngineTask station) {
        int index = station.heapIndex;
        if (index < 0) {
            return;
        }
        station.heapIndex = -1;
        EngineTask last = heap[--size];
        heap[size] = null;
        if (last != null && last != station) {
            up(last, index);
            down(last, last.heapIndex);
        }
    }

    private void up(EngineTask station, int from) {
        int index = from;
        while (index > 0) {
            int parent = (index - 1) >> 1;
            EngineTask above = heap[parent];
            if (above == null || above.heapNanos <= station.heapNanos) {
                break;
            }
            place(above, index);
            index = parent;
        }
        place(station, index);
    }

    private void down(EngineTask station, int from) {
        int index = from;
        while (true) {
            int child = 2 * index + 1;
            if (child >= size) {
                break;
            }
            EngineTask left = heap[child];
            EngineTask right = child + 1 < size ? heap[child + 1] : null;
            EngineTask smaller = right != null && left != null && right.heapNanos < left.heapNanos ? right : left;
            if (smaller == null || smaller.heapNanos >= station.heapNanos) {
                break;
            }
            int place = smaller.heapIndex;
            place(smaller, index);
            index = place;
        }
        place(station, index);
    }

    private void place(EngineTask station, int index) {
        heap[index] = station;
        station.heapIndex = index;
    }
}

package verbena.nic.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.transport.Protocol;

/// The tasks in the order of their deadlines, earliest first: a binary heap in an array. A deadline that moves later
/// keeps its place until [#settle()], because waking too early is harmless. A deadline that moves earlier moves at
/// once.
final class DeadlineHeap {
    private @Nullable EngineTask[] heap = new @Nullable EngineTask[64];
    private int size;

    /// Returns the earliest deadline, or [Protocol#NEVER].
    long earliestNanos() {
        EngineTask first = heap[0];
        return size == 0 || first == null ? Protocol.NEVER : first.heapNanos;
    }

    /// Moves the first tasks to their true places, for a thread that is about to sleep and would otherwise wake in
    /// vain.
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

    /// Ensures that `task` is called at its deadline or before.
    void schedule(EngineTask task) {
        long deadline = task.scheduled.deadlineNanos();
        if (deadline == Protocol.NEVER) {
            return;
        }
        if (task.heapIndex < 0) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, 2 * size);
            }
            task.heapNanos = deadline;
            up(task, size++);
        } else if (deadline < task.heapNanos) {
            task.heapNanos = deadline;
            up(task, task.heapIndex);
        }
    }

    /// Removes and returns the first task if its deadline has come.
    @Nullable
    EngineTask pollDue(long now) {
        EngineTask first = heap[0];
        if (size == 0 || first == null || first.heapNanos > now) {
            return null;
        }
        remove(first);
        return first;
    }

    void remove(EngineTask task) {
        int index = task.heapIndex;
        if (index < 0) {
            return;
        }
        assert index < size && heap[index] == task : "a task knows its place";
        task.heapIndex = -1;
        EngineTask last = heap[--size];
        heap[size] = null;
        if (last != null && last != task) {
            up(last, index);
            down(last, last.heapIndex);
        }
    }

    private void up(EngineTask task, int from) {
        int index = from;
        while (index > 0) {
            int parent = (index - 1) >> 1;
            EngineTask above = heap[parent];
            if (above == null || above.heapNanos <= task.heapNanos) {
                break;
            }
            place(above, index);
            index = parent;
        }
        place(task, index);
        assert isBehindParent(index) : "earliest first";
    }

    private void down(EngineTask task, int from) {
        int index = from;
        while (true) {
            int child = 2 * index + 1;
            if (child >= size) {
                break;
            }
            EngineTask left = heap[child];
            EngineTask right = child + 1 < size ? heap[child + 1] : null;
            EngineTask smaller = right != null && left != null && right.heapNanos < left.heapNanos ? right : left;
            if (smaller == null || smaller.heapNanos >= task.heapNanos) {
                break;
            }
            int place = smaller.heapIndex;
            place(smaller, index);
            index = place;
        }
        place(task, index);
        assert isBehindParent(index) : "earliest first";
    }

    private boolean isBehindParent(int index) {
        EngineTask task = heap[index];
        EngineTask above = heap[Math.max(0, index - 1) >> 1];
        return index == 0 || (task != null && above != null && above.heapNanos <= task.heapNanos);
    }

    private void place(EngineTask task, int index) {
        heap[index] = task;
        task.heapIndex = index;
    }
}

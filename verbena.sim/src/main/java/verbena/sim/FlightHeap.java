package verbena.sim;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Packets under way by their time of arrival, then by number: a binary heap in an array.
final class FlightHeap {
    private @Nullable Flight[] heap = new @Nullable Flight[1_024];
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    /// Returns the earliest flight; the heap is not empty.
    Flight first() {
        return at(0);
    }

    void add(Flight flight) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size);
        }
        flight.heapIndex = size;
        heap[size++] = flight;
        up(flight);
    }

    Flight removeFirst() {
        Flight first = at(0);
        Flight last = at(--size);
        heap[size] = null;
        first.heapIndex = -1;
        if (size > 0) {
            last.heapIndex = 0;
            heap[0] = last;
            down(last);
        }
        return first;
    }

    /// Moves a flight of the heap to an earlier arrival.
    void advance(Flight flight, long arrivalNanos) {
        if (arrivalNanos < flight.arrivalNanos) {
            flight.arrivalNanos = arrivalNanos;
            up(flight);
        }
    }

    private Flight at(int index) {
        return Objects.requireNonNull(heap[index]);
    }

    private void up(Flight flight) {
        int index = flight.heapIndex;
        while (index > 0) {
            int parentIndex = (index - 1) >>> 1;
            Flight parent = at(parentIndex);
            if (!isBefore(flight, parent)) {
                break;
            }
            place(parent, index);
            index = parentIndex;
        }
        place(flight, index);
    }

    private void down(Flight flight) {
        int index = flight.heapIndex;
        while (2 * index + 1 < size) {
            int childIndex = 2 * index + 1;
            Flight child = at(childIndex);
            if (childIndex + 1 < size && isBefore(at(childIndex + 1), child)) {
                child = at(++childIndex);
            }
            if (!isBefore(child, flight)) {
                break;
            }
            place(child, index);
            index = childIndex;
        }
        place(flight, index);
    }

    private void place(Flight flight, int index) {
        heap[index] = flight;
        flight.heapIndex = index;
    }

    private static boolean isBefore(Flight a, Flight b) {
        return a.arrivalNanos < b.arrivalNanos || (a.arrivalNanos == b.arrivalNanos && a.number < b.number);
    }
}

package verbena.check.races;

import java.util.Arrays;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Values, each with an interval of bytes. Intervals of like length are in one row, so that a long one makes no search
/// long. One thread at a time.
public final class Intervals<T> {
    private static final int FEW = 8;

    /// Intervals of like length, by their first byte; those of one first byte in the order in which they were added.
    private static final class Row {
        private long[] starts = new long[FEW];
        private long[] ends = new long[FEW];
        private Object[] values = new Object[FEW];
        private int size;

        /// Returns the place of the first interval that begins at a byte or behind it.
        private int firstFrom(long start) {
            int low = 0;
            int high = size;
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (starts[middle] < start) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }

        private void add(long start, long end, Object value) {
            if (size == starts.length) {
                starts = Arrays.copyOf(starts, 2 * size);
                ends = Arrays.copyOf(ends, 2 * size);
                values = Arrays.copyOf(values, 2 * size);
            }
            int at = firstFrom(start + 1);
            move(at, at + 1, size - at);
            starts[at] = start;
            ends[at] = end;
            values[at] = value;
            size++;
        }

        private void remove(long start, Object value) {
            for (int at = firstFrom(start); at < size && starts[at] == start; at++) {
                if (values[at] == value) {
                    move(at + 1, at, size - at - 1);
                    values[--size] = this; // keeps nothing that was removed
                    return;
                }
            }
        }

        private void move(int from, int to, int count) {
            System.arraycopy(starts, from, starts, to, count);
            System.arraycopy(ends, from, ends, to, count);
            System.arraycopy(values, from, values, to, count);
        }
    }

    private final @Nullable Row[] rows = new @Nullable Row[Long.SIZE];
    /// The rows that have something, a bit for each.
    private long used;

    /// Returns the row of a length: it is less than 2 to the power of that number.
    private static int row(long length) {
        return Long.SIZE - Long.numberOfLeadingZeros(length);
    }

    /// Adds a value.
    ///
    /// @param length of one byte or more
    public void add(long start, long length, T value) {
        int number = row(length);
        Row row = rows[number];
        if (row == null) {
            row = new Row();
            rows[number] = row;
        }
        row.add(start, start + length, value);
        used |= 1L << number;
    }

    /// Removes a value that was added with this interval; does nothing when it is not there.
    public void remove(long start, long length, T value) {
        int number = row(length);
        Row row = rows[number];
        if (row != null) {
            row.remove(start, value);
            if (row.size == 0) {
                used &= ~(1L << number);
            }
        }
    }

    /// Visits the values whose intervals have one of these bytes. The visitor changes nothing here.
    ///
    /// @param isEnough is asked of each, and ends the search
    /// @return whether one was enough
    @SuppressWarnings("unchecked") // nothing else is added
    public boolean overlapping(long start, long length, Predicate<? super T> isEnough) {
        for (long left = used; left != 0; left &= left - 1) {
            int number = Long.numberOfTrailingZeros(left);
            Row row = rows[number];
            if (row == null) {
                continue;
            }
            int at = row.firstFrom(start - (1L << number));
            for (; at < row.size && row.starts[at] < start + length; at++) {
                if (row.ends[at] > start && isEnough.test((T) row.values[at])) {
                    return true;
                }
            }
        }
        return false;
    }
}

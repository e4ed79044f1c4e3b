package verbena.spark.read;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.apache.spark.TaskContext;
import org.apache.spark.memory.MemoryConsumer;
import org.apache.spark.memory.MemoryMode;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.util.TaskCompletionListener;

/// The memory of records that a task keeps. It is asked of Spark by the bytes that the records had when they were
/// serialised, because to measure objects takes longer than to make them. One thread uses it.
final class RecordMemory extends MemoryConsumer {
    /// A pair of small numbers has at least 4 bytes, and 56 as objects.
    private static final int OBJECT_FACTOR = 16;
    /// More of them is not few.
    static final long BYTES_MAX = 4 << 20;
    /// Spark is asked for so much at a time, at least.
    private static final long STEP_BYTES = 4 << 20;

    private long bytes;

    RecordMemory(TaskMemoryManager manager) {
        super(manager, MemoryMode.ON_HEAP);
    }

    /// Returns the memory of a task, until it ends.
    static RecordMemory of(TaskContext task) {
        var memory = new RecordMemory(task.taskMemoryManager());
        task.addTaskCompletionListener((TaskCompletionListener) ended -> memory.release());
        return memory;
    }

    /// Returns the same stream of records; its bytes count when they are read.
    InputStream counted(InputStream records) {
        return new Counted(records);
    }

    /// Returns whether all records that were read may stay. If not, it gives back its memory.
    boolean fits() {
        long needed = bytes * OBJECT_FACTOR;
        if (needed > getUsed() && bytes <= BYTES_MAX) {
            acquireMemory(Math.max(needed - getUsed(), STEP_BYTES));
        }
        boolean fits = needed <= getUsed();
        if (!fits) {
            release();
        }
        return fits;
    }

    private void release() {
        freeMemory(getUsed());
    }

    /// Records stay where they are.
    @Override
    public long spill(long size, MemoryConsumer trigger) {
        return 0;
    }

    private final class Counted extends FilterInputStream {
        private Counted(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            int value = in.read();
            bytes += value < 0 ? 0 : 1;
            return value;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            int count = in.read(to, offset, length);
            bytes += Math.max(0, count);
            return count;
        }
    }
}

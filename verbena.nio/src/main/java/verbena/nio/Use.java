package verbena.nio;

/// The use of a connection that goes by TCP, and its age: whether it keeps its [Pace]. One thread at a time tells of
/// reads, and one of writes.
final class Use {
    private final Pace pace;
    private final long begun = System.nanoTime();
    /// The use by the thread that reads; the next is that by the thread that writes.
    private long readBytes;

    private long writtenBytes;
    /// The use at which it is busy next.
    private volatile long next;

    Use(Pace pace) {
        this.pace = pace;
        this.next = pace.bytes();
    }

    Pace pace() {
        return pace;
    }

    /// Returns whether the connection is busy after a read of so many bytes, for the first time or with twice the use
    /// of the last time.
    boolean isBusyAfterRead(long bytes) {
        readBytes += bytes > 0 ? bytes + Pace.CALL : 0;
        return bytes > 0 && isBusy();
    }

    /// Returns the same after a write.
    boolean isBusyAfterWrite(long bytes) {
        writtenBytes += bytes > 0 ? bytes + Pace.CALL : 0;
        return bytes > 0 && isBusy();
    }

    private boolean isBusy() {
        long now = readBytes + writtenBytes;
        if (now < next || System.nanoTime() - begun < pace.nanos()) {
            return false;
        }
        next = 2 * now;
        return true;
    }
}

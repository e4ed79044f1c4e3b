package verbena.nio;

/// The use of a connection, and its age since it went by TCP: whether it keeps its [Pace]. One thread at a time tells
/// of reads, and one of writes.
final class Use {
    private final Pace pace;
    private volatile long begun;
    /// The use by the thread that reads; the next is that by the thread that writes.
    private long readBytes;

    private long writtenBytes;
    /// The use since which it goes by TCP.
    private volatile long since;
    /// The use after that at which it is busy next.
    private volatile long next;

    Use(Pace pace) {
        this.pace = pace;
        begin();
    }

    Pace pace() {
        return pace;
    }

    /// Notes that it goes by TCP from now on.
    void begin() {
        begun = System.nanoTime();
        since = total();
        next = pace.bytes();
    }

    void onRead(long bytes) {
        readBytes += bytes > 0 ? bytes + Pace.CALL : 0;
    }

    void onWrite(long bytes) {
        writtenBytes += bytes > 0 ? bytes + Pace.CALL : 0;
    }

    /// Returns the use so far. A thread that neither reads nor writes may get an earlier one.
    long total() {
        return readBytes + writtenBytes;
    }

    /// Returns whether the connection by TCP is busy, for the first time or with twice the use of the last time.
    boolean isBusy() {
        long now = total() - since;
        if (now < next || System.nanoTime() - begun < pace.nanos()) {
            return false;
        }
        next = 2 * now;
        return true;
    }
}

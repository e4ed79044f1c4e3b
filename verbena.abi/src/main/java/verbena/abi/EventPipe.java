package verbena.abi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;

/// A file descriptor on which a program waits for events of ours: a pipe, written by a thread that waits for them.
/// poll(2), epoll(7) and `O_NONBLOCK` are then the kernel's business. Events in the pipe are pointers: whoever
/// takes one asks whether it still means anything.
final class EventPipe implements AutoCloseable {
    /// Sources wait without an end.
    static final Duration ALWAYS = Duration.ofSeconds(Long.MAX_VALUE);

    /// Writes the next event into memory; false when there will be none any more.
    interface Source {
        boolean next(MemorySegment event) throws InterruptedException;
    }

    private final int[] ends = Native.pipe();
    private final Thread writer;

    /// @param eventBytes what the program reads at once
    EventPipe(String name, long eventBytes, Source source) {
        this.writer = Threads.start(name, () -> {
            try (var arena = Arena.ofConfined()) {
                MemorySegment event = arena.allocate(eventBytes, 8);
                boolean more = true;
                while (more) {
                    more = source.next(event) && Native.write(ends[1], event);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // closed
            }
        });
    }

    /// The end to read from.
    int fd() {
        return ends[0];
    }

    /// What has not been read is gone.
    @Override
    public void close() {
        Native.close(ends[0]);
        writer.interrupt();
        try {
            writer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Native.close(ends[1]);
    }
}

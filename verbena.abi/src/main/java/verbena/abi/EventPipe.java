package verbena.abi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/// A file descriptor on which a program waits for events of ours: a pipe, written by a thread that waits for
/// them. poll(2), epoll(7) and `O_NONBLOCK` are then the kernel's business. Events in the pipe are pointers: the
/// thread that takes one asks whether it still means anything.
///
/// Closing does not wait for the writing thread. A program may close a pipe in the destructor of a library,
/// while it holds the lock of the dynamic loader (dlclose(3)). The virtual machine needs that lock when a thread
/// calls a native method for the first time, so the caller would wait for ever.
final class EventPipe implements AutoCloseable {
    /// Sources wait without an end.
    static final Duration ALWAYS = Duration.ofSeconds(Long.MAX_VALUE);

    /// Writes the next event into memory; false when there will be none any more.
    interface Source {
        boolean next(MemorySegment event) throws InterruptedException;

        /// Where this event belongs by now, when it is no longer the pipe that this source writes.
        default Optional<EventPipe> elsewhere(MemorySegment event) {
            return Optional.empty();
        }
    }

    private final int[] ends = Native.pipe();
    private final Source source;
    /// Held while an event is written; its holder may read too.
    private final ReentrantLock placing = new ReentrantLock();
    private final Thread writer;
    /// Whether nothing more is written, because the writer has closed its end. Under the lock.
    private boolean isEnded;

    /// @param eventBytes what the program reads at once
    EventPipe(String name, long eventBytes, Source source) {
        this.source = source;
        this.writer = Threads.start(name, () -> {
            try (var arena = Arena.ofConfined()) {
                MemorySegment event = arena.allocate(eventBytes, 8);
                boolean more = true;
                while (more) {
                    more = source.next(event) && place(event);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // closed
            } finally {
                end();
            }
        });
    }

    private boolean place(MemorySegment event) {
        Optional<EventPipe> other;
        placing.lock();
        try {
            other = source.elsewhere(event);
            if (other.isEmpty()) {
                return put(event);
            }
        } finally {
            placing.unlock();
        }
        other.get().placing.lock();
        try {
            boolean ignored = other.get().put(event); // false: no program reads there any more
        } finally {
            other.get().placing.unlock();
        }
        return true;
    }

    /// Puts an event behind all that are there, while it is held. False when no program reads any more.
    boolean put(MemorySegment event) {
        return !isEnded && Native.write(ends[1], event);
    }

    private void end() {
        placing.lock();
        try {
            isEnded = true;
            Native.close(ends[1]);
        } finally {
            placing.unlock();
        }
    }

    /// Takes out all pointers that are there, and keeps events from being written until [#release].
    List<Long> hold() {
        var taken = new ArrayList<Long>();
        try {
            do {
                Native.readAll(ends[0], taken); // the writer may wait for room
            } while (!placing.tryLock(1, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            placing.lock();
            Thread.currentThread().interrupt();
        }
        Native.readAll(ends[0], taken);
        return taken;
    }

    void release() {
        placing.unlock();
    }

    /// The end to read from.
    int fd() {
        return ends[0];
    }

    /// What has not been read is gone. The thread that writes ends soon.
    @Override
    public void close() {
        Native.close(ends[0]);
        writer.interrupt();
    }

    /// Whether the thread that writes ends within a time. For tests.
    boolean endsWithin(Duration time) throws InterruptedException {
        return writer.join(time);
    }
}

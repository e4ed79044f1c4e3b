package verbena.ibverbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import verbena.foreign.NativeFunction;
import verbena.foreign.NativeLibrary;

/// The one thread of a context that waits in the kernel, at all its event descriptors. So no thread of the
/// application has to, and a virtual one is never pinned.
final class Poller implements AutoCloseable {
    private static final NativeFunction POLL = NativeLibrary.system("u32 poll(ptr, u64, u32)");
    private static final NativeFunction EVENTFD = NativeLibrary.system("u32 eventfd(u32, u32)");
    private static final NativeFunction READ = NativeLibrary.system("u64 read(u32, ptr, u64)");
    private static final NativeFunction WRITE = NativeLibrary.system("u64 write(u32, ptr, u64)");
    private static final NativeFunction CLOSE = NativeLibrary.system("u32 close(u32)");
    private static final NativeFunction FCNTL = NativeLibrary.system("u32 fcntl(u32, u32, ..., u32)");
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final int EFD_CLOEXEC = 0x80000;
    private static final short POLLIN = 1;
    /// `struct pollfd`: fd, events, revents.
    private static final int POLLFD_BYTES = 8;

    /// Who is told that a descriptor has something to read.
    private record Source(int descriptor, Runnable onReadable) {}

    private final Thread thread;
    private final int wake;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment number = arena.allocate(ValueLayout.JAVA_LONG);
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition roundDone = lock.newCondition();

    // Under the lock.
    private List<Source> sources = List.of();
    private long rounds;
    private boolean stopped;

    /// @param name of the thread
    Poller(String name) {
        this.wake = (int) EVENTFD.call(0, EFD_CLOEXEC | O_NONBLOCK).value();
        this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
        thread.start();
    }

    /// Makes a descriptor one that is read without waiting, and has `onReadable` run on the poller's thread
    /// whenever there is something.
    void add(int descriptor, Runnable onReadable) {
        int flags = (int) FCNTL.call(descriptor, F_GETFL, 0).value();
        FCNTL.call(descriptor, F_SETFL, flags | O_NONBLOCK);
        change(new Source(descriptor, onReadable), true);
    }

    /// When this has returned, nothing of the descriptor runs any more, and it can be closed. Not from the
    /// poller's own thread.
    void remove(int descriptor) {
        change(new Source(descriptor, () -> {}), false);
    }

    private void change(Source source, boolean isNew) {
        lock.lock();
        try {
            var changed = new ArrayList<>(sources);
            changed.removeIf(each -> each.descriptor == source.descriptor);
            if (isNew) {
                changed.add(source);
            }
            sources = List.copyOf(changed);
            long seen = rounds;
            wake();
            while (!isNew && rounds == seen && !stopped && Thread.currentThread() != thread) {
                roundDone.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private void wake() {
        WRITE.call(wake, one(), 8L);
    }

    private MemorySegment one() {
        number.set(ValueLayout.JAVA_LONG, 0, 1);
        return number;
    }

    private void run() {
        try (Arena own = Arena.ofConfined()) {
            MemorySegment counter = own.allocate(ValueLayout.JAVA_LONG);
            while (true) {
                List<Source> round = nextRound();
                if (round.isEmpty()) {
                    return;
                }
                try (Arena perRound = Arena.ofConfined()) {
                    MemorySegment table = table(perRound, round);
                    POLL.call(table, (long) round.size(), -1);
                    READ.call(wake, counter, 8L);
                    for (int i = 1; i < round.size(); i++) {
                        if (table.get(ValueLayout.JAVA_SHORT, (long) i * POLLFD_BYTES + 6) != 0) {
                            round.get(i).onReadable.run();
                        }
                    }
                }
            }
        }
    }

    /// What to wait for; empty at the end.
    private List<Source> nextRound() {
        lock.lock();
        try {
            rounds++;
            roundDone.signalAll();
            if (stopped) {
                return List.of();
            }
            var all = new ArrayList<Source>();
            all.add(new Source(wake, () -> {}));
            all.addAll(sources);
            return all;
        } finally {
            lock.unlock();
        }
    }

    private static MemorySegment table(Arena arena, List<Source> sources) {
        MemorySegment table = arena.allocate((long) sources.size() * POLLFD_BYTES, 4);
        for (int i = 0; i < sources.size(); i++) {
            long at = (long) i * POLLFD_BYTES;
            table.set(ValueLayout.JAVA_INT, at, sources.get(i).descriptor);
            table.set(ValueLayout.JAVA_SHORT, at + 4, POLLIN);
        }
        return table;
    }

    /// Ends the thread. Not from itself.
    @Override
    public void close() {
        lock.lock();
        try {
            if (stopped) {
                return;
            }
            stopped = true;
            wake();
            roundDone.signalAll();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true; // it ends in a moment
            }
        }
        CLOSE.call(wake);
        arena.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

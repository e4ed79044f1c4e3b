package verbena.ibverbs.lib;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.EventCounter;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;

/// The one thread of a context that waits in the kernel, at all its event descriptors. So no thread of the
/// application has to, and a virtual one is never pinned.
public final class Poller implements AutoCloseable {
    private static final SystemFunction FCNTL = SystemFunction.named("fcntl");
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;

    /// A descriptor and its action, which runs when the descriptor can be read.
    private record Source(int descriptor, Runnable onReadable) {}

    private final Thread thread;
    private final Arena arena = Arena.ofShared();
    private final EventCounter wake = new EventCounter(new LinuxSockets(arena), arena);
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition roundDone = lock.newCondition();

    // Under the lock.
    private List<Source> sources = List.of();
    private long rounds;
    private boolean stopped;

    /// @param name of the thread
    public Poller(String name) {
        this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
        thread.start();
    }

    /// Makes a descriptor one that is read without waiting, and has `onReadable` run on the poller's thread
    /// whenever there is something.
    public void add(int descriptor, Runnable onReadable) {
        long flags = FCNTL.call(descriptor, F_GETFL);
        long _ = FCNTL.call(descriptor, F_SETFL, flags | O_NONBLOCK);
        change(new Source(descriptor, onReadable), true);
    }

    /// Removes a descriptor, whose action then runs no more; the descriptor can be closed. Not from the poller's
    /// own thread.
    public void remove(int descriptor) {
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
            wake.ring();
            while (!isNew && rounds == seen && !stopped && Thread.currentThread() != thread) {
                roundDone.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        while (true) {
            List<Source> round = nextRound();
            if (round.isEmpty()) {
                return;
            }
            try (Arena perRound = Arena.ofConfined()) {
                MemorySegment table = perRound.allocate((long) round.size() * Pollfd.BYTES, 4);
                for (int i = 0; i < round.size(); i++) {
                    Pollfds.watch(table, i, round.get(i).descriptor, LinuxAbi.POLLIN);
                }
                int _ = LinuxSockets.poll(table, round.size(), MemorySegment.NULL);
                wake.clear();
                for (int i = 1; i < round.size(); i++) {
                    if (Pollfds.isReadable(table, i)) {
                        round.get(i).onReadable.run();
                    }
                }
            }
        }
    }

    /// Returns the sources to wait for; empty at the end.
    private List<Source> nextRound() {
        lock.lock();
        try {
            rounds++;
            roundDone.signalAll();
            if (stopped) {
                return List.of();
            }
            var all = new ArrayList<Source>();
            all.add(new Source(wake.fd(), () -> {}));
            all.addAll(sources);
            return all;
        } finally {
            lock.unlock();
        }
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
            wake.ring();
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
        wake.close();
        arena.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

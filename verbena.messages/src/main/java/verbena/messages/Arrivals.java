package verbena.messages;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import verbena.verbs.InvalidStateException;
import verbena.verbs.VerbsException;
import verbena.verbs.WorkCompletion;

/// Reads the completions of a worker. With one rail the thread that reads ([Readers]) sleeps at its completion queue.
/// With several, each queue has a thread of its own, and the thread that reads waits until one of them has found
/// something. It runs the handlers then.
final class Arrivals implements Readers.Source {
    private static final Duration FOREVER = Duration.ofDays(36_500);
    /// A limit of so much is none, and needs no object.
    private static final long FOREVER_NANOS = Duration.ofDays(365).toNanos();
    private static final int BATCH = 64;

    private final Traffic traffic;
    private final List<Reading> readings = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    /// With several rails: something has arrived, or the bell was rung.
    private final Semaphore arrived = new Semaphore(0);

    private final AtomicInteger open;

    Arrivals(Traffic traffic, List<Rail> rails) {
        this.traffic = traffic;
        this.open = new AtomicInteger(rails.size());
        rails.forEach(each -> readings.add(new Reading(each)));
        if (rails.size() > 1) {
            for (Reading each : readings) {
                threads.add(Thread.ofVirtual()
                        .name("verbena-rail-" + each.rail.index)
                        .unstarted(each::run));
            }
        }
    }

    void start() {
        threads.forEach(Thread::start);
    }

    /// The completions of one rail.
    private final class Reading {
        private final Rail rail;
        private final WorkCompletion first = new WorkCompletion();
        private final WorkCompletion[] batch = new WorkCompletion[BATCH];
        private final List<RemoteWorker> touched = new ArrayList<>();
        /// Whether the first completion is still to be handled.
        private boolean isKept;

        Reading(Rail rail) {
            this.rail = rail;
            for (int i = 0; i < BATCH; i++) {
                batch[i] = new WorkCompletion();
            }
        }

        /// Handles a frame as soon as it is there, because its sender may wait for an answer. What can wait comes
        /// with the next read: a look for more frames, and the completion of a send that came with the frame.
        boolean read(long nanos) throws InterruptedException {
            int n = rail.queue.poll(batch);
            if (isKept || n > 0) {
                WorkCompletion before = isKept ? first : null;
                isKept = false;
                round(before, n);
                return n > 0 || nanos > 0; // a caller that would sleep looks first whether it still has a reason
            }
            Duration limit = nanos >= FOREVER_NANOS ? FOREVER : Duration.ofNanos(nanos);
            if (nanos == 0 || !rail.queue.await(first, limit)) {
                return false;
            }
            n = Departures.isFrame(first.wrId()) ? 0 : rail.queue.poll(batch);
            isKept = n > 0 && Departures.isSend(first.wrId()) && first.ok();
            round(isKept ? null : first, n);
            return true;
        }

        private void round(@Nullable WorkCompletion before, int n) {
            traffic.round(rail, before, batch, n, !isKept && n < BATCH, touched);
        }

        private void run() {
            String why = "the worker, or its device " + rail.index + ", is closed";
            try {
                while (true) {
                    if (read(Long.MAX_VALUE)) {
                        arrived.release();
                    }
                }
            } catch (InvalidStateException e) {
                // closed
            } catch (RuntimeException | InterruptedException e) { // whatever it is: no thread may wait for ever
                why = "device " + rail.index + " of the worker has failed: " + e;
            }
            traffic.lostRails.loseRail(rail, why);
            open.decrementAndGet();
            arrived.release();
        }
    }

    @Override
    public Readers.Outcome read(long nanos) throws InterruptedException {
        try {
            boolean found = threads.isEmpty() ? readings.getFirst().read(nanos) : isTold(nanos);
            if (!found) {
                return Readers.Outcome.NONE;
            }
            traffic.handlers.run();
            giveWayToCalls();
            if (threads.isEmpty() || open.get() > 0) {
                return Readers.Outcome.SOME;
            }
            traffic.failAll("the worker is closed");
        } catch (InvalidStateException e) {
            traffic.failAll("the worker is closed");
        } catch (RuntimeException e) { // whatever it is: no thread may wait for ever
            traffic.failAll("the worker has failed: " + e);
        }
        return Readers.Outcome.OVER;
    }

    /// Their threads may need this processor.
    @SuppressWarnings("ThreadPriorityCheck") // correct without the hint
    private void giveWayToCalls() {
        if (traffic.hasBegunCalls) {
            traffic.hasBegunCalls = false;
            Thread.yield();
        }
    }

    private boolean isTold(long nanos) throws InterruptedException {
        boolean isTold = nanos == 0 ? arrived.tryAcquire() : arrived.tryAcquire(nanos, TimeUnit.NANOSECONDS);
        if (isTold) {
            arrived.drainPermits();
            traffic.readers.heard();
        }
        return isTold;
    }

    @Override
    public void ring() {
        if (!threads.isEmpty()) {
            arrived.release();
            return;
        }
        try {
            readings.getFirst().rail.ring();
        } catch (VerbsException e) {
            // the worker is being closed, or its device has failed: the read ends with that
        }
    }

    /// Waits until no thread reads a rail that is closed.
    void join(Rail closed) {
        if (!threads.isEmpty()) {
            Readers.join(threads.get(closed.index));
        }
    }
}

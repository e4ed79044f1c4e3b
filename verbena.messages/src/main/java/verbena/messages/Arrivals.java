package verbena.messages;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import verbena.messages.rail.Completions;
import verbena.messages.rail.Rail;
import verbena.messages.rail.Remote;
import verbena.messages.rail.Threads;
import verbena.verbs.InvalidStateException;
import verbena.verbs.VerbsException;

/// A reader of a worker's completions. With one rail the thread that reads ([Readers]) sleeps at its completion
/// queue. With several, each queue has a thread of its own, and the thread that reads waits until one of them has
/// found something. It runs the handlers then.
final class Arrivals implements Readers.Source {
    /// The listener of arrivals.
    interface Owner extends Completions.Handler {
        /// Handles a wake-up of the thread that reads.
        void heard();

        /// Handles the end of a rail, which brings no more completions.
        void lost(Rail rail, String why);

        /// Handles the end of all arrivals.
        void over(String why);
    }

    private final Owner owner;
    private final List<Completions> completions = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    /// A semaphore for several rails, released when something has arrived or the bell was rung.
    private final Semaphore arrived = new Semaphore(0);

    private final AtomicInteger open;
    /// An action that is set before the first read.
    private Runnable afterRead = () -> {};

    Arrivals(Owner owner, List<Rail> rails) {
        this.owner = owner;
        this.open = new AtomicInteger(rails.size());
        rails.forEach(each -> completions.add(new Completions(each, owner)));
        if (rails.size() > 1) {
            for (Completions each : completions) {
                threads.add(Thread.ofVirtual()
                        .name("verbena-rail-" + each.rail.index)
                        .unstarted(() -> run(each)));
            }
        }
    }

    /// @param whenRead runs on the thread that reads, after each read that brought something
    void start(Runnable whenRead) {
        afterRead = whenRead;
        threads.forEach(Thread::start);
    }

    private void run(Completions of) {
        String why = "the worker, or its device " + of.rail.index + ", is closed";
        try {
            while (true) {
                if (of.read(Long.MAX_VALUE)) {
                    arrived.release();
                }
            }
        } catch (InvalidStateException e) {
            // closed
        } catch (RuntimeException | InterruptedException e) { // whatever it is: no thread may wait for ever
            why = "device " + of.rail.index + " of the worker has failed: " + e;
        }
        owner.lost(of.rail, why);
        open.decrementAndGet();
        arrived.release();
    }

    @Override
    public Readers.Outcome read(long nanos) throws InterruptedException {
        try {
            boolean found = threads.isEmpty() ? completions.getFirst().read(nanos) : isTold(nanos);
            if (!found) {
                return Readers.Outcome.NONE;
            }
            afterRead.run();
            if (threads.isEmpty() || open.get() > 0) {
                return Readers.Outcome.SOME;
            }
            owner.over(Remote.WORKER_CLOSED);
        } catch (InvalidStateException e) {
            owner.over(Remote.WORKER_CLOSED);
        } catch (RuntimeException e) { // whatever it is: no thread may wait for ever
            owner.over("the worker has failed: " + e);
        }
        return Readers.Outcome.OVER;
    }

    private boolean isTold(long nanos) throws InterruptedException {
        boolean isTold = nanos == 0 ? arrived.tryAcquire() : arrived.tryAcquire(nanos, TimeUnit.NANOSECONDS);
        if (isTold) {
            arrived.drainPermits();
            owner.heard();
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
            completions.getFirst().rail.ring();
        } catch (VerbsException e) {
            // the worker is being closed, or its device has failed: the read ends with that
        }
    }

    /// Waits until no thread reads a rail that is closed.
    void join(Rail closed) {
        if (!threads.isEmpty()) {
            Threads.join(threads.get(closed.index));
        }
    }
}

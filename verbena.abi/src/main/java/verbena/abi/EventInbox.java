package verbena.abi;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// Events that have come for a program, and the file descriptor on which it waits for them: readable as long as
/// there is one to get, so poll(2), epoll(7) and `O_NONBLOCK` are the kernel's business. A thread of ours waits
/// for events and puts them in here. An event is in one inbox, or with the thread that takes it, and nowhere in C
/// before that: an object that is destroyed takes its events along.
///
/// Closing does not wait for the thread that fills. A program may close an inbox in the destructor of a library,
/// while it holds the lock of the dynamic loader (dlclose(3)). The virtual machine needs that lock when a thread
/// calls a native method for the first time, so the caller would wait for ever.
public final class EventInbox<E> implements AutoCloseable {
    /// A source whose next event a thread waits for; null when there will be none any more.
    @FunctionalInterface
    public interface Source<E> {
        @Nullable
        E next() throws InterruptedException;
    }

    /// The lock of all inboxes, because events move from one to another: a thread decides under it whether an event
    /// is wanted, and where it belongs.
    private static final ReentrantLock LOCK = new ReentrantLock();

    private final ArrayDeque<E> events = new ArrayDeque<>();
    private final PollableDescriptor descriptor = new PollableDescriptor();
    private final Function<E, @Nullable EventInbox<E>> homes;
    private final Consumer<E> unwanted;
    private final Thread filler;
    private boolean isClosed;

    /// @param homes the inbox in which an event belongs by now; null for one that is of no use any more. Called
    ///     with the lock held
    /// @param unwanted gets the latter
    public EventInbox(String name, Source<E> source, Function<E, @Nullable EventInbox<E>> homes, Consumer<E> unwanted) {
        this.homes = homes;
        this.unwanted = unwanted;
        this.filler = Threads.start(name, () -> {
            try {
                for (E event = source.next(); event != null; event = source.next()) {
                    if (!isPut(event)) {
                        unwanted.accept(event);
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // closed
            }
        });
    }

    /// Puts an event where it belongs; false when that is nowhere.
    private boolean isPut(E event) {
        LOCK.lock();
        try {
            EventInbox<E> home = homes.apply(event);
            if (home == null || home.isClosed) {
                return false;
            }
            home.events.add(event);
            home.tell();
            return true;
        } finally {
            LOCK.unlock();
        }
    }

    private void tell() {
        assert LOCK.isHeldByCurrentThread();
        if (!isClosed) {
            descriptor.events(events.size());
        }
    }

    /// Takes the oldest event; null when there is none.
    ///
    /// @param isTaken called with the lock held; when it says no, the event is of no use, and the next is tried
    @Nullable
    public E take(Predicate<E> isTaken) {
        E event;
        boolean is;
        do {
            LOCK.lock();
            try {
                event = events.poll();
                is = event == null || isTaken.test(event);
                tell();
            } finally {
                LOCK.unlock();
            }
            if (event != null && !is) {
                unwanted.accept(event);
            }
        } while (!is);
        return event;
    }

    /// Takes those events out that are of something.
    public List<E> remove(Predicate<E> isOf) {
        var its = new ArrayList<E>();
        LOCK.lock();
        try {
            events.removeIf(event -> isOf.test(event) && its.add(event));
            tell();
        } finally {
            LOCK.unlock();
        }
        return its;
    }

    /// Does something between the moments at which events are put and taken, and moves those of something behind
    /// all that are in another inbox.
    public void move(Predicate<E> isOf, EventInbox<E> to, Runnable meanwhile) {
        LOCK.lock();
        try {
            meanwhile.run();
            to.events.addAll(remove(isOf));
            to.tell();
        } finally {
            LOCK.unlock();
        }
    }

    /// Returns the descriptor that the program waits for.
    public int fd() {
        return descriptor.fd();
    }

    /// Discards all events that have not been taken. The thread that fills it ends soon.
    @Override
    public void close() {
        LOCK.lock();
        try {
            isClosed = true;
            descriptor.close();
        } finally {
            LOCK.unlock();
        }
        filler.interrupt();
    }

    /// Returns whether the thread that fills it ends within a time. For tests.
    public boolean endsWithin(Duration time) throws InterruptedException {
        return filler.join(time);
    }
}

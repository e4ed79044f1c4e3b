package verbena.transport.weak;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import verbena.transport.Protocol;
import verbena.transport.memory.KeyWatch;
import verbena.transport.memory.MemoryTable;
import verbena.transport.queue.CompletionRing;

/// The part of a weak device that its queue pairs share. It has one engine. Engine-confined.
public final class WeakDevice {
    /// The memory of a queue pair, in which bytes wait.
    interface Waiting {
        /// Shows everything that has arrived.
        void showAll();

        /// Shows what atomics have written, and what came before it.
        void showAtomics();
    }

    final Weakness weakness;
    final LongSupplier clock;
    /// The memories in which bytes wait.
    private final Set<Waiting> waiting = new LinkedHashSet<>();
    private final SplittableRandom root;
    private final SplittableRandom random;
    /// The completion queues whose event comes late, in the order in which it comes.
    private final Deque<LateEvent> events = new ArrayDeque<>();

    /// @param memory the table of the device's only engine
    /// @param clock nanoseconds, monotonic
    public WeakDevice(Weakness weakness, MemoryTable memory, LongSupplier clock) {
        this.weakness = weakness;
        this.clock = clock;
        this.root = new SplittableRandom(weakness.seed());
        this.random = root.split();
        memory.watch(new KeyWatch() {
            @Override
            public boolean onEnded(int key) {
                showAll();
                return true;
            }

            @Override
            public void onUnbound(int key) {
                showAll();
            }
        });
    }

    /// Returns the random numbers of the next queue pair.
    SplittableRandom chance() {
        return root.split();
    }

    /// Returns the listener of a ring of completions, whose notifications reach `queue` late.
    public CompletionRing.Listener listener(CompletionRing.Listener queue) {
        return weakness.has(Freedom.LATE_EVENTS) ? new LateEvent(queue) : queue;
    }

    /// Returns when the next event comes.
    long dueNanos() {
        LateEvent first = events.peek();
        return first == null ? Protocol.NEVER : first.dueNanos;
    }

    /// Brings the events whose time has come.
    void bring(long nowNanos) {
        while (dueNanos() <= nowNanos) {
            LateEvent first = events.remove();
            first.isLate = false;
            first.queue.onNotification();
        }
    }

    private final class LateEvent implements CompletionRing.Listener {
        private final CompletionRing.Listener queue;
        private boolean isLate;
        private long dueNanos;

        LateEvent(CompletionRing.Listener queue) {
            this.queue = queue;
        }

        @Override
        public void onNotification() {
            if (isLate) {
                return; // one event for both
            }
            isLate = true;
            LateEvent last = events.peekLast();
            long due = clock.getAsLong() + Lateness.draw(random);
            dueNanos = last == null ? due : Math.max(last.dueNanos, due);
            events.add(this);
        }

        @Override
        public void onWake() {
            queue.onWake();
        }

        @Override
        public void onOverflow() {
            queue.onOverflow();
        }
    }

    void waits(Waiting memory) {
        waiting.add(memory);
    }

    void waitsNoMore(Waiting memory) {
        waiting.remove(memory);
    }

    /// Shows everything that has arrived, because memory ends or changes.
    private void showAll() {
        List.copyOf(waiting).forEach(Waiting::showAll);
    }

    /// Shows what atomics have written: they are atomic among each other.
    void showAtomics() {
        List.copyOf(waiting).forEach(Waiting::showAtomics);
    }
}

package verbena.check.races;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.TrackedRequest;

/// One step that accesses memory: a request of a queue pair, or loads and stores of a processor.
public final class RaceStep {
    /// The ways to access bytes.
    public enum Kind {
        /// A READ, at its target.
        READ,
        /// A WRITE, at its target.
        WRITE,
        /// An atomic, at its target.
        ATOMIC,
        /// The device takes local bytes that a request sends.
        GATHER,
        /// The device fills local bytes with a result.
        FILL,
        /// The processor reads.
        LOAD,
        /// The processor writes.
        STORE;

        boolean isRemote() {
            return this == READ || this == WRITE || this == ATOMIC;
        }

        boolean isProcessor() {
            return this == LOAD || this == STORE;
        }

        boolean changes() {
            return this == WRITE || this == ATOMIC || this == FILL || this == STORE;
        }
    }

    /// Memory of a process that can be accessed from several sides.
    ///
    /// @param space number of the process
    /// @param label of its region, for people
    /// @param base address of the region in its process
    /// @param card through which peers reach it; empty when its atomics are atomic to those of others
    public record Memory(int space, String label, long base, String card) {
        boolean isOfOtherCard(Memory other) {
            return !card.isEmpty() && !other.card.isEmpty() && !card.equals(other.card);
        }
    }

    /// Bytes that a step accesses.
    record Access(RaceStep step, Kind kind, Memory memory, long from, long length) {
        long to() {
            return from + length;
        }

        boolean overlaps(Access other) {
            return from < other.to() && other.from < to();
        }

        /// Returns whether it is within one aligned word, which cards do not tear.
        boolean isWord() {
            return (from >>> 3) == ((to() - 1) >>> 3);
        }

        /// Returns whether the bytes that both have are within one aligned word.
        boolean sharesWord(Access other) {
            return (Math.max(from, other.from) >>> 3) == ((Math.min(to(), other.to()) - 1) >>> 3);
        }
    }

    final Actor actor;
    final long epoch;
    /// The component of its queue pair in clocks; negative for what a processor does.
    final int queue;
    final long number;
    final String name;
    final CallPlace place;
    /// Its place among all steps of the model.
    final long order;
    final List<Access> accesses = new ArrayList<>(2);

    /// The number up to which requests of its queue pair have what they read when this one is carried out.
    long fetched;
    /// The knowledge of its actor, for those who learn of it; null where all are one actor.
    @Nullable
    Clock clock;
    /// Whether it is a READ whose reader looks at a version afterwards.
    boolean isVersioned;
    /// Whether it is a READ that such a look may still follow.
    boolean mayBeVersioned;

    /// The request of this process, where the model is of this process.
    @Nullable
    TrackedRequest request;

    @Nullable
    Actor endedBy;

    long endEpoch;

    RaceStep(Actor actor, int queue, long number, String name, CallPlace place, long order) {
        this.actor = actor;
        this.epoch = actor.epoch();
        this.queue = queue;
        this.number = number;
        this.name = name;
        this.place = place;
        this.order = order;
    }

    /// Notes the request of this process.
    public void request(TrackedRequest of) {
        request = of;
    }

    /// Adds bytes that it accesses.
    ///
    /// @param from address in the process of `memory`
    public void add(Kind kind, Memory memory, long from, long length) {
        if (length > 0) {
            accesses.add(new Access(this, kind, memory, from, length));
        }
    }

    public CallPlace place() {
        return place;
    }

    public String name() {
        return name;
    }
}

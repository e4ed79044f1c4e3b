package verbena.check.races;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.Rule;
import verbena.check.races.RaceStep.Access;
import verbena.check.races.RaceStep.Kind;
import verbena.verbs.spi.SendOperation;

/// The order of steps, and the races in it. A request begins when it is posted, and has ended for those
/// who know of its completion, of a message behind it, or of a result that it has changed. One thread at a time.
///
/// Where a program cannot be seen, the model takes steps for ordered: it would rather miss a race than tell of one
/// that is none.
public final class RaceModel {
    /// Hears of races.
    public interface Listener {
        void found(Race race);

        /// Hears that what looked like a race is none: a later step has shown it.
        void retracted(Race race);
    }

    /// Steps that have ended, and are kept because not all actors know of it.
    private static final int ENDED = 1 << 15;
    /// Messages that an actor has received and that are kept to explain a race.
    private static final int HEARD = 16;
    /// READs of one queue pair that a look at a version may prove.
    private static final int READS = 64;
    /// Completed WRITEs that are kept until something makes them visible.
    private static final int UNSEEN = 64;

    /// The operation that has no bytes of its own, and makes those of WRITEs before it visible.
    private static final String FLUSH = SendOperation.FLUSH.name();

    /// A WRITE whose completion was taken.
    ///
    /// @param end the order of the last step before that
    private record Unseen(Access write, long end) {
        boolean isOf(int queue) {
            return write.step().queue == queue;
        }
    }

    private final Listener listener;
    private final boolean isOneActor;
    /// The accesses to the memory of each process, by its number.
    private final List<Intervals<Access>> spaces = new ArrayList<>();
    private final ArrayDeque<RaceStep> ended = new ArrayDeque<>();
    private final ArrayDeque<RaceStep> heard = new ArrayDeque<>();
    private final Map<Object, Clock> released = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Object, Clock> eldest) {
            return size() > ENDED;
        }
    };
    /// Queue pairs that are closed, whose components are used again.
    private final ArrayDeque<Chain> free = new ArrayDeque<>();
    /// WRITEs whose completion was taken, and behind which nothing has made their bytes visible to the processor of
    /// their owner: no READ, atomic or FLUSH of their queue pair, and no message.
    private final ArrayDeque<Unseen> unseen = new ArrayDeque<>();

    /// The races of READs that a look at a version may still take back.
    private final Map<RaceStep, List<Race>> unproven = new HashMap<>();

    private int components;
    private long order;

    /// @param isOneActor whether there is one actor only
    public RaceModel(boolean isOneActor, Listener listener) {
        this.isOneActor = isOneActor;
        this.listener = listener;
    }

    /// Makes an actor.
    public Actor actor() {
        return new Actor(components++);
    }

    /// Tells that an actor was made by another: it knows what that one knows.
    public void begin(Actor child, Actor parent) {
        child.clock.join(parent.clock);
        parent.step();
    }

    /// Tells that an actor goes on where another has stopped.
    public void follow(Actor next, Actor last) {
        if (next != last) {
            begin(next, last);
        }
    }

    /// Begins the requests of a queue pair.
    public Chain open() {
        Chain known = free.poll();
        if (known != null) {
            return new Chain(known.placed, known.last);
        }
        components += 2;
        return new Chain(components - 2, 0);
    }

    /// Ends the requests of a queue pair, whatever has become of them.
    public void close(Chain chain) {
        unseen.removeIf(each -> each.isOf(chain.placed));
        chain.underWay.forEach(this::forget);
        chain.underWay.clear();
        chain.messages.clear();
        giveUp(chain);
        if (isOneActor) {
            free.add(chain);
        }
    }

    /// Makes a request.
    ///
    /// @param number of the request in its queue pair; numbers rise
    /// @param isFenced whether it waits for what earlier requests read
    public RaceStep request(Actor by, Chain chain, long number, String name, CallPlace place, boolean isFenced) {
        chain.last = chain.before + number;
        if (isFenced) {
            chain.fenced = chain.last - 1;
        }
        var step = new RaceStep(by, chain.placed, chain.last, name, place, ++order);
        step.fetched = chain.fenced;
        return step;
    }

    /// Makes a step of a processor.
    public RaceStep processor(Actor by, CallPlace place) {
        return new RaceStep(by, -1, 0, "processor", place, ++order);
    }

    /// Tells of a request that is about to be posted.
    ///
    /// @param isMessage whether the peer sees its arrival by a receive
    public void post(Chain chain, RaceStep step, boolean isMessage) {
        if (!isOneActor) {
            step.actor.clock.join(chain.posting);
            chain.posting.join(step.actor.clock);
        }
        version(chain, step);
        checkItself(step);
        for (Access each : step.accesses) {
            check(each);
        }
        for (Access each : step.accesses) {
            index(each).add(each.from(), each.length(), each);
        }
        chain.underWay.add(step);
        if (isMessage) {
            chain.messages.add(step);
        }
        release(step);
    }

    private void release(RaceStep step) {
        if (!isOneActor) {
            step.clock = step.actor.clock.copy();
            step.actor.step();
        }
    }

    /// Tells of loads and stores of a processor.
    public void access(RaceStep step) {
        for (Access each : step.accesses) {
            check(each);
            checkSeen(each);
            if (!isOneActor) {
                index(each).add(each.from(), each.length(), each);
            }
        }
        if (!isOneActor) {
            release(step);
            step.endedBy = step.actor;
            step.endEpoch = step.epoch;
            keep(step);
        }
    }

    /// Tells of a load of bytes that a completed WRITE has brought, but that the processor need not see yet. A load of
    /// one word may be a look at a flag.
    private void checkSeen(Access load) {
        for (Unseen each : unseen) {
            Access write = each.write;
            if (load.kind() == Kind.LOAD
                    && write.memory().space() == load.memory().space()
                    && write.overlaps(load)
                    && !write.sharesWord(load)
                    && isKnown(load.step().actor, write)) { // otherwise it was told already
                listener.found(new Race(Rule.RACE_PROCESSOR, write, load, null));
            }
        }
    }

    private Intervals<Access> index(Access access) {
        int space = access.memory().space();
        while (spaces.size() <= space) {
            spaces.add(new Intervals<>());
        }
        return spaces.get(space);
    }

    /// Finds out whether a reader looks at a version after its READs: at a word of the same memory, or by an atomic at
    /// a word that it has read. Such a reader notices by itself what has changed. A look before is not enough.
    private void version(Chain chain, RaceStep step) {
        Access read = remote(step, Kind.READ);
        Access atomic = remote(step, Kind.ATOMIC);
        if (read != null && read.isWord()) {
            chain.unproven.forEach(each -> prove(each, read));
        } else if (atomic != null && chain.unproven.stream().anyMatch(each -> hasRead(each, atomic))) {
            chain.unproven.forEach(each -> prove(each, atomic));
        }
        if (read == null || chain.unproven.size() == READS) {
            giveUp(chain);
        }
        if (read != null) {
            step.mayBeVersioned = true;
            chain.unproven.add(step);
        }
    }

    /// Ends the READs that a look at a version might have proven.
    private void giveUp(Chain chain) {
        for (RaceStep each : chain.unproven) {
            each.mayBeVersioned = false;
            unproven.remove(each);
        }
        chain.unproven.clear();
    }

    private void prove(RaceStep step, Access version) {
        Access read = remote(step, Kind.READ);
        if (read != null && read.memory().equals(version.memory())) {
            step.isVersioned = true;
            unproven.getOrDefault(step, List.of()).forEach(listener::retracted);
            unproven.remove(step);
        }
    }

    private static boolean hasRead(RaceStep step, Access word) {
        Access read = remote(step, Kind.READ);
        return read != null && read.memory().equals(word.memory()) && read.overlaps(word);
    }

    private static @Nullable Access remote(RaceStep step, Kind kind) {
        for (Access each : step.accesses) {
            if (each.kind() == kind) {
                return each;
            }
        }
        return null;
    }

    private void check(Access access) {
        List<Access> unordered = new ArrayList<>(0);
        index(access).overlapping(access.from(), access.length(), other -> {
            if (other.step() != access.step()
                    && (other.kind().changes() || access.kind().changes())) {
                unordered.add(other);
            }
            return false;
        });
        for (Access other : unordered) {
            boolean isOrdered = (other.step().queue >= 0 && other.step().queue == access.step().queue)
                    ? isOrderedByQueue(other, access)
                    : knows(access.step().actor, other);
            if (!isOrdered) {
                tell(other, access);
            }
        }
    }

    /// Returns whether two requests of one queue pair are carried out in the order in which they were posted.
    private static boolean isOrderedByQueue(Access first, Access second) {
        return first.kind() != Kind.READ || second.kind() != Kind.WRITE || second.step().fetched >= first.step().number;
    }

    /// Returns whether an actor knows that an access has ended. It knows all that an actor has done which acts no
    /// more: it has waited for that one, where the layer could not see it.
    private static boolean knows(Actor actor, Access access) {
        RaceStep step = access.step();
        if (isKnown(actor, access)) {
            return true;
        }
        boolean isOver = false;
        for (Actor each : new Actor[] {step.actor, step.endedBy}) {
            if (each != null && each.isOver()) {
                actor.clock.join(each.clock);
                isOver = true;
            }
        }
        return isOver && isKnown(actor, access);
    }

    private static boolean isKnown(Actor actor, Access access) {
        RaceStep step = access.step();
        Actor by = step.endedBy;
        if (by != null && actor.clock.get(by.component) >= step.endEpoch) {
            return true;
        }
        if (step.queue < 0) {
            return false;
        }
        boolean isFetched = access.kind() == Kind.READ || access.kind() == Kind.FILL;
        return actor.clock.get(isFetched ? step.queue + 1 : step.queue) >= step.number;
    }

    private void tell(Access first, Access second) {
        RaceStep announcement = announcement(first, second);
        Rule rule = rule(first, second, announcement != null);
        if (rule != null) {
            var race = new Race(rule, first, second, rule == Rule.RACE_ANNOUNCED ? announcement : null);
            listener.found(race);
            RaceStep reader = (second.kind() == Kind.READ ? second : first).step();
            if (reader.mayBeVersioned) {
                unproven.computeIfAbsent(reader, _ -> new ArrayList<>(1)).add(race);
            }
        }
    }

    /// Returns the message of another queue pair by which the actor of the second access knows that the first was
    /// posted.
    private @Nullable RaceStep announcement(Access first, Access second) {
        if (first.kind() != Kind.WRITE || second.kind().isRemote()) {
            return null;
        }
        for (RaceStep each : heard) {
            if (each.order > first.step().order
                    && each.queue != first.step().queue
                    && each.actor == first.step().actor
                    && each.endedBy == second.step().actor) {
                return each;
            }
        }
        return null;
    }

    /// Tells of a request whose source and target overlap, which a device reads and writes in any order.
    private void checkItself(RaceStep step) {
        Access target = remote(step, Kind.WRITE);
        for (Access each : step.accesses) {
            if (target != null
                    && each.kind() == Kind.GATHER
                    && each.memory().space() == target.memory().space()
                    && each.overlaps(target)) {
                listener.found(new Race(Rule.RACE_LOCAL, each, target, null));
            }
        }
    }

    private static @Nullable Rule rule(Access first, Access second, boolean isAnnounced) {
        Kind a = first.kind();
        Kind b = second.kind();
        if (isAnnounced) {
            return Rule.RACE_ANNOUNCED;
        }
        if (!a.isRemote() && !b.isRemote()) {
            return a.isProcessor() == b.isProcessor() ? null : Rule.RACE_PROCESSOR; // others have rules of their own
        }
        if (a.isRemote() && b.isRemote() && first.step().queue == second.step().queue) {
            return Rule.RACE_UNFENCED;
        }
        // One reads a word that the other changes: a flag, it may be. Or the reader looks at a version as well.
        boolean isMeant = !(a.changes() && b.changes()) && first.sharesWord(second);
        if (isMeant || isVersioned(first) || isVersioned(second)) {
            return null;
        }
        if (a.isProcessor() || b.isProcessor()) {
            return Rule.RACE_PROCESSOR;
        }
        if (!a.isRemote() || !b.isRemote()) {
            return Rule.RACE_LOCAL;
        }
        if (a == Kind.READ || b == Kind.READ) {
            return Rule.RACE_READ;
        }
        if (a == Kind.ATOMIC && b == Kind.ATOMIC) {
            return first.memory().isOfOtherCard(second.memory()) ? Rule.ATOMIC_DEVICES : null;
        }
        return a == b ? Rule.RACE_WRITE : Rule.ATOMIC_MIXED;
    }

    private static boolean isVersioned(Access access) {
        return access.kind() == Kind.READ && access.step().isVersioned;
    }

    /// Tells that an actor has seen the oldest request of a queue pair end.
    ///
    /// @param isOk whether it was carried out
    public void end(Actor by, Chain chain, long number, boolean isOk) {
        RaceStep step = chain.underWay.peek();
        if (step == null || step.number != chain.before + number) {
            drop(chain, number);
            return;
        }
        chain.underWay.remove();
        by.clock.raise(chain.placed, step.number);
        by.clock.raise(chain.placed + 1, step.number);
        for (Access each : step.accesses) {
            if (isOk && (each.kind() == Kind.READ || each.kind() == Kind.ATOMIC)) {
                learn(by, each);
                unseen.removeIf(other -> other.isOf(chain.placed) || other.write.overlaps(each));
            } else if (isOk && each.kind() == Kind.WRITE && step.number > chain.shown) {
                unseen.add(new Unseen(each, order));
            }
        }
        if (unseen.size() > UNSEEN) {
            unseen.remove();
        }
        if (step.accesses.isEmpty() && step.name.equals(FLUSH)) {
            unseen.removeIf(each -> each.isOf(chain.placed));
        }
        if (isOneActor) {
            forget(step);
        } else {
            step.endedBy = by;
            step.endEpoch = by.epoch();
            keep(step);
        }
    }

    /// Notes that what a READ or an atomic has returned may be what others have changed.
    private void learn(Actor by, Access result) {
        List<Access> changes = new ArrayList<>(0);
        index(result).overlapping(result.from(), result.length(), other -> {
            if (other.kind().changes() && other.step() != result.step()) {
                changes.add(other);
            }
            return false;
        });
        for (Access each : changes) {
            RaceStep step = each.step();
            if (step.clock != null) {
                by.clock.join(step.clock);
            }
            if (step.queue >= 0) {
                by.clock.raise(step.queue, step.number);
                by.clock.raise(step.queue + 1, each.kind() == Kind.ATOMIC ? step.number : step.fetched);
            }
        }
    }

    /// Tells that a request was not carried out, or will not be seen to end.
    public void drop(Chain chain, long number) {
        long of = chain.before + number;
        for (Iterator<RaceStep> each = chain.underWay.iterator(); each.hasNext(); ) {
            RaceStep step = each.next();
            if (step.number == of) {
                forget(step);
                each.remove();
            }
        }
        chain.messages.removeIf(each -> each.number == of);
    }

    /// Tells that an actor has taken the receive of the oldest message of its peer's queue pair.
    public void receive(Actor by, Chain from) {
        RaceStep message = from.messages.poll();
        if (message == null) {
            return;
        }
        if (message.clock != null) {
            by.clock.join(message.clock);
        }
        by.clock.raise(from.placed, message.number);
        by.clock.raise(from.placed + 1, message.fetched);
        from.shown = message.number;
        unseen.removeIf(each ->
                message.order > each.end || (each.isOf(from.placed) && each.write.step().number <= message.number));
        var note =
                new RaceStep(message.actor, message.queue, message.number, message.name, message.place, message.order);
        note.endedBy = by;
        heard.addFirst(note);
        if (heard.size() > HEARD) {
            heard.removeLast();
        }
    }

    /// Returns whether a message of the queue pair waits to be received.
    public boolean hasMessage(Chain from) {
        return !from.messages.isEmpty();
    }

    /// Tells that an actor has handed over what it knows.
    ///
    /// @param by what it is handed over by
    public void release(Actor actor, Object by) {
        if (!isOneActor) {
            released.computeIfAbsent(by, _ -> new Clock()).join(actor.clock);
            actor.step();
        }
    }

    /// Tells that an actor has taken over what others know.
    public void acquire(Actor actor, Object by) {
        Clock known = released.get(by);
        if (known != null) {
            actor.clock.join(known);
        }
    }

    private void keep(RaceStep step) {
        ended.add(step);
        if (ended.size() > ENDED) {
            forget(ended.remove());
        }
    }

    private void forget(RaceStep step) {
        for (Access each : step.accesses) {
            index(each).remove(each.from(), each.length(), each);
        }
    }
}

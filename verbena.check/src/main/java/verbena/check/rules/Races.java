package verbena.check.rules;

import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedDevice;
import verbena.check.TrackedPair;
import verbena.check.TrackedQueue;
import verbena.check.TrackedRegion;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Flag;
import verbena.check.TrackedRequest.Piece;
import verbena.check.races.Actor;
import verbena.check.races.Chain;
import verbena.check.races.Race;
import verbena.check.races.RaceModel;
import verbena.check.races.RaceStep;
import verbena.check.races.RaceStep.Kind;
import verbena.verbs.AtomicCapability;
import verbena.verbs.spi.SendOperation;

/// Watches who accesses memory of this process at once: requests of queue pairs that have both ends here, and the
/// program where it says so.
final class Races extends RaceWatcher {
    private final Checker checker;
    private final RaceModel model;
    private final @Nullable Actor process;
    private final Map<Thread, Actor> threads = new WeakHashMap<>();

    @SuppressWarnings("ThreadLocalUsage") // each checker has actors of its own
    private final ThreadLocal<Actor> own = new InheritableThreadLocal<>() {
        @Override
        protected Actor childValue(Actor parent) {
            return born(parent);
        }
    };

    private final Map<TrackedPair, Chain> chains = new HashMap<>();
    private final Map<TrackedQueue, Actor> pollers = new WeakHashMap<>();
    /// The memory of regions that this process can address.
    private final Map<TrackedRegion, RaceStep.Memory> memories = new ConcurrentHashMap<>();

    /// @param areThreadsApart whether threads are ordered only by what can be seen; otherwise all threads of the
    ///     process count as one, which does one thing after the other
    Races(Checker checker, boolean areThreadsApart) {
        super(Set.of(Event.MESSAGE, Event.HAND_OVER, Event.REGISTER, Event.UNREGISTERED, Event.POLL));
        this.checker = checker;
        Findings findings = checker.findings();
        this.model = new RaceModel(!areThreadsApart, new RaceModel.Listener() {
            @Override
            public void found(Race race) {
                race.tell(findings);
            }

            @Override
            public void retracted(Race race) {
                race.retract(findings);
            }
        });
        this.process = areThreadsApart ? null : model.actor();
    }

    /// Returns the actor of a thread that its parent makes: it knows what its parent knows.
    private synchronized Actor born(Actor parent) {
        Actor child = model.actor();
        model.begin(child, parent);
        return child;
    }

    private Actor actor() {
        if (process != null) {
            return process;
        }
        Thread thread = Thread.currentThread();
        Actor known = threads.get(thread);
        if (known == null) {
            known = own.get();
            if (known == null) {
                known = model.actor();
                own.set(known);
            }
            var weak = new WeakReference<>(thread);
            known.isOverWhen(() -> {
                Thread its = weak.get();
                return its == null || !its.isAlive();
            });
            threads.put(thread, known);
        }
        return known;
    }

    @Override
    void posted(
            TrackedPair pair, TrackedRequest request, SendOperation operation, @Nullable Kind kind, List<Local> local) {
        TrackedRegion target = kind == null ? null : target(request);
        if (target != null && kind != Kind.READ) {
            target.changeByPeers();
        }
        synchronized (this) {
            Chain chain = chains.computeIfAbsent(pair, _ -> model.open());
            RaceStep step = model.request(
                    actor(), chain, request.number(), operation.name(), request.place(), request.has(Flag.FENCED));
            step.request(request);
            if (kind != null && target != null) {
                RaceStep.Memory memory = memory(target, 0);
                step.add(kind, memory, memory.base() + offset(target, request), bytes(operation, request));
            }
            for (Local each : local) {
                step.add(each.kind(), memory(each.region(), each.from()), each.from(), each.length());
            }
            model.post(chain, step, TrackedPair.takesReceive(request));
        }
    }

    private RaceStep.Memory memory(TrackedRegion region, long address) {
        RaceStep.Memory known = memories.get(region);
        return known == null ? new RaceStep.Memory(0, region.toString(), address, "") : known;
    }

    private @Nullable TrackedRegion target(TrackedRequest request) {
        for (TrackedRegion each : checker.targets(request)) {
            if (isIn(each, request)) {
                return each;
            }
        }
        return null;
    }

    private boolean isIn(TrackedRegion region, TrackedRequest request) {
        long offset = offset(region, request);
        return memories.containsKey(region) && offset >= 0 && offset <= region.length() - request.bytes();
    }

    private static long offset(TrackedRegion target, TrackedRequest request) {
        return request.remoteAddress() - target.region().address();
    }

    @Override
    synchronized void ended(TrackedPair pair, long number, boolean isOk) {
        Chain chain = chains.get(pair);
        if (chain != null) {
            model.end(actor(), chain, number, isOk);
        }
    }

    @Override
    synchronized void dropped(TrackedPair pair, long number) {
        Chain chain = chains.get(pair);
        if (chain != null) {
            model.drop(chain, number);
        }
    }

    @Override
    public void onMessage(TrackedPair pair) {
        TrackedPair peer = checker.peer(pair).orElse(null);
        if (peer != null) {
            synchronized (this) {
                Chain chain = chains.get(peer);
                if (chain != null) {
                    model.receive(actor(), chain);
                }
            }
        }
    }

    @Override
    public void onPoll(TrackedQueue queue, boolean found) {
        if (process != null || !found) {
            return;
        }
        synchronized (this) {
            // Two threads that poll one queue take turns, by a lock of theirs or of the device.
            Actor last = pollers.put(queue, actor());
            if (last != null) {
                model.follow(actor(), last);
            }
        }
    }

    @Override
    synchronized void over(TrackedPair pair) {
        Chain chain = chains.remove(pair);
        if (chain != null) {
            model.close(chain);
        }
    }

    @Override
    public void onRegister(TrackedRegion region) {
        if (region.memory() != null) {
            memories.put(
                    region,
                    new RaceStep.Memory(0, region.toString(), region.memory().address(), card(region.device())));
        }
    }

    /// Returns the card of a device, whose atomics are atomic to each other; empty when they are so to all.
    private static String card(TrackedDevice device) {
        boolean isGlobal = device.context().attributes().transport().atomicCapability() == AtomicCapability.GLOBAL;
        return isGlobal ? "" : Long.toHexString(device.context().device().nodeGuid());
    }

    @Override
    public void onUnregistered(TrackedRegion region) {
        memories.remove(region);
    }

    @Override
    void accessed(TrackedRegion region, Kind kind, long from, long length) {
        RaceStep.Memory memory = memories.get(region);
        if (memory == null) {
            return;
        }
        CallPlace where = CallPlace.here();
        synchronized (this) {
            RaceStep step = model.processor(actor(), where);
            step.add(kind, memory, from, length);
            model.access(step);
        }
        TrackedRequest receive = receive(region.device(), from, length);
        if (receive != null) {
            checker.findings()
                    .tell(
                            Rule.RACE_PROCESSOR,
                            "the program " + (kind == Kind.STORE ? "writes " : "reads ") + length + " bytes from byte "
                                    + (from - memory.base()) + " of " + region + ", which a posted receive fills.",
                            where,
                            "it was posted",
                            receive.place());
        }
    }

    private static @Nullable TrackedRequest receive(TrackedDevice device, long from, long length) {
        for (var object : device.objects()) {
            if (object instanceof TrackedPair pair) {
                for (TrackedRequest each : pair.queues().receives().underWay()) {
                    for (Piece piece : each.pieces()) {
                        long at = piece.memory() == null ? 0 : piece.memory().address();
                        if (at < from + length && from < at + piece.length()) {
                            return each;
                        }
                    }
                }
            }
        }
        return null;
    }

    @Override
    public synchronized void onHandOver(Object by, boolean isRelease) {
        if (isRelease) {
            model.release(actor(), by);
        } else {
            model.acquire(actor(), by);
        }
    }
}

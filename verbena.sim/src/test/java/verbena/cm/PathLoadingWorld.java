package verbena.cm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;
import verbena.verbs.Gid;
import verbena.wire.cm.Apr;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.Lap;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Req;

/// An established connection whose active side names one alternate path after the other, each when the one before is
/// loaded, or sooner. Messages are lost, come twice and overtake each other. Both ends agree on the last path.
final class PathLoadingWorld implements SmallWorld {
    /// What is wrong on purpose, in what leaves an end.
    enum Plant {
        NOTHING,
        /// The passive side takes a question that comes again for a new one.
        TAKES_COPIES_FOR_NEW,
        /// The active side takes any answer for that to its last question.
        TAKES_ANY_ANSWER
    }

    private static final Gid ADDRESS_A = Gid.parse("10.0.0.1");
    private static final Gid ADDRESS_B = Gid.parse("10.0.0.2");
    private static final CmRoute A_TO_B = new CmRoute(ADDRESS_A, ADDRESS_B);
    private static final CmRoute B_TO_A = new CmRoute(ADDRESS_B, ADDRESS_A);
    private static final long SERVICE = IpCmHeader.serviceId(IpCmHeader.PORT_SPACE_TCP, 7471);
    private static final CmCall CALL = new CmCall(SERVICE, Req.RC, 3, 14, 7, 0, 64, 0, 17, 4);

    private final int paths;
    private final Plant plant;
    private final CommunicationManager a = manager(1);
    private final CommunicationManager b = manager(2);
    private final CmConnection connection;
    private final ArrayDeque<CmMessage> toPassive = new ArrayDeque<>();
    private final ArrayDeque<CmMessage> toActive = new ArrayDeque<>();
    private @Nullable CmConnection passive;
    private @Nullable Lap lastLap;
    private long copies;
    private int asked;
    private int loadedByActive;
    private int loadedByPassive;
    private long now = Fingerprint.BEGINNING;

    /// @param paths how many are named
    PathLoadingWorld(int paths, Plant plant) {
        this.paths = paths;
        this.plant = plant;
        b.listen(SERVICE, 1, this::onEventOfPassive);
        CmConnection begun = a.connect(A_TO_B, CALL, end(0x1111), this::onEventOfActive, now);
        if (begun == null) {
            throw new AssertionError("there is room");
        }
        connection = begun;
        pass(a, b, B_TO_A);
        passive().accept(end(0x2222), now);
        pass(b, a, A_TO_B);
        connection.ready(PrivateData.NONE, now);
        pass(a, b, B_TO_A);
        connection.communicationEstablished();
    }

    private static CommunicationManager manager(int seed) {
        return new CommunicationManager(
                seed, CommunicationManager.NO_SLOT, new SplittableRandom(seed), CmLimits.DEFAULT);
    }

    private static CmEnd end(int qpn) {
        return new CmEnd(qpn, 100, 4, 5, 6, false, CmExtension.NONE, PrivateData.NONE);
    }

    static Fingerprint fingerprint() {
        return new Fingerprint()
                .without("java.util.SplittableRandom")
                .without("verbena.cm.CmOutbox", "counters", "timerOrder")
                .without("verbena.cm.Timed", "order");
    }

    private void pass(CommunicationManager from, CommunicationManager to, CmRoute route) {
        for (CmDeparture next = from.poll(); next != null; next = from.poll()) {
            to.onMessage(next.message(), route, now);
        }
    }

    private CmConnection passive() {
        if (passive == null) {
            throw new AssertionError("it has been asked");
        }
        return passive;
    }

    // ---- programs

    private void onEventOfPassive(CmConnection of, CmEvent event) {
        passive = of;
        if (event instanceof CmEvent.AlternateAsked(CmPath path)) {
            if (path.localLid() <= loadedByPassive) {
                throw new AssertionError("the passive side is asked for path " + path.localLid() + " again");
            }
            loadedByPassive = path.localLid();
            of.paths().answer(Apr.LOADED);
        }
    }

    private void onEventOfActive(CmConnection of, CmEvent event) {
        if (event instanceof CmEvent.AlternateAnswered(CmPath path, int status) && status == Apr.LOADED) {
            if (loadedByPassive < path.localLid()) {
                throw new AssertionError("path " + path.localLid() + " is loaded at one end");
            }
            loadedByActive = path.localLid();
        }
    }

    private void ask() {
        int lid = ++asked;
        connection
                .paths()
                .ask(
                        new CmPath(
                                lid,
                                lid,
                                ADDRESS_A.high(),
                                ADDRESS_A.low(),
                                ADDRESS_B.high(),
                                ADDRESS_B.low(),
                                0,
                                0,
                                0,
                                64,
                                0,
                                true,
                                14),
                        now);
    }

    // ---- steps

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        if (asked < paths && loadedByActive == asked) {
            steps.add(Step.usual(() -> "the active side names path " + (asked + 1), () -> moves(this::ask)));
        }
        if (asked < paths && loadedByActive < asked) {
            steps.add(Step.fault(
                    () -> "the active side names path " + (asked + 1) + " before it has an answer",
                    () -> moves(this::ask)));
        }
        addFlights(steps, toPassive, b, B_TO_A);
        addFlights(steps, toActive, a, A_TO_B);
        long next = a.deadlineNanos();
        if (next <= now) {
            steps.add(Step.usual(() -> "the active side looks at its timers", () -> moves(() -> a.onDeadline(now))));
        } else if (next != Long.MAX_VALUE) {
            steps.add(Step.time(() -> (next - now) / 1_000_000 + " ms pass", () -> now = next));
        }
        return steps;
    }

    private void addFlights(List<Step> steps, ArrayDeque<CmMessage> way, CommunicationManager to, CmRoute route) {
        if (way.isEmpty()) {
            return;
        }
        String name = way.getFirst() instanceof Lap lap
                ? "Lap of path " + lap.alternate().localLid()
                : way.getFirst().getClass().getSimpleName();
        steps.add(Step.usual(() -> name + " comes", () -> moves(() -> to.onMessage(way.removeFirst(), route, now))));
        steps.add(Step.fault(() -> name + " is lost", way::removeFirst));
        steps.add(Step.fault(() -> name + " comes twice", () -> way.addLast(way.getFirst())));
        if (way.size() > 1) {
            steps.add(Step.fault(() -> name + " is overtaken", () -> way.addLast(way.removeFirst())));
        }
    }

    private void moves(Runnable what) {
        what.run();
        for (CmDeparture next = a.poll(); next != null; next = a.poll()) {
            toPassive.add(next.message() instanceof Lap lap ? planted(lap) : next.message());
        }
        for (CmDeparture next = b.poll(); next != null; next = b.poll()) {
            toActive.add(next.message() instanceof Apr apr ? planted(apr) : next.message());
        }
    }

    private Lap planted(Lap lap) {
        boolean isCopy = lap.equals(lastLap);
        lastLap = lap;
        return plant != Plant.TAKES_COPIES_FOR_NEW || !isCopy
                ? lap
                : new Lap(
                        lap.transactionId() + ++copies,
                        lap.localCommId(),
                        lap.remoteCommId(),
                        lap.remoteQpn(),
                        lap.remoteResponseTimeout(),
                        lap.alternate(),
                        lap.privateData());
    }

    private Apr planted(Apr apr) {
        Lap last = lastLap;
        return plant != Plant.TAKES_ANY_ANSWER || last == null
                ? apr
                : new Apr(
                        last.transactionId(),
                        apr.localCommId(),
                        apr.remoteCommId(),
                        apr.infoLength(),
                        apr.status(),
                        apr.info(),
                        apr.privateData());
    }

    // ---- what has to be

    @Override
    public void check() {}

    @Override
    public void checkAtRest() {
        if (loadedByActive != paths || loadedByPassive != paths) {
            throw new AssertionError("the active side has loaded path " + loadedByActive + ", the passive side path "
                    + loadedByPassive + " of " + paths);
        }
    }

    @Override
    public long now() {
        return now;
    }
}

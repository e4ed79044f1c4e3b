package verbena.sim.explore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmCall;
import verbena.cm.CmConnection;
import verbena.cm.CmDeparture;
import verbena.cm.CmEnd;
import verbena.cm.CmEvent;
import verbena.cm.CmExtension;
import verbena.cm.CmLimits;
import verbena.cm.CmRoute;
import verbena.cm.CommunicationManager;
import verbena.transport.Scheduled;
import verbena.transport.queue.Path;
import verbena.verbs.AckTimeout;
import verbena.verbs.Gid;
import verbena.verbs.PathMigration;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.wire.Frame;
import verbena.wire.cm.Apr;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.Lap;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Req;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Packet;

/// A connection with two paths, one of which is cut now and then. The queue pairs migrate, `a` names the path that
/// was left by LAP, `b` answers by APR, and both load and arm it
/// ([decision 11](../../../../../../../docs/decisions/11-infiniband-paths.md)). A path is cut only
/// while both ends are armed, so the connection outlives it. `a` sends numbers, one after the other.
final class MigrationWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// `b` says that it has loaded a path, and has not.
        LOADS_NOTHING,
        /// `b` does not follow a LAP that overtakes the packets of its sender.
        STAYS_BEHIND,
        /// `a` does not load what `b` has loaded.
        FORGETS_THE_ANSWER,
        /// A LAP is sent once.
        ASKS_ONCE
    }

    private static final long SERVICE = IpCmHeader.serviceId(IpCmHeader.PORT_SPACE_TCP, 7471);
    private static final CmCall CALL = new CmCall(SERVICE, Req.RC, 3, 14, 1, 0, 64, 0, 17, 2);
    private static final int ACK_TIMEOUT = 14;
    private static final int PATHS = 2;

    /// A packet on its way, and the path that it takes.
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Flight(byte[] packet, long path, long from, long to) {}

    private final Arena arena = Arena.ofConfined();
    private final Frame frame = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
    private final int numbers;
    private final int retries;
    private final Plant plant;
    private final Side a;
    private final Side b;
    /// The path on which everything is lost; 0 when there is none.
    private long cut;

    private int posted;
    private long now = Fingerprint.BEGINNING;

    /// @param numbers how many `a` sends
    /// @param retries so many that an end that is late does not end the connection
    MigrationWorld(int numbers, int retries, Plant plant) {
        this.numbers = numbers;
        this.retries = retries;
        this.plant = plant;
        a = new Side("a", 0x11, 100);
        b = new Side("b", 0x22, 7000);
        a.connect(b);
        b.connect(a);
        b.manager.listen(SERVICE, 1, (connection, event) -> b.onEvent(connection, event));
        a.connection =
                a.manager.connect(a.route(b), CALL, a.cmEnd(), (_, event) -> a.onEvent(a.connection(), event), now);
        a.pass(b); // REQ
        b.connection().accept(b.cmEnd(), now);
        b.pass(a); // REP
        a.connection().ready(PrivateData.NONE, now);
        a.pass(b); // RTU
        a.connection().communicationEstablished();
        for (int i = 0; i < numbers; i++) {
            b.end.postReceive();
        }
    }

    static Fingerprint fingerprint() {
        return ReliableEnd.fingerprint()
                .without(MigrationWorld.class.getName(), "arena", "frame")
                .without("verbena.cm.CmOutbox", "counters", "timerOrder")
                .without("verbena.cm.Timed", "order");
    }

    private static long number(int index) {
        return 4_000L + index;
    }

    /// One end: its queue pair, its communication manager, and what its device does between them.
    private final class Side {
        final ReliableEnd end;
        final CommunicationManager manager;
        final List<Flight> packets = new ArrayList<>();
        final List<CmMessage> messages = new ArrayList<>();

        @Nullable
        CmConnection connection;

        Side(String name, int qpn, int psn) {
            end = new ReliableEnd(name, qpn, psn, numbers, arena);
            manager = new CommunicationManager(
                    qpn, CommunicationManager.NO_SLOT, new SplittableRandom(qpn), CmLimits.DEFAULT);
        }

        CmConnection connection() {
            if (connection == null) {
                throw new AssertionError(end.name + " has no connection");
            }
            return connection;
        }

        CmRoute route(Side peer) {
            return new CmRoute(new Gid(1, end.parameters.qpn), new Gid(1, peer.end.parameters.qpn));
        }

        CmEnd cmEnd() {
            return new CmEnd(end.parameters.qpn, 100, 1, 1, 7, false, CmExtension.NONE, PrivateData.NONE);
        }

        /// All that the manager has to send arrives.
        void pass(Side peer) {
            for (CmDeparture next = manager.poll(); next != null; next = manager.poll()) {
                peer.manager.onMessage(next.message(), peer.route(this), now);
            }
        }

        void connect(Side peer) {
            end.parameters.canMigrate = true;
            end.connect(peer.end, retries, now);
            end.parameters.path = way(1);
            load(2);
        }

        Path way(long path) {
            return Path.of(new Gid(path, end.parameters.qpn), new Gid(path, end.parameters.destinationQpn), 0, 64);
        }

        long inUse() {
            return end.parameters.path.destinationHigh();
        }

        PathMigration migration() {
            return end.parameters.migration;
        }

        void load(long path) {
            end.parameters.alternate(
                    way(path), 0, new AckTimeout(ACK_TIMEOUT).duration().toNanos());
            end.parameters.migration(PathMigration.REARM);
            end.modify(QpState.RTS, now);
        }

        void onEvent(CmConnection of, CmEvent event) {
            switch (event) {
                case CmEvent.Requested _ -> connection = of;
                case CmEvent.AlternateAsked(CmPath path) -> onAsked(path.localLid());
                case CmEvent.AlternateAnswered(CmPath path, int status) -> {
                    if (status == Apr.LOADED && plant != Plant.FORGETS_THE_ANSWER) {
                        load(path.localLid());
                    }
                }
                case CmEvent.Accepted _, CmEvent.Established _ -> {}
                case CmEvent.Rejected _, CmEvent.Unreachable _, CmEvent.Disconnected _, CmEvent.TimewaitExit _ ->
                    throw new AssertionError(event);
            }
        }

        /// As the device of the passive side does: its peer has left the path that it names.
        private void onAsked(long path) {
            if (migration() == PathMigration.ARMED && plant != Plant.STAYS_BEHIND) {
                end.parameters.migration(PathMigration.MIGRATED);
                end.modify(QpState.RTS, now);
            }
            if (plant != Plant.LOADS_NOTHING) {
                load(path);
            }
            connection().paths().answer(Apr.LOADED);
        }

        /// As the device does when its queue pair has migrated.
        void look(Side peer) {
            end.hasMigrated = false;
            if (this == a && end.parameters.alternate.equals(Path.NONE)) {
                long left = PATHS + 1 - inUse();
                connection().paths().ask(cmPath(left, peer), now);
            }
        }

        private CmPath cmPath(long path, Side peer) {
            int lid = (int) path;
            return new CmPath(
                    lid,
                    lid,
                    path,
                    end.parameters.qpn,
                    path,
                    peer.end.parameters.qpn,
                    0,
                    0,
                    0,
                    64,
                    0,
                    true,
                    ACK_TIMEOUT);
        }

        /// What it waits for next.
        long deadline() {
            return Math.min(later(end.protocol.deadlineNanos()), later(manager.deadlineNanos()));
        }

        // ---- steps

        void addSteps(List<Step> to, Side peer) {
            if (end.isReady) {
                to.add(Step.usual(() -> end.name + " has its turn", this::turn));
            }
            if (end.protocol.deadlineNanos() <= now) {
                to.add(Step.usual(() -> end.name + " looks at its timers", () -> end.onDeadline(now)));
            }
            if (manager.deadlineNanos() <= now) {
                to.add(Step.usual(() -> end.name + " looks at the timers of its manager", () -> {
                    manager.onDeadline(now);
                    collect();
                }));
            }
            if (end.hasMigrated) {
                to.add(Step.usual(() -> "the device of " + end.name + " sees that it has migrated", () -> {
                    look(peer);
                    collect();
                }));
            }
            if (!peer.packets.isEmpty()) {
                to.add(Step.usual(() -> end.name + " takes " + describe(peer.packets.getFirst()), () -> take(peer)));
            }
            if (!peer.messages.isEmpty()) {
                CmMessage first = peer.messages.getFirst();
                String name = first.getClass().getSimpleName();
                to.add(Step.usual(() -> end.name + " takes " + name, () -> {
                    manager.onMessage(peer.messages.removeFirst(), route(peer), now);
                    collect();
                }));
                to.add(Step.fault(() -> name + " is lost", () -> peer.messages.removeFirst()));
                if (plant != Plant.ASKS_ONCE) {
                    to.add(Step.fault(() -> name + " comes twice", () -> peer.messages.add(first)));
                }
            }
        }

        private void collect() {
            for (CmDeparture next = manager.poll(); next != null; next = manager.poll()) {
                boolean isAgain = next.message() instanceof Lap lap && lap.equals(lastLap);
                if (!(isAgain && plant == Plant.ASKS_ONCE)) {
                    messages.add(next.message());
                }
                lastLap = next.message() instanceof Lap lap ? lap : lastLap;
            }
        }

        private @Nullable Lap lastLap;

        private void turn() {
            end.isReady = false;
            while (end.protocol.poll(frame, now)) {
                if (frame.sourceHigh != cut) {
                    byte[] packet = frame.packet().toArray(ValueLayout.JAVA_BYTE);
                    packets.add(new Flight(packet, frame.sourceHigh, frame.sourceLow, frame.destinationLow));
                }
            }
        }

        private void take(Side peer) {
            put(peer.packets.removeFirst());
            end.isReady = true;
            var _ = end.protocol.onPacket(frame, Packet.opcode(frame), now);
        }
    }

    private void put(Flight flight) {
        byte[] packet = flight.packet;
        MemorySegment.copy(MemorySegment.ofArray(packet), 0, frame.slot, frame.start, packet.length);
        frame.length = packet.length;
        frame.sourceHigh = frame.destinationHigh = flight.path;
        frame.sourceLow = flight.from;
        frame.destinationLow = flight.to;
        frame.local.destinationLid = 0;
        frame.local.pathBits = 0;
    }

    private String describe(Flight flight) {
        put(flight);
        return Packet.opcode(frame) + " psn " + Bth.psn(frame.slot, frame.start)
                + (Bth.migrated(frame.slot, frame.start) ? " migrated" : "") + " by path " + flight.path;
    }

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        if (posted < numbers && a.end.sent.size() == posted) {
            steps.add(Step.usual(() -> "the program of a sends " + number(posted), () -> {
                a.end.postSend(number(posted++));
                a.end.isReady = true;
            }));
        }
        a.addSteps(steps, b);
        b.addSteps(steps, a);
        if (cut == 0 && areArmed() && a.inUse() == b.inUse()) {
            steps.add(Step.fault(() -> "path " + a.inUse() + " is cut", () -> cut(a.inUse())));
        }
        if (cut != 0 && a.inUse() != cut && b.inUse() != cut) {
            steps.add(Step.usual(() -> "path " + cut + " is whole again", () -> cut = 0));
        }
        long next = Math.min(a.deadline(), b.deadline());
        if (next != Scheduled.NEVER) {
            steps.add(Step.time(() -> (next - now) / 1000 + " us pass", () -> now = next));
        }
        return steps;
    }

    private boolean areArmed() {
        return a.migration() == PathMigration.ARMED && b.migration() == PathMigration.ARMED;
    }

    private void cut(long path) {
        cut = path;
        a.packets.removeIf(each -> each.path == path);
        b.packets.removeIf(each -> each.path == path);
    }

    private long later(long deadline) {
        return deadline > now ? deadline : Scheduled.NEVER;
    }

    // ---- what has to be

    @Override
    public void check() {
        a.end.takeCompletions();
        b.end.takeCompletions();
        List<Long> all =
                IntStream.range(0, numbers).mapToObj(MigrationWorld::number).toList();
        int received = b.end.numbers.size();
        if (received > numbers || !b.end.numbers.equals(all.subList(0, received))) {
            throw new AssertionError("b has received " + b.end.numbers + " of " + numbers);
        }
        for (int i = 0; i < a.end.sent.size(); i++) {
            if (a.end.sent.get(i) != WcStatus.SUCCESS) {
                throw new AssertionError("send " + i + " has failed: " + a.end.sent.get(i));
            }
            if (i >= received) {
                throw new AssertionError("send " + i + " is a success, and not delivered");
            }
        }
        if (areArmed()
                && (a.end.parameters.alternate.equals(a.end.parameters.path)
                        || b.end.parameters.alternate.equals(b.end.parameters.path))) {
            throw new AssertionError("an end is armed with the path that it uses");
        }
    }

    @Override
    public void checkAtRest() {
        if (a.end.sent.size() != numbers) {
            throw new AssertionError("a waits for send " + a.end.sent.size() + " for ever");
        }
        if (a.inUse() != b.inUse()) {
            throw new AssertionError("a uses path " + a.inUse() + ", and b path " + b.inUse());
        }
        if (a.end.parameters.alternate.equals(Path.NONE) || b.end.parameters.alternate.equals(Path.NONE)) {
            throw new AssertionError("there is no alternate path, for ever");
        }
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public void close() {
        arena.close();
    }
}

package verbena.sim.model;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.sim.Faults;
import verbena.sim.model.ModelQueuePair.Waiting;
import verbena.sim.model.ModelSend.Operation;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.ConnectOptions;
import verbena.verbs.Gid;
import verbena.verbs.Mtu;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;

/// Verbs calls by chance, legal and illegal, over two or three devices in lockstep with their model.
///
/// Each step draws from a source of its own, so that what a step does depends on little of what was left out
/// before it: that is what makes shortening a failure easy.
final class RandomWalk {
    private static final int PSN_MASK = 0xFF_FFFF;
    /// PSNs of one connection are never near those of another, so that no packet of one fits the other.
    private static final int PSN_BLOCK = 1 << 16;
    private static final List<Gid> GROUPS = List.of(Gid.parse("224.1.2.3"), Gid.parse("ff05::123"));
    private static final List<Integer> QKEYS = List.of(0x11111111, 0x22222222, 0x80000001);

    private static final int FAULTY_EACH = 4;
    private static final Faults FAULTS = Faults.of(0.02, 0.02, 0.005).withReorder(0.03, 4);

    private interface Deed {
        void on(RandomWalk walk);
    }

    /// What can be done, and how often compared with the others.
    private record Action(int weight, Deed deed) {}

    private static final List<Action> ACTIONS = List.of(
            new Action(2, RandomWalk::allocateDomain),
            new Action(12, RandomWalk::register),
            new Action(2, RandomWalk::allocate),
            new Action(3, RandomWalk::reregister),
            new Action(6, RandomWalk::allocateWindow),
            new Action(1, RandomWalk::createChannel),
            new Action(3, RandomWalk::createCompletionQueue),
            new Action(2, RandomWalk::createSharedReceiveQueue),
            new Action(8, RandomWalk::createQueuePair),
            new Action(25, RandomWalk::connect),
            new Action(12, RandomWalk::modify),
            new Action(6, RandomWalk::leave),
            new Action(6, RandomWalk::query),
            new Action(4, RandomWalk::createAddressHandle),
            new Action(4, RandomWalk::takePart),
            new Action(220, RandomWalk::send),
            new Action(90, RandomWalk::receive),
            new Action(30, RandomWalk::receiveShared),
            new Action(4, RandomWalk::armLimit),
            new Action(30, RandomWalk::poll),
            new Action(30, RandomWalk::drain),
            new Action(12, RandomWalk::arm),
            new Action(10, RandomWalk::pollChannel),
            new Action(3, RandomWalk::resize),
            new Action(6, RandomWalk::scribble),
            new Action(10, RandomWalk::close),
            new Action(12, RandomWalk::compareMemory));
    private static final int WEIGHTS = ACTIONS.stream().mapToInt(Action::weight).sum();

    /// A device and what has been made on it, closed things too.
    private static final class Place {
        final Lockstep.Side side;
        final List<ModelDomain> domains = new ArrayList<>();
        final List<ModelRegion> regions = new ArrayList<>();
        final List<ModelWindow> windows = new ArrayList<>();
        final List<ModelChannel> channels = new ArrayList<>();
        final List<ModelCompletionQueue> queues = new ArrayList<>();
        final List<ModelSharedReceiveQueue> shared = new ArrayList<>();
        final List<ModelQueuePair> queuePairs = new ArrayList<>();
        final List<ModelAddressHandle> handles = new ArrayList<>();

        Place(Lockstep.Side side) {
            this.side = side;
        }
    }

    private final long seed;
    /// Packets get lost, and so there are reliable connections only, which hide it.
    private final boolean faulty;
    private final Lockstep lockstep;
    private final List<Place> places = new ArrayList<>();
    private SplittableRandom random;
    private long wrId;
    private int connections;

    RandomWalk(long seed, @Nullable List<String> log) {
        this.seed = seed;
        this.random = new SplittableRandom(seed);
        this.faulty = seed % FAULTY_EACH == 0;
        this.lockstep = new Lockstep(seed, 2 + random.nextInt(2), faulty ? FAULTS : Faults.NONE, log);
        lockstep.sides.forEach(side -> places.add(new Place(side)));
    }

    /// What it walks in.
    Lockstep lockstep() {
        return lockstep;
    }

    // ---- the walk

    /// One step. Those before [#FURNISHING] see to it that there is something to play with.
    void step(int number) {
        random = new SplittableRandom(seed * 0x9E37_79B9_7F4A_7C15L + number);
        int furniture = FURNISHING.size() * places.size();
        Deed deed = number < 2 * furniture ? FURNISHING.get(number / places.size() % FURNISHING.size()) : draw();
        deed.on(this);
        lockstep.settle();
        lockstep.takeOverUndefined();
    }

    private static final Set<Access> EVERYTHING =
            EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC, Access.FLUSH_GLOBAL);

    private static final List<Deed> FURNISHING = List.of(
            RandomWalk::allocateDomain,
            RandomWalk::register,
            RandomWalk::createCompletionQueue,
            RandomWalk::createQueuePair,
            RandomWalk::createQueuePair,
            RandomWalk::createAddressHandle,
            RandomWalk::allocateWindow,
            RandomWalk::connect);

    /// The end of the walk: everything is closed, in any order that is allowed.
    void finish() {
        compareMemory();
        for (Place place : places) {
            place.queues.stream().filter(queue -> !queue.isClosed()).forEach(queue -> {
                while (lockstep.poll(queue)) {
                    // until there is none
                }
            });
            place.queuePairs.forEach(lockstep::close);
            place.handles.forEach(lockstep::close);
            place.windows.forEach(lockstep::close);
            place.regions.forEach(lockstep::close);
            place.shared.forEach(lockstep::close);
            place.queues.forEach(lockstep::close);
            place.channels.forEach(lockstep::close);
            place.domains.forEach(lockstep::close);
        }
        lockstep.settle();
        compareMemory();
    }

    // ---- chance

    private Deed draw() {
        int left = random.nextInt(WEIGHTS);
        for (Action action : ACTIONS) {
            left -= action.weight;
            if (left < 0) {
                return action.deed;
            }
        }
        throw new AssertionError("weights");
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    private Place place() {
        return places.get(random.nextInt(places.size()));
    }

    /// One of them, seldom a closed one.
    private <T extends ModelObject> Optional<T> pick(List<T> list) {
        for (int tries = 0; tries < 8 && !list.isEmpty(); tries++) {
            T one = list.get(random.nextInt(list.size()));
            if (!one.isClosed() || (tries == 7 && chance(10))) {
                return Optional.of(one);
            }
        }
        return Optional.empty();
    }

    private static <T extends ModelObject> long open(List<T> list) {
        return list.stream().filter(one -> !one.isClosed()).count();
    }

    private static <T extends ModelObject> void keep(List<T> list, @Nullable T made) {
        if (made != null) {
            list.add(made);
        }
    }

    private Set<Access> access() {
        var access = EnumSet.noneOf(Access.class);
        for (Access one : List.of(
                Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC, Access.MW_BIND)) {
            if (chance(85)) {
                access.add(one);
            }
        }
        if (chance(5)) {
            access.add(Access.ZERO_BASED);
        }
        if (chance(1)) {
            access.add(Access.ON_DEMAND);
        }
        return access;
    }

    // ---- objects

    private void allocateDomain() {
        Place place = place();
        if (open(place.domains) < 2) {
            keep(place.domains, lockstep.allocateDomain(place.side));
        }
    }

    private void register() {
        Place place = place();
        pick(place.domains).filter(_ -> open(place.regions) < 10).ifPresent(domain -> {
            Set<Access> access = access();
            int offset = random.nextInt(Lockstep.MEMORY_BYTES);
            int length = chance(3) ? 0 : 1 + random.nextInt(Math.min(16 << 10, Lockstep.MEMORY_BYTES - offset));
            long iova = access.contains(Access.ZERO_BASED) && !chance(5) ? 0 : iova(length);
            keep(place.regions, lockstep.register(place.side, domain, offset, length, iova, access));
        });
    }

    /// Mostly aligned; at times at one of the ends of the address space, or over it.
    private long iova(int length) {
        return switch (random.nextInt(12)) {
            case 0 -> random.nextLong();
            case 1 -> -length;
            case 2 -> Long.MAX_VALUE - random.nextInt(1 + length);
            case 3 -> -random.nextInt(1 + length);
            default -> (long) (1 + random.nextInt(1 << 20)) << 16;
        };
    }

    private void allocate() {
        Place place = place();
        pick(place.domains).filter(_ -> open(place.regions) < 10).ifPresent(domain -> {
            int bytes = chance(5) ? -random.nextInt(3) : 1 + random.nextInt(2_000);
            keep(place.regions, lockstep.allocate(place.side, domain, bytes, access()));
        });
    }

    private void reregister() {
        Place place = place();
        Place of = chance(3) ? place() : place;
        pick(place.regions)
                .filter(region -> !isAwaited(place, region))
                .ifPresent(region -> pick(of.domains).ifPresent(domain -> {
                    Set<Access> access = access();
                    if (!chance(5)) { // stays as it was
                        access.remove(Access.ZERO_BASED);
                        if (region.access().contains(Access.ZERO_BASED)) {
                            access.add(Access.ZERO_BASED);
                        }
                    }
                    lockstep.reregister(region, domain, access);
                }));
    }

    /// Whether what happens when the region goes away is the device's own choice. A result may be on its way
    /// there: whether it still may come is looked at when it is asked for, asked for again, or there. Or it is the
    /// source of one request that waits and the target of another: which of them tries again first decides about
    /// the other.
    private boolean isAwaited(Place place, ModelRegion region) {
        boolean isSource = false;
        for (ModelQueuePair one : place.queuePairs) {
            for (ModelSend send : one.unfinishedSends()) {
                if (send.pieces().stream().anyMatch(piece -> piece.lkey() == region.key())) {
                    if (send.operation().hasResult()) {
                        return true;
                    }
                    isSource = true;
                }
            }
        }
        return isSource
                && places.stream()
                        .flatMap(any -> any.queuePairs.stream())
                        .flatMap(one -> one.unfinishedSends().stream())
                        .anyMatch(send -> send.rkey() == region.key());
    }

    private void allocateWindow() {
        Place place = place();
        pick(place.domains)
                .filter(_ -> open(place.windows) < 6)
                .ifPresent(domain -> keep(
                        place.windows,
                        lockstep.allocateWindow(
                                place.side, domain, chance(4) ? random.nextInt(5) : 1 + random.nextInt(2))));
    }

    private void createChannel() {
        Place place = place();
        if (open(place.channels) < 2) {
            keep(place.channels, lockstep.createChannel(place.side));
        }
    }

    private void createCompletionQueue() {
        Place place = place();
        if (open(place.queues) < 5) {
            Optional<ModelChannel> channel = chance(60) ? pick(place.channels) : Optional.empty();
            int entries =
                    chance(3) ? -random.nextInt(2) : chance(25) ? 1 + random.nextInt(4) : 64 + random.nextInt(200);
            keep(place.queues, lockstep.createCompletionQueue(place.side, entries, channel));
        }
    }

    private void createSharedReceiveQueue() {
        Place place = place();
        pick(place.domains)
                .filter(_ -> open(place.shared) < 2)
                .ifPresent(domain -> keep(
                        place.shared,
                        lockstep.createSharedReceiveQueue(
                                place.side,
                                domain,
                                chance(4) ? -random.nextInt(2) : 1 + random.nextInt(20),
                                chance(4) ? random.nextInt(40) : 1 + random.nextInt(4))));
    }

    private void createQueuePair() {
        Place place = place();
        Place of = chance(2) ? place() : place;
        if (open(place.queuePairs) >= 6) {
            return;
        }
        pick(place.domains)
                .ifPresent(domain -> pick(of.queues)
                        .ifPresent(sendCq -> pick(place.queues).ifPresent(receiveCq -> {
                            ModelSharedReceiveQueue srq =
                                    chance(35) ? pick(place.shared).orElse(null) : null;
                            if (isNarrow(receiveCq) || (isNarrow(sendCq) && reporters(place, sendCq) > 0)) {
                                return;
                            }
                            if (srq != null && srq.size() > room(place, receiveCq)) {
                                return;
                            }
                            QpType type = faulty || chance(55) ? QpType.RC : chance(50) ? QpType.UC : QpType.UD;
                            keep(
                                    place.queuePairs,
                                    lockstep.createQueuePair(
                                            place.side, domain, type, this::sizes, sendCq, receiveCq, srq));
                        })));
    }

    private QueuePairOptions sizes(QueuePairOptions options) {
        return options.withDepth(size(16, 16_385), size(16, 16_385))
                .withSge(size(4, 33), size(4, 33))
                .withInline(size(100, 513))
                .withSignalAll(chance(30))
                .withExtensions(chance(70) ? Set.of(Capability.ATOMIC_WRITE, Capability.FLUSH) : Set.of());
    }

    private int size(int usual, int tooMuch) {
        return chance(1) ? tooMuch : chance(3) ? 0 : 1 + random.nextInt(usual);
    }

    private void createAddressHandle() {
        Place place = place();
        pick(place.domains)
                .filter(_ -> open(place.handles) < 6)
                .ifPresent(domain -> keep(
                        place.handles,
                        lockstep.createAddressHandle(
                                place.side, domain, chance(20) ? wildWay(place()) : way(place()))));
    }

    /// To a device, or to a multicast group.
    private AddressVector way(Place to) {
        int gid = random.nextInt(2);
        Gid destination = chance(25) ? GROUPS.get(gid) : to.side.model.gids().get(gid);
        return new AddressVector(destination, gid, 1, random.nextInt(256), 1 + random.nextInt(255), 0, 0, 0);
    }

    private AddressVector wildWay(Place to) {
        return new AddressVector(
                to.side.model.gids().get(random.nextInt(2)),
                random.nextInt(3),
                chance(5) ? 2 : 1,
                random.nextInt(256),
                1 + random.nextInt(255),
                0,
                0,
                0);
    }

    /// In a multicast group, or not any more.
    private void takePart() {
        Place place = place();
        pick(place.queuePairs)
                .filter(own -> own.type() == QpType.UD || chance(5))
                .ifPresent(own -> {
                    Gid group = chance(95)
                            ? GROUPS.get(random.nextInt(GROUPS.size()))
                            : place.side.model.gids().getFirst();
                    if (chance(60)) {
                        lockstep.attach(own, group);
                    } else {
                        lockstep.detach(own, group);
                    }
                });
    }

    private void close() {
        Place place = place();
        List<? extends ModelObject> list = switch (random.nextInt(9)) {
            case 8 -> place.handles;
            case 0 -> place.domains;
            case 1, 2 -> place.regions;
            case 3 -> place.windows;
            case 4 -> place.channels;
            case 5 -> place.queues;
            case 6 -> place.shared;
            default -> place.queuePairs;
        };
        pick(list)
                .filter(one -> !(one instanceof ModelRegion region && isAwaited(place, region)))
                .ifPresent(lockstep::close);
    }

    // ---- room in completion queues: what overflows is known only where one work queue reports alone

    private static boolean isNarrow(ModelCompletionQueue queue) {
        return queue.capacity() < 10;
    }

    private static long reporters(Place place, ModelCompletionQueue queue) {
        return place.queuePairs.stream()
                .filter(one -> !one.isClosed() && (one.sendCq() == queue || one.receiveCq() == queue))
                .count();
    }

    /// Completions that can still come before it overflows.
    private static int room(Place place, ModelCompletionQueue queue) {
        int due = queue.size();
        for (ModelQueuePair one : place.queuePairs) {
            if (!one.isClosed()) {
                due += one.sendCq() == queue ? one.unfinished() : 0;
                due += one.receiveCq() == queue ? one.receivesPosted() : 0;
            }
        }
        for (ModelSharedReceiveQueue srq : place.shared) {
            if (place.queuePairs.stream()
                    .anyMatch(one -> !one.isClosed()
                            && one.receiveCq() == queue
                            && one.shared().equals(Optional.of(srq)))) {
                due += srq.size();
            }
        }
        return queue.capacity() - due;
    }

    // ---- states

    private int freshPsn() {
        int block = connections++ * PSN_BLOCK; // of the first, half begin shortly before the wrap
        return (chance(50) ? -1 - random.nextInt(64) + block : block + random.nextInt(1_000)) & PSN_MASK;
    }

    /// Two queue pairs, from wherever they are, to RTS or RTR; datagrams need nobody else.
    private void connect() {
        pick(place().queuePairs).filter(one -> !isBusy(one)).ifPresent(one -> {
            if (one.type() == QpType.UD) {
                reset(one);
                lockstep.modify(one, toInit(one));
                lockstep.modify(one, toRtr(one, one, false, Mtu.MTU_256, 0));
                if (!chance(5)) {
                    lockstep.modify(one, toRts(one, freshPsn()));
                }
                return;
            }
            var fitting = place().queuePairs.stream()
                    .filter(other -> other.type() == one.type() || chance(2))
                    .toList();
            pick(fitting).filter(other -> !isBusy(other)).ifPresent(other -> connect(one, other));
        });
    }

    private void connect(ModelQueuePair one, ModelQueuePair other) {
        boolean ipv6 = chance(30);
        if (chance(20) && !one.isClosed() && !other.isClosed()) {
            connectAtOnce(one, other, ipv6 ? 1 : 0);
            return;
        }
        Mtu mtu = Mtu.values()[random.nextInt(Mtu.values().length)];
        int psnOfOne = freshPsn();
        int psnOfOther = one == other ? psnOfOne : freshPsn();
        connect(one, other, ipv6, mtu, psnOfOne, psnOfOther);
        if (one != other) {
            Mtu mtuOfOther = chance(5) ? Mtu.values()[random.nextInt(Mtu.values().length)] : mtu;
            connect(other, one, ipv6, mtuOfOther, psnOfOther, psnOfOne);
        }
    }

    private void connectAtOnce(ModelQueuePair one, ModelQueuePair other, int gid) {
        for (ModelQueuePair end : List.of(one, other)) {
            if (!chance(5)) {
                reset(end);
            }
            if (end.type() != QpType.UD && end.state() == QpState.RESET && chance(20)) {
                lockstep.modify(end, toInit(end));
            }
        }
        var choices = ConnectOptions.defaults()
                .withAccess(chance(80) ? EVERYTHING : access())
                .withRetries(new AckTimeout(1 + random.nextInt(10)), faulty ? 7 : random.nextInt(8), chance(70) ? 7 : 3)
                .withMinRnrTimer(rnrTimer())
                .withMaxReadAtomic(readsAsked())
                .withTrafficClass(random.nextInt(256));
        lockstep.connect(
                one,
                other,
                gid,
                chance(60) ? choices.withMtu(Mtu.values()[random.nextInt(Mtu.values().length)]) : choices);
    }

    /// Connected queue pairs are left in peace, mostly.
    private boolean isBusy(ModelQueuePair one) {
        return (one.state() == QpState.RTS || one.state() == QpState.SQD) && !chance(5);
    }

    private void connect(ModelQueuePair own, ModelQueuePair peer, boolean ipv6, Mtu mtu, int psn, int peerPsn) {
        reset(own);
        if (!own.isClosed() && !peer.isClosed()) {
            lockstep.modify(own, toInit(own));
            lockstep.modify(own, toRtr(own, peer, ipv6, mtu, peerPsn));
            if (!chance(5)) {
                lockstep.modify(own, toRts(own, psn));
            }
        }
    }

    private void reset(ModelQueuePair own) {
        if (own.state() != QpState.RESET) {
            lockstep.modify(own, new QpModification().state(QpState.RESET));
            lockstep.settle();
        }
    }

    private QpModification toInit(ModelQueuePair own) {
        var change = new QpModification().state(QpState.INIT).port(1).pkeyIndex(0);
        return own.type() == QpType.UD ? change.qkey(qkey()) : change.access(chance(80) ? EVERYTHING : access());
    }

    private int qkey() {
        return QKEYS.get(chance(70) ? 0 : random.nextInt(QKEYS.size()));
    }

    private QpModification toRtr(ModelQueuePair own, ModelQueuePair peer, boolean ipv6, Mtu mtu, int peerPsn) {
        var change = new QpModification().state(QpState.RTR);
        if (own.type() == QpType.UD) {
            return change;
        }
        int gid = ipv6 ? 1 : 0;
        change.path(AddressVector.to(peer.device().gids().get(gid), gid))
                .pathMtu(mtu)
                .destinationQpn(peer.qpn())
                .rqPsn(peerPsn);
        return own.type() == QpType.UC
                ? change
                : change.maxDestinationReadAtomic(readsServed()).minRnrTimer(rnrTimer());
    }

    private QpModification toRts(ModelQueuePair own, int psn) {
        var change = new QpModification().state(QpState.RTS).sqPsn(psn);
        return own.type() != QpType.RC
                ? change
                : change.ackTimeout(new AckTimeout(1 + random.nextInt(10)))
                        .retryCount(faulty ? 7 : random.nextInt(8))
                        .rnrRetry(chance(70) ? 7 : random.nextInt(7))
                        .maxReadAtomic(readsAsked());
    }

    /// Around the time that [Lockstep] lets pass for those who wait without end: 1.3 to 2.6 ms, or 5 to 10 ms.
    private RnrTimer rnrTimer() {
        return new RnrTimer((faulty ? 18 : 14) + random.nextInt(3));
    }

    /// What is asked for at once is never more than what is served, unless nothing is.
    private int readsAsked() {
        return chance(10) ? 0 : chance(50) ? 1 : 4;
    }

    private int readsServed() {
        return chance(5) ? 0 : chance(50) ? 4 : 16;
    }

    /// Legal or not: a step that is right but for something, or some attributes by chance.
    private void modify() {
        pick(place().queuePairs)
                .ifPresent(own -> pick(place().queuePairs).ifPresent(peer -> {
                    QpModification change = switch (random.nextInt(7)) {
                        case 0 -> toInit(own);
                        case 1 -> toRtr(own, peer, chance(50), Mtu.MTU_1024, freshPsn());
                        case 2 -> toRts(own, freshPsn());
                        case 3 -> new QpModification().state(QpState.SQD).sqdNotify(chance(70));
                        case 4 -> new QpModification().state(QpState.RTS);
                        case 5 -> new QpModification();
                        default -> new QpModification().state(QpState.values()[random.nextInt(7)]);
                    };
                    for (int i = random.nextInt(3); i > 0; i--) {
                        disturb(change, peer);
                    }
                    QpState to = change.get(QpAttribute.STATE, QpState.class, own.state());
                    if (to == QpState.SQD && own.state() == QpState.RTS && own.unfinished() > 1) {
                        return; // which of several requests have begun is the device's choice
                    }
                    lockstep.modify(own, change);
                }));
    }

    private void disturb(QpModification change, ModelQueuePair peer) {
        int wild = random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(9);
        switch (random.nextInt(16)) {
            case 0 -> change.state(QpState.values()[random.nextInt(7)]);
            case 1 -> change.currentState(QpState.values()[random.nextInt(7)]);
            case 2 -> change.sqdNotify(chance(50));
            case 3 -> change.access(access());
            case 4 -> change.pkeyIndex(random.nextInt(2));
            case 5 -> change.port(random.nextInt(3));
            case 6 -> change.qkey(wild);
            case 7 -> change.path(wildWay(placeOf(peer)));
            case 8 -> change.pathMtu(Mtu.values()[random.nextInt(5)]);
            case 9 -> change.ackTimeout(new AckTimeout(1 + random.nextInt(10)));
            case 10 -> change.retryCount(faulty ? 7 : wild);
            case 11 -> change.rnrRetry(wild);
            case 12 -> change.maxReadAtomic(chance(80) ? readsAsked() : 129);
            case 13 -> change.maxDestinationReadAtomic(chance(80) ? readsServed() : -1);
            case 14 -> change.minRnrTimer(rnrTimer());
            default -> change.destinationQpn(wild);
        }
    }

    /// To ERR or RESET.
    private void leave() {
        pick(place().queuePairs)
                .ifPresent(own ->
                        lockstep.modify(own, new QpModification().state(chance(60) ? QpState.ERR : QpState.RESET)));
    }

    private void query() {
        pick(place().queuePairs).ifPresent(lockstep::query);
    }

    // ---- requests

    private void send() {
        Place place = place();
        pick(place.queuePairs).ifPresent(own -> {
            if (own.state() != QpState.RTS && !chance(15)) {
                return; // seldom in vain
            }
            boolean loop = own.type() == QpType.UD || own.device().gids().contains(own.destination());
            boolean narrow = isNarrow(own.sendCq());
            boolean alone = loop || narrow;
            int count = alone ? 1 : 1 + random.nextInt(chance(70) ? 2 : 6);
            if ((alone && own.unfinished() > 0) || (!narrow && room(place, own.sendCq()) < count)) {
                return;
            }
            ModelQueuePair peer = lockstep.model.find(own.destination(), own.number(QpAttribute.DEST_QPN));
            Place far = peer == null ? place : placeOf(peer);
            var posted = new ArrayList<Lockstep.Posted>();
            var before = new ArrayList<>(own.unfinishedSends());
            for (int i = 0; i < count; i++) {
                Lockstep.Posted one = request(place, far, own, peer, before, loop);
                posted.add(one);
                before.add(one.send());
            }
            lockstep.send(own, posted);
        });
    }

    private Place placeOf(ModelQueuePair queuePair) {
        return places.stream()
                .filter(one -> one.side.model == queuePair.device())
                .findFirst()
                .orElseThrow();
    }

    /// Mostly one that the type has.
    private Operation operation(QpType type) {
        for (int tries = 0; ; tries++) {
            Operation operation = Operation.values()[random.nextInt(Operation.values().length)];
            if (operation.isOf(type) || tries == 20 || chance(2)) {
                return operation;
            }
        }
    }

    /// Whereto a datagram goes.
    private ModelSend to(Place place, ModelSend send) {
        Optional<ModelAddressHandle> handle = pick(place.handles);
        if (handle.isEmpty() || chance(2)) {
            return send;
        }
        Optional<ModelQueuePair> peer = pick(place().queuePairs.stream()
                .filter(one -> one.type() == QpType.UD || chance(3))
                .toList());
        boolean multicast = handle.get().way().destination().isMulticast();
        int qpn = multicast != chance(3)
                ? 0xFF_FFFF
                : chance(3)
                        ? random.nextInt(-1, 0x100_0001)
                        : peer.map(ModelQueuePair::qpn).orElse(7);
        return send.to(handle.get(), qpn, qkey());
    }

    private Lockstep.Posted request(
            Place place,
            Place far,
            ModelQueuePair own,
            @Nullable ModelQueuePair peer,
            List<ModelSend> before,
            boolean loop) {
        Operation operation = operation(own.type());
        ModelSend send = ModelSend.of(operation, ++wrId).flags(chance(60), fenced(operation, before), chance(20));
        ModelRegion named = null;
        if (operation == Operation.BIND_WINDOW) {
            Optional<ModelWindow> window = pick(place.windows);
            Optional<ModelRegion> region = pick(place.regions);
            if (window.isPresent() && region.isPresent()) {
                return new Lockstep.Posted(bind(send, window.get(), region.get()), null);
            }
            send = ModelSend.of(Operation.LOCAL_INVALIDATE, wrId).flags(true, send.fenced(), false);
            operation = Operation.LOCAL_INVALIDATE;
        }
        if (operation == Operation.LOCAL_INVALIDATE) {
            return new Lockstep.Posted(send.number(windowKey(place)), null);
        }
        if (own.type() == QpType.UD || chance(1)) {
            send = to(place, send);
        }
        if (operation == Operation.FLUSH) {
            return new Lockstep.Posted(flush(send, far, peer), null);
        }
        if (operation == Operation.SEND_WITH_INVALIDATE) {
            send = send.number(windowKey(far));
        } else if (operation.hasImmediate()) {
            send = send.number(random.nextInt());
        }
        boolean eight = operation.isAtomic() || operation == Operation.ATOMIC_WRITE;
        int bytes = eight ? Long.BYTES : bytes(loop);
        if (!operation.isSend()) {
            send = remote(send, far, peer, bytes);
        }
        if (eight) {
            send = send.operands(random.nextInt(4), random.nextInt(4));
        }
        if (operation == Operation.ATOMIC_WRITE) {
            return new Lockstep.Posted(send, null);
        }
        if (chance(operation.isAnswered() ? 1 : 15)) {
            byte[] inline = new byte[Math.min(bytes, 120)];
            random.nextBytes(inline);
            return new Lockstep.Posted(send.inline(inline), null);
        }
        var regions = place.regions.stream()
                .filter(one -> one.domain() == own.domain())
                .toList();
        ModelRegion region = pick(chance(97) ? regions : place.regions).orElse(null);
        if (region == null) {
            return new Lockstep.Posted(send, null);
        }
        if (chance(50)) {
            named = region;
        }
        return new Lockstep.Posted(
                send.pieces(pieces(place, region, bytes, named != null, operation.isAtomic())), named);
    }

    /// What a READ or an atomic changes or reads may only be touched behind a fence (IBTA 10.8.3.3). Where answers
    /// get lost, what comes behind one may end the connection before it is asked for again.
    private boolean fenced(Operation operation, List<ModelSend> before) {
        boolean afterRead = before.stream().anyMatch(one -> one.operation() == Operation.READ);
        boolean afterAtomic = before.stream().anyMatch(one -> one.operation().isAtomic());
        boolean afterAnswer = before.stream().anyMatch(one -> one.operation().isAnswered());
        return (faulty && afterAnswer)
                || (afterRead && operation != Operation.READ)
                || (afterAtomic && !operation.isAtomic())
                || chance(5);
    }

    private int bytes(boolean loop) {
        if (loop) {
            return random.nextInt(257);
        }
        return switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1 -> 256 << random.nextInt(5);
            case 2 -> (256 << random.nextInt(5)) + random.nextInt(3) - 1;
            case 3, 4 -> random.nextInt(6_000);
            default -> random.nextInt(600);
        };
    }

    private ModelSend remote(ModelSend send, Place far, @Nullable ModelQueuePair peer, int bytes) {
        if (chance(5)) {
            return send.remote(random.nextLong(), random.nextInt());
        }
        boolean throughWindow = chance(30);
        if (throughWindow) {
            Optional<ModelWindow> window = pick(far.windows).filter(ModelWindow::isBound);
            if (window.isPresent()) {
                ModelWindow.Binding bound = window.get().binding();
                long from = bound.access().contains(Access.ZERO_BASED) ? 0 : bound.address();
                return send.remote(
                        address(from, bound.length(), bytes, bytes == Long.BYTES),
                        key(window.get().key()));
            }
        }
        var regions = far.regions.stream()
                .filter(one -> peer == null || one.domain() == peer.domain())
                .toList();
        return pick(chance(97) ? regions : far.regions)
                .map(region -> send.remote(
                        address(region.iova(), region.length(), bytes, bytes == Long.BYTES), key(region.key())))
                .orElse(send);
    }

    private ModelSend flush(ModelSend send, Place far, @Nullable ModelQueuePair peer) {
        int bytes = chance(2) ? -1 : random.nextInt(600);
        var rights = EnumSet.noneOf(Access.class);
        if (chance(97)) {
            rights.add(Access.FLUSH_GLOBAL);
        }
        if (chance(10)) {
            rights.add(Access.FLUSH_PERSISTENT);
        }
        return remote(send, far, peer, bytes).flush(bytes, chance(30), rights);
    }

    private int key(int right) {
        return chance(98) ? right : right ^ (1 << random.nextInt(32));
    }

    /// Mostly inside.
    private long address(long from, long length, int bytes, boolean aligned) {
        long room = length - bytes;
        long offset = switch (random.nextInt(60)) {
            case 0 -> -1;
            case 1 -> room + 1;
            case 2 -> length;
            case 3 -> room;
            case 4 -> random.nextLong();
            default -> room <= 0 ? 0 : random.nextLong(room + 1);
        };
        long address = from + offset;
        return aligned && !chance(4) ? address & -Long.BYTES : address;
    }

    private int windowKey(Place place) {
        return chance(10)
                ? pick(place.regions).map(ModelRegion::key).orElse(random.nextInt())
                : pick(place.windows).map(window -> key(window.key())).orElse(random.nextInt());
    }

    private ModelSend bind(ModelSend send, ModelWindow window, ModelRegion region) {
        long length =
                chance(6) ? 0 : chance(5) ? region.length() + 1L : 1 + random.nextInt(Math.max(1, region.length()));
        long address = region.iova()
                + (chance(90) ? random.nextInt((int) Math.max(1, region.length() - length + 1)) : random.nextInt());
        var rights = EnumSet.noneOf(Access.class);
        for (Access right : List.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC)) {
            if (chance(80)) {
                rights.add(right);
            }
        }
        if (chance(window.type() == 2 ? 25 : 3)) {
            rights.add(Access.ZERO_BASED);
        }
        if (chance(1)) {
            rights.add(Access.LOCAL_WRITE);
        }
        int rkey = chance(96)
                ? (window.key() & ~0xFF) | ((window.key() + 1 + random.nextInt(200)) & 0xFF)
                : key(window.key());
        return send.bind(window, rkey, region, address, chance(1) ? -1 : length, rights);
    }

    /// One entry or several, inside `region` mostly.
    private List<Piece> pieces(Place place, ModelRegion region, int bytes, boolean named, boolean one) {
        var pieces = new ArrayList<Piece>();
        int left = bytes;
        int count = one && !chance(2) ? 1 : 1 + random.nextInt(chance(95) ? 3 : 6);
        for (int i = 0; i < count; i++) {
            int length = i + 1 == count ? left : left == 0 ? 0 : random.nextInt(left + 1);
            left -= length;
            long room = region.length() - (long) length;
            long offset =
                    chance(2) ? random.nextInt(-2, region.length() + 2) : room <= 0 ? 0 : random.nextLong(room + 1);
            if (chance(1) && chance(20)) {
                length = -1 - random.nextInt(3);
            }
            int lkey = named ? region.key() : chance(1) ? windowKey(place) : key(region.key());
            pieces.add(new Piece(lkey, region.iova() + offset, length));
        }
        return pieces;
    }

    private void receive() {
        Place place = place();
        pick(place.queuePairs)
                .filter(own -> own.shared().isEmpty() || chance(3))
                .filter(own -> room(place, own.receiveCq()) > 0)
                .ifPresent(own -> {
                    for (int i = 1 + random.nextInt(3); i > 0 && room(place, own.receiveCq()) > 0; i--) {
                        var named = region(place, own.domain());
                        lockstep.receive(own, receive(place, named, own.domain()), named.orElse(null));
                    }
                });
    }

    private void receiveShared() {
        Place place = place();
        pick(place.shared)
                .filter(srq -> waitingFor(srq) <= 1) // who of several gets it is a matter of their timers
                .filter(srq -> place.queuePairs.stream()
                        .filter(one -> !one.isClosed() && one.shared().equals(Optional.of(srq)))
                        .allMatch(one -> room(place, one.receiveCq()) > 0))
                .ifPresent(srq -> {
                    var named = region(place, srq.domain());
                    lockstep.receive(srq, receive(place, named, srq.domain()), named.orElse(null));
                });
    }

    private long waitingFor(ModelSharedReceiveQueue srq) {
        return places.stream()
                .flatMap(place -> place.queuePairs.stream())
                .filter(one -> !one.isClosed() && one.waiting == Waiting.FOR_A_RECEIVE)
                .map(one -> lockstep.model.find(one.destination(), one.number(QpAttribute.DEST_QPN)))
                .filter(peer -> peer != null && peer.shared().equals(Optional.of(srq)))
                .count();
    }

    private Optional<ModelRegion> region(Place place, ModelDomain domain) {
        var regions =
                place.regions.stream().filter(one -> one.domain() == domain).toList();
        return chance(50) ? pick(chance(97) ? regions : place.regions) : Optional.empty();
    }

    private ModelReceive receive(Place place, Optional<ModelRegion> named, ModelDomain domain) {
        var regions =
                place.regions.stream().filter(one -> one.domain() == domain).toList();
        Optional<ModelRegion> region = named.isPresent() ? named : pick(regions);
        int bytes = random.nextInt(chance(50) ? 6_000 : 600);
        return new ModelReceive(
                ++wrId,
                region.map(one -> pieces(place, one, bytes, named.isPresent(), false))
                        .orElse(List.of()));
    }

    private void armLimit() {
        pick(place().shared).ifPresent(srq -> lockstep.armLimit(srq, random.nextInt(-1, 22)));
    }

    // ---- completions

    private void poll() {
        pick(place().queues).ifPresent(lockstep::poll);
    }

    private void drain() {
        pick(place().queues).ifPresent(queue -> {
            while (lockstep.poll(queue)) {
                // until there is none
            }
        });
    }

    private void arm() {
        pick(place().queues).ifPresent(queue -> lockstep.arm(queue, chance(50)));
    }

    private void pollChannel() {
        pick(place().channels).ifPresent(lockstep::poll);
    }

    private void resize() {
        Place place = place();
        pick(place.queues).ifPresent(queue -> {
            int entries = chance(20) ? random.nextInt(-1, 4) : random.nextInt(300);
            boolean refused = entries < queue.size() || entries < 1;
            if (refused
                    || (isNarrow(queue)
                            ? entries < 10
                            : queue.capacity() - entries <= room(place, queue) && entries >= 10)) {
                lockstep.resize(queue, entries);
            }
        });
    }

    // ---- memory

    private void scribble() {
        byte[] data = new byte[random.nextInt(1, 500)];
        random.nextBytes(data);
        lockstep.scribble(place().side, random.nextInt(Lockstep.MEMORY_BYTES - data.length), data);
    }

    private void compareMemory() {
        lockstep.compareMemory();
    }
}

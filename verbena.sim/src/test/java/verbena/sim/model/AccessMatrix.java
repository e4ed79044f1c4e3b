package verbena.sim.model;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import verbena.sim.NetworkFaults;
import verbena.sim.model.ModelSend.Operation;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.Mtu;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;

/// Every way to ask for memory of a peer, with every way to be refused, on devices in lockstep with their model:
/// each case compares what is on the wire, the completions and events of both pairs, and all memory.
final class AccessMatrix {
    /// What the key belongs to.
    enum Shown {
        REGION,
        TYPE_1_BY_THIS,
        TYPE_1_BY_OTHER,
        TYPE_2_BY_THIS,
        TYPE_2_BY_OTHER,
        TYPE_2_ZERO_BASED_BY_THIS,
        TYPE_2_ZERO_BASED_BY_OTHER;

        int windowType() {
            return this == REGION ? 0 : this == TYPE_1_BY_THIS || this == TYPE_1_BY_OTHER ? 1 : 2;
        }

        boolean isZeroBased() {
            return this == TYPE_2_ZERO_BASED_BY_THIS || this == TYPE_2_ZERO_BASED_BY_OTHER;
        }

        boolean isByOther() {
            return this == TYPE_1_BY_OTHER || this == TYPE_2_BY_OTHER || this == TYPE_2_ZERO_BASED_BY_OTHER;
        }
    }

    /// Which of all rights are granted.
    enum Rights {
        NONE,
        ONLY_THE_NEEDED,
        ALL_BUT_THE_NEEDED,
        ALL
    }

    /// What is done to the key before it is used.
    enum Key {
        RIGHT,
        WRONG_LOW_BYTE,
        OF_ANOTHER_REGION,
        /// Of what was there before, in the same place.
        STALE,
        CLOSED,
        /// A window that is bound no more; of a region, no key at all.
        WITHDRAWN
    }

    /// Which bytes are asked for.
    enum Bounds {
        FIRST,
        LAST,
        ONE_BEFORE,
        ONE_BEHIND,
        LONGER,
        OVER_THE_END_OF_ALL_ADDRESSES,
        /// Or, of what always has eight bytes, an address that is no multiple of eight.
        NOTHING
    }

    /// One of all.
    record Case(
            Rights ofQueuePair,
            Rights ofMemory,
            Shown shown,
            boolean sameDomain,
            Key key,
            Bounds bounds,
            QpState state) {}

    private static final int REGION_BYTES = 4_096;
    private static final int WINDOW_OFFSET = 64;
    private static final int WINDOW_BYTES = 256;
    private static final int REQUEST_BYTES = 100;
    private static final long IOVA = 0x10_0000;
    private static final Set<Access> REMOTE =
            EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC, Access.FLUSH_GLOBAL);

    private final QpType service;
    private final Operation operation;
    private final Lockstep lockstep;
    private final Lockstep.DevicePair a;
    private final Lockstep.DevicePair b;
    private final ModelDomain domain;
    private final ModelDomain otherDomain;
    private final ModelRegion own;
    private final ModelRegion another;
    private final ModelCompletionQueue cqOfA;
    private final ModelCompletionQueue cqOfB;
    private final Ends ends;
    private final Ends ofSameDomain;
    private final Ends ofOtherDomain;
    private final Map<QpState, Integer> outcomes = new EnumMap<>(QpState.class);
    private long wrId;
    private int psn;

    private record Ends(ModelQueuePair requester, ModelQueuePair responder) {}

    AccessMatrix(long seed, QpType service, Operation operation) {
        this.service = service;
        this.operation = operation;
        lockstep = new Lockstep(seed, 2, NetworkFaults.NONE, null);
        a = lockstep.pairs.getFirst();
        b = lockstep.pairs.getLast();
        ModelDomain domainOfA = lockstep.allocateDomain(a);
        domain = lockstep.allocateDomain(b);
        otherDomain = lockstep.allocateDomain(b);
        cqOfA = Objects.requireNonNull(lockstep.createCompletionQueue(a, 64, Optional.empty()));
        cqOfB = Objects.requireNonNull(lockstep.createCompletionQueue(b, 64, Optional.empty()));
        own = Objects.requireNonNull(
                lockstep.register(a, domainOfA, 0, REGION_BYTES, IOVA, EnumSet.of(Access.LOCAL_WRITE)));
        another = Objects.requireNonNull(
                lockstep.register(b, domain, 2 * REGION_BYTES, REGION_BYTES, IOVA, EnumSet.of(Access.LOCAL_WRITE)));
        ends = ends(service, domainOfA, domain);
        ofSameDomain = ends(QpType.RC, domainOfA, domain);
        ofOtherDomain = ends(QpType.RC, domainOfA, otherDomain);
    }

    private Ends ends(QpType type, ModelDomain domainOfA, ModelDomain domainOfB) {
        var made = new Ends(
                Objects.requireNonNull(
                        lockstep.createQueuePair(a, domainOfA, type, AccessMatrix::extended, cqOfA, cqOfA, null)),
                Objects.requireNonNull(
                        lockstep.createQueuePair(b, domainOfB, type, AccessMatrix::extended, cqOfB, cqOfB, null)));
        connect(made);
        return made;
    }

    private static QueuePairOptions extended(QueuePairOptions options) {
        return options.withExtensions(Set.of(Capability.ATOMIC_WRITE, Capability.FLUSH));
    }

    private void connect(Ends of) {
        psn = psn + 0x1_0000 & 0xFF_FFFF;
        connect(of.requester, of.responder, psn);
        connect(of.responder, of.requester, psn);
    }

    private void connect(ModelQueuePair one, ModelQueuePair peer, int firstPsn) {
        if (one.state() != QpState.RESET) {
            lockstep.modify(one, new QpModification().withState(QpState.RESET));
        }
        lockstep.modify(
                one,
                new QpModification()
                        .withState(QpState.INIT)
                        .withPort(1)
                        .withPkeyIndex(0)
                        .withAccess(REMOTE));
        var toRtr = new QpModification()
                .withState(QpState.RTR)
                .withPath(AddressVector.to(peer.device().gids().getFirst(), 0))
                .withPathMtu(Mtu.MTU_1024)
                .withDestinationQpn(peer.qpn())
                .withRqPsn(firstPsn);
        var toRts = new QpModification().withState(QpState.RTS).withSqPsn(firstPsn);
        if (one.type() == QpType.RC) {
            toRtr = toRtr.withMaxDestinationReadAtomic(4).withMinRnrTimer(new RnrTimer(1));
            toRts = toRts.withAckTimeout(new AckTimeout(1))
                    .withRetryCount(1)
                    .withRnrRetry(1)
                    .withMaxReadAtomic(4);
        }
        lockstep.modify(one, toRtr);
        lockstep.modify(one, toRts);
    }

    // ---- all cases

    /// Every combination with a responder that works, and those of kind and key with one that does not.
    static List<Case> cases() {
        var cases = new ArrayList<Case>();
        for (Shown shown : Shown.values()) {
            for (Key key : Key.values()) {
                for (Rights ofQueuePair : Rights.values()) {
                    for (Rights ofMemory : Rights.values()) {
                        for (Bounds bounds : Bounds.values()) {
                            for (boolean same : new boolean[] {true, false}) {
                                cases.add(new Case(ofQueuePair, ofMemory, shown, same, key, bounds, QpState.RTS));
                            }
                        }
                    }
                }
                for (QpState state : List.of(QpState.RESET, QpState.INIT, QpState.RTR, QpState.SQD, QpState.ERR)) {
                    for (Bounds bounds : Bounds.values()) {
                        cases.add(new Case(Rights.ALL, Rights.ALL, shown, true, key, bounds, state));
                    }
                }
            }
        }
        return cases;
    }

    /// How often the requester ended in which state.
    Map<QpState, Integer> outcomes() {
        return outcomes;
    }

    void run(Case one) {
        ModelDomain of = one.sameDomain ? domain : otherDomain;
        boolean atEnd = one.bounds == Bounds.OVER_THE_END_OF_ALL_ADDRESSES;
        long iova = atEnd ? -REGION_BYTES : IOVA;
        Set<Access> regionRights = EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND);
        if (one.shown == Shown.REGION) {
            regionRights.addAll(rights(one.ofMemory));
        }
        ModelRegion region = Objects.requireNonNull(lockstep.register(b, of, 0, REGION_BYTES, iova, regionRights));
        ModelRegion second = null;
        ModelWindow window = null;
        int key = region.key();
        long from = iova;
        long length = REGION_BYTES;
        if (one.shown != Shown.REGION) {
            window = Objects.requireNonNull(lockstep.allocateWindow(b, of, one.shown.windowType()));
            length = WINDOW_BYTES;
            long address = iova + (atEnd ? REGION_BYTES - WINDOW_BYTES : WINDOW_OFFSET);
            from = one.shown.isZeroBased() ? 0 : address;
            bind(one, window, region, address);
            key = window.key();
        }
        switch (one.key) {
            case RIGHT -> {}
            case WRONG_LOW_BYTE -> key ^= 1 << (wrId & 7);
            case OF_ANOTHER_REGION -> key = another.key();
            case STALE -> {
                if (window == null) {
                    lockstep.close(region);
                    second = Objects.requireNonNull(lockstep.register(b, of, 0, REGION_BYTES, iova, regionRights));
                } else {
                    withdraw(one, window, region);
                    bind(one, window, region, iova + WINDOW_OFFSET);
                }
            }
            case CLOSED -> lockstep.close(window == null ? region : window);
            case WITHDRAWN -> {
                if (window == null) {
                    key = 0;
                } else {
                    withdraw(one, window, region);
                    key = window.key();
                }
            }
        }
        ask(one, address(one.bounds, from, length), key);
        if (window != null) {
            lockstep.close(window);
        }
        lockstep.close(region);
        if (second != null) {
            lockstep.close(second);
        }
    }

    private Set<Access> rights(Rights which) {
        Set<Access> needed = switch (operation) {
            case READ -> Set.of(Access.REMOTE_READ);
            case FETCH_ADD, COMPARE_SWAP -> Set.of(Access.REMOTE_ATOMIC);
            case FLUSH -> Set.of(Access.FLUSH_GLOBAL);
            default -> Set.of(Access.REMOTE_WRITE);
        };
        var rights = EnumSet.noneOf(Access.class);
        switch (which) {
            case NONE -> {}
            case ONLY_THE_NEEDED -> rights.addAll(needed);
            case ALL_BUT_THE_NEEDED -> {
                rights.addAll(REMOTE);
                rights.removeAll(needed);
            }
            case ALL -> rights.addAll(REMOTE);
        }
        return rights;
    }

    /// Who binds: the queue pair that will be asked, or another.
    private ModelQueuePair binder(Case one) {
        return !one.sameDomain
                ? ofOtherDomain.responder
                : one.shown.isByOther() ? ofSameDomain.responder : ends.responder;
    }

    private void bind(Case one, ModelWindow window, ModelRegion region, long address) {
        Set<Access> rights = rights(one.ofMemory);
        rights.remove(Access.FLUSH_GLOBAL); // no right of a window
        if (one.shown.isZeroBased()) {
            rights.add(Access.ZERO_BASED);
        }
        post(
                binder(one),
                ModelSend.of(Operation.BIND_WINDOW, ++wrId)
                        .bind(window, nextKey(window), region, address, WINDOW_BYTES, rights));
    }

    private void withdraw(Case one, ModelWindow window, ModelRegion region) {
        post(
                binder(one),
                window.type() == 2
                        ? ModelSend.of(Operation.LOCAL_INVALIDATE, ++wrId).number(window.key())
                        : ModelSend.of(Operation.BIND_WINDOW, ++wrId)
                                .bind(window, nextKey(window), region, region.iova(), 0, Set.of()));
    }

    private static int nextKey(ModelWindow window) {
        return (window.key() & ~0xFF) | ((window.key() + 1) & 0xFF);
    }

    private void post(ModelQueuePair queuePair, ModelSend request) {
        lockstep.send(queuePair, List.of(new Lockstep.Posted(request, null)));
        lockstep.settle();
    }

    private boolean hasEightBytes() {
        return operation.isAtomic() || operation == Operation.ATOMIC_WRITE;
    }

    private long address(Bounds bounds, long from, long length) {
        int bytes = hasEightBytes() ? Long.BYTES : REQUEST_BYTES;
        int step = hasEightBytes() ? Long.BYTES : 1;
        return switch (bounds) {
            case FIRST -> from;
            case LAST -> from + length - bytes;
            case ONE_BEFORE -> from - step;
            case ONE_BEHIND -> from + length - bytes + step;
            case LONGER -> from;
            case OVER_THE_END_OF_ALL_ADDRESSES -> hasEightBytes() ? from + length : -bytes / 2;
            case NOTHING -> hasEightBytes() ? from + 1 : from + length + 1_000;
        };
    }

    private int bytes(Case one) {
        if (hasEightBytes()) {
            return Long.BYTES;
        }
        return switch (one.bounds) {
            case LONGER -> (one.shown == Shown.REGION ? REGION_BYTES : WINDOW_BYTES) + 1;
            case NOTHING -> 0;
            default -> REQUEST_BYTES;
        };
    }

    private void ask(Case one, long address, int key) {
        int bytes = bytes(one);
        ModelQueuePair responder = ends.responder;
        if (operation.hasImmediate() && responder.receivesPosted() == 0) {
            lockstep.receive(responder, new ModelReceive(++wrId, List.of()), null);
        }
        lockstep.modify(responder, new QpModification().withAccess(rights(one.ofQueuePair)));
        enter(responder, one.state);
        ModelSend request = ModelSend.of(operation, ++wrId)
                .flags(true, false, false)
                .remote(address, key)
                .operands(1, 2)
                .number((int) wrId);
        if (operation == Operation.FLUSH) {
            request.flush(bytes, false, Set.of(Access.FLUSH_GLOBAL));
        } else if (operation != Operation.ATOMIC_WRITE) {
            int half = operation.isAtomic() ? bytes : bytes / 2;
            request.pieces(
                    half == bytes
                            ? List.of(new Piece(own.key(), own.iova(), bytes))
                            : List.of(
                                    new Piece(own.key(), own.iova(), half),
                                    new Piece(own.key(), own.iova() + 2_000, Math.min(bytes - half, 2_000)),
                                    new Piece(own.key(), own.iova(), Math.max(0, bytes - half - 2_000))));
        }
        post(ends.requester, request);
        lockstep.compareMemory();
        outcomes.merge(ends.requester.state(), 1, Integer::sum);
        if (ends.requester.state() != QpState.RTS || responder.state() != QpState.RTS) {
            connect(ends);
            lockstep.settle();
        }
        while (lockstep.poll(cqOfA) || lockstep.poll(cqOfB)) {
            // until there is none
        }
    }

    /// From RTS.
    private void enter(ModelQueuePair responder, QpState state) {
        switch (state) {
            case RTS -> {}
            case SQD, RESET, ERR -> lockstep.modify(responder, new QpModification().withState(state));
            case INIT, RTR -> {
                connect(ends);
                lockstep.modify(responder, new QpModification().withState(QpState.RESET));
                lockstep.modify(
                        responder,
                        new QpModification()
                                .withState(QpState.INIT)
                                .withPort(1)
                                .withPkeyIndex(0)
                                .withAccess(REMOTE));
                if (state == QpState.RTR) {
                    var toRtr = new QpModification()
                            .withState(QpState.RTR)
                            .withPath(AddressVector.to(a.model.gids().getFirst(), 0))
                            .withPathMtu(Mtu.MTU_1024)
                            .withDestinationQpn(ends.requester.qpn())
                            .withRqPsn(psn);
                    lockstep.modify(
                            responder,
                            service == QpType.RC
                                    ? toRtr.withMaxDestinationReadAtomic(4).withMinRnrTimer(new RnrTimer(1))
                                    : toRtr);
                    if (operation.hasImmediate()) {
                        lockstep.receive(responder, new ModelReceive(++wrId, List.of()), null);
                    }
                }
            }
            case SQE -> throw new AssertionError("not of a responder's doing");
        }
    }
}

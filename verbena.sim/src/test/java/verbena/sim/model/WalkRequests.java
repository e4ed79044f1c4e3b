package verbena.sim.model;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.sim.model.ModelQueuePair.Waiting;
import verbena.sim.model.ModelSend.Operation;
import verbena.verbs.Access;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpState;
import verbena.verbs.QpType;

/// The steps of a [RandomWalk] that post requests and receives.
final class WalkRequests extends WalkSteps {
    private long wrId;

    WalkRequests(WalkState walk) {
        super(walk);
    }

    void send() {
        WalkPlace place = place();
        pick(place.queuePairs).ifPresent(own -> {
            if ((own.state() != QpState.RTS && !chance(15)) || (own.type() == QpType.XRC_TARGET && !chance(2))) {
                return; // seldom in vain
            }
            boolean loop = own.type() == QpType.UD || own.device().gids().contains(own.destination());
            boolean narrow = WalkPlace.isNarrow(own.sendCq());
            boolean alone = loop || narrow;
            int count = alone ? 1 : 1 + walk.random.nextInt(chance(70) ? 2 : 6);
            if ((alone && own.unfinished() > 0) || (!narrow && place.room(own.sendCq()) < count)) {
                return;
            }
            ModelQueuePair peer = walk.lockstep.model.find(own.destination(), own.number(QpAttribute.DEST_QPN));
            WalkPlace far = peer == null ? place : placeOf(peer);
            var posted = new ArrayList<Lockstep.Posted>();
            var before = new ArrayList<>(own.unfinishedSends());
            for (int i = 0; i < count; i++) {
                Lockstep.Posted one = request(place, far, own, peer, before, loop);
                posted.add(one);
                before.add(one.send());
            }
            walk.lockstep.send(own, posted);
        });
    }

    /// Mostly one that the type has.
    private Operation operation(QpType type) {
        for (int tries = 0; ; tries++) {
            Operation operation = Operation.values()[walk.random.nextInt(Operation.values().length)];
            if (operation.isOf(type) || tries == 20 || chance(2)) {
                return operation;
            }
        }
    }

    /// Whereto a datagram goes.
    private ModelSend to(WalkPlace place, ModelSend send) {
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
                        ? walk.random.nextInt(-1, 0x100_0001)
                        : peer.map(ModelQueuePair::qpn).orElse(7);
        return send.to(handle.get(), qpn, qkey());
    }

    /// Which of the peer's shared receive queues a request is for; mostly one that the target has.
    private Optional<ModelSharedReceiveQueue> aim(WalkPlace far, @Nullable ModelQueuePair peer) {
        return pick(far.numbered.stream()
                .filter(named -> peer == null || named.xrcDomain().equals(peer.xrcDomain()) || chance(2))
                .toList());
    }

    private Lockstep.Posted request(
            WalkPlace place,
            WalkPlace far,
            ModelQueuePair own,
            @Nullable ModelQueuePair peer,
            List<ModelSend> before,
            boolean loop) {
        Operation operation = operation(own.type());
        ModelSend send = ModelSend.of(operation, ++wrId).flags(chance(60), fenced(operation, before), chance(20));
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
        Optional<ModelSharedReceiveQueue> aim =
                own.type() == QpType.XRC_INITIATOR || chance(1) ? aim(far, peer) : Optional.empty();
        if (aim.isPresent() && !chance(1)) {
            send = send.to(chance(99) ? aim.get().number() : walk.random.nextInt(-1, 0x100_0001));
        }
        ModelDomain reached = aim.map(ModelSharedReceiveQueue::domain).orElse(peer == null ? null : peer.domain());
        if (operation == Operation.FLUSH) {
            return new Lockstep.Posted(flush(send, far, reached), null);
        }
        if (operation == Operation.SEND_WITH_INVALIDATE) {
            send = send.number(windowKey(far));
        } else if (operation.hasImmediate()) {
            send = send.number(walk.random.nextInt());
        }
        boolean eight = operation.isAtomic() || operation == Operation.ATOMIC_WRITE;
        int bytes = eight ? Long.BYTES : bytes(loop);
        if (!operation.isSend()) {
            send = remote(send, far, reached, bytes);
        }
        return filled(place, own, send, bytes);
    }

    /// A one-sided request with this key, mostly inside of what it opens.
    Lockstep.Posted keyed(WalkPlace place, ModelQueuePair own, Operation operation, WalkRepeated.Target target) {
        boolean eight = operation.isAtomic() || operation == Operation.ATOMIC_WRITE;
        int most = chance(99) ? (int) Math.min(target.length(), Integer.MAX_VALUE) : Integer.MAX_VALUE;
        int bytes = eight ? Long.BYTES : Math.min(most, chance(30) ? 1 << walk.random.nextInt(4) : bytes(false));
        ModelSend send = ModelSend.of(operation, ++wrId)
                .flags(chance(60), chance(5), chance(20))
                .remote(address(target.from(), target.length(), bytes, eight), target.key());
        return filled(place, own, send, bytes);
    }

    /// Binds the window with this key, on a queue pair of its own device, when there is one.
    void rebind(WalkPlace place, ModelQueuePair own, int key, ModelRegion region) {
        pick(place.windows.stream().filter(one -> one.key() == key).toList()).ifPresent(window -> {
            ModelSend send = ModelSend.of(Operation.BIND_WINDOW, ++wrId).flags(chance(60), false, false);
            postAlone(place, own, new Lockstep.Posted(bind(send, window, region), null));
        });
    }

    /// Has the peer invalidate its window.
    void invalidate(ModelQueuePair own, int key) {
        ModelSend send = ModelSend.of(Operation.SEND_WITH_INVALIDATE, ++wrId).flags(chance(60), false, false);
        postAlone(placeOf(own), own, new Lockstep.Posted(send.number(key), null));
    }

    private void postAlone(WalkPlace place, ModelQueuePair own, Lockstep.Posted one) {
        if (own.state() == QpState.RTS
                && own.unfinished() == 0
                && !WalkPlace.isNarrow(own.sendCq())
                && place.room(own.sendCq()) > 0) {
            walk.lockstep.send(own, List.of(one));
        }
    }

    /// With operands, and with the memory that bytes come from or go to.
    private Lockstep.Posted filled(WalkPlace place, ModelQueuePair own, ModelSend request, int bytes) {
        Operation operation = request.operation();
        ModelSend send = request;
        if (operation.isAtomic() || operation == Operation.ATOMIC_WRITE) {
            send = send.operands(walk.random.nextInt(4), walk.random.nextInt(4));
        }
        if (operation == Operation.ATOMIC_WRITE) {
            return new Lockstep.Posted(send, null);
        }
        if (chance(operation.isAnswered() ? 1 : 15)) {
            byte[] inline = new byte[Math.min(bytes, 120)];
            walk.random.nextBytes(inline);
            return new Lockstep.Posted(send.inline(inline), null);
        }
        var regions = place.regions.stream()
                .filter(one -> one.domain() == own.domain())
                .toList();
        ModelRegion region = pick(chance(97) ? regions : place.regions).orElse(null);
        if (region == null) {
            return new Lockstep.Posted(send, null);
        }
        ModelRegion named = chance(50) ? region : null;
        var pieces = pieces(place, region, bytes, named != null, operation.isAtomic());
        return new Lockstep.Posted(send.pieces(operation.hasResult() ? apart(pieces) : pieces), named);
    }

    /// What a READ or an atomic changes or reads may only be touched behind a fence (IBTA 10.8.3.3). Where answers
    /// get lost, what comes behind one may end the connection before it is asked for again.
    private boolean fenced(Operation operation, List<ModelSend> before) {
        boolean afterRead = before.stream().anyMatch(one -> one.operation() == Operation.READ);
        boolean afterAtomic = before.stream().anyMatch(one -> one.operation().isAtomic());
        boolean afterAnswer = before.stream().anyMatch(one -> one.operation().isAnswered());
        return (walk.faulty && afterAnswer)
                || (afterRead && operation != Operation.READ)
                || (afterAtomic && !operation.isAtomic())
                || chance(5);
    }

    private int bytes(boolean loop) {
        if (loop) {
            return walk.random.nextInt(257);
        }
        return switch (walk.random.nextInt(8)) {
            case 0 -> 0;
            case 1 -> 256 << walk.random.nextInt(5);
            case 2 -> (256 << walk.random.nextInt(5)) + walk.random.nextInt(3) - 1;
            case 3, 4 -> walk.random.nextInt(6_000);
            default -> walk.random.nextInt(600);
        };
    }

    private ModelSend remote(ModelSend send, WalkPlace far, @Nullable ModelDomain reached, int bytes) {
        if (chance(5)) {
            return send.remote(walk.random.nextLong(), walk.random.nextInt());
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
                .filter(one -> reached == null || one.domain() == reached)
                .toList();
        return pick(chance(97) ? regions : far.regions)
                .map(region -> send.remote(
                        address(region.iova(), region.length(), bytes, bytes == Long.BYTES), key(region.key())))
                .orElse(send);
    }

    private ModelSend flush(ModelSend send, WalkPlace far, @Nullable ModelDomain reached) {
        int bytes = chance(2) ? -1 : walk.random.nextInt(600);
        var rights = EnumSet.noneOf(Access.class);
        if (chance(97)) {
            rights.add(Access.FLUSH_GLOBAL);
        }
        if (chance(10)) {
            rights.add(Access.FLUSH_PERSISTENT);
        }
        return remote(send, far, reached, bytes).flush(bytes, chance(30), rights);
    }

    private int key(int right) {
        return chance(98) ? right : right ^ (1 << walk.random.nextInt(32));
    }

    /// Mostly inside.
    private long address(long from, long length, int bytes, boolean aligned) {
        long room = length - bytes;
        long offset = switch (walk.random.nextInt(60)) {
            case 0 -> -1;
            case 1 -> room + 1;
            case 2 -> length;
            case 3 -> room;
            case 4 -> walk.random.nextLong();
            default -> room <= 0 ? 0 : walk.random.nextLong(room + 1);
        };
        long address = from + offset;
        return aligned && !chance(4) ? address & -Long.BYTES : address;
    }

    private int windowKey(WalkPlace place) {
        return chance(10)
                ? pick(place.regions).map(ModelRegion::key).orElse(walk.random.nextInt())
                : pick(place.windows).map(window -> key(window.key())).orElse(walk.random.nextInt());
    }

    private ModelSend bind(ModelSend send, ModelWindow window, ModelRegion region) {
        long length = chance(6)
                ? 0
                : chance(5) ? region.length() + 1L : 1 + walk.random.nextInt(Math.max(1, region.length()));
        long address = region.iova()
                + (chance(90)
                        ? walk.random.nextInt((int) Math.max(1, region.length() - length + 1))
                        : walk.random.nextInt());
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
                ? (window.key() & ~0xFF) | ((window.key() + 1 + walk.random.nextInt(200)) & 0xFF)
                : key(window.key());
        return send.bind(window, rkey, region, address, chance(1) ? -1 : length, rights);
    }

    /// One entry or several, inside `region` mostly.
    private List<Piece> pieces(WalkPlace place, ModelRegion region, int bytes, boolean named, boolean one) {
        var pieces = new ArrayList<Piece>();
        int left = bytes;
        int count = one && !chance(2) ? 1 : 1 + walk.random.nextInt(chance(95) ? 3 : 6);
        for (int i = 0; i < count; i++) {
            int length = i + 1 == count ? left : left == 0 ? 0 : walk.random.nextInt(left + 1);
            left -= length;
            long room = region.length() - (long) length;
            long offset = chance(2)
                    ? walk.random.nextInt(-2, region.length() + 2)
                    : room <= 0 ? 0 : walk.random.nextLong(room + 1);
            if (chance(1) && chance(20)) {
                length = -1 - walk.random.nextInt(3);
            }
            int lkey = named ? region.key() : chance(1) ? windowKey(place) : key(region.key());
            pieces.add(new Piece(lkey, region.iova() + offset, length));
        }
        return pieces;
    }

    /// Leaves out entries that share bytes with an earlier one. A device fills the target of one request in any order
    /// (ibv_post_send(3)), so that which entry wins is its own choice.
    private static List<Piece> apart(List<Piece> pieces) {
        var kept = new ArrayList<Piece>();
        for (Piece piece : pieces) {
            if (kept.stream().noneMatch(other -> sharesBytes(other, piece))) {
                kept.add(piece);
            }
        }
        return kept;
    }

    private static boolean sharesBytes(Piece one, Piece other) {
        return one.address() < other.address() + other.length() && other.address() < one.address() + one.length();
    }

    void receive() {
        WalkPlace place = place();
        pick(place.queuePairs)
                .filter(own -> (own.shared().isEmpty() && !own.type().isXrc()) || chance(3))
                .filter(own -> place.room(own.receiveCq()) > 0)
                .ifPresent(own -> {
                    for (int i = 1 + walk.random.nextInt(3); i > 0 && place.room(own.receiveCq()) > 0; i--) {
                        var named = region(place, own.domain());
                        walk.lockstep.receive(own, receive(place, named, own.domain()), named.orElse(null));
                    }
                });
    }

    void receiveShared() {
        WalkPlace place = place();
        pick(place.shared)
                .filter(srq -> waitingFor(srq) <= 1) // which of several gets it is a matter of their timers
                .filter(srq -> place.queuePairs.stream()
                        .filter(one -> !one.isClosed() && one.shared().equals(Optional.of(srq)))
                        .allMatch(one -> place.room(one.receiveCq()) > 0))
                .ifPresent(srq -> {
                    var named = region(place, srq.domain());
                    walk.lockstep.receive(srq, receive(place, named, srq.domain()), named.orElse(null));
                });
    }

    void receiveNumbered() {
        WalkPlace place = place();
        pick(place.numbered)
                .filter(srq -> waitingFor(srq) <= 1 && place.room(srq.completions()) > 0)
                .ifPresent(srq -> {
                    var named = region(place, srq.domain());
                    walk.lockstep.receive(srq, receive(place, named, srq.domain()), named.orElse(null));
                });
    }

    /// Requests that wait for a receive of this queue.
    private long waitingFor(ModelSharedReceiveQueue srq) {
        return walk.places.stream()
                .flatMap(place -> place.queuePairs.stream())
                .filter(one -> !one.isClosed() && one.waiting == Waiting.FOR_A_RECEIVE)
                .filter(one -> isAimedAt(one, srq))
                .count();
    }

    private boolean isAimedAt(ModelQueuePair waiting, ModelSharedReceiveQueue srq) {
        ModelQueuePair peer = walk.lockstep.model.find(waiting.destination(), waiting.number(QpAttribute.DEST_QPN));
        if (peer == null) {
            return false;
        }
        Optional<ModelSharedReceiveQueue> aim = waiting.type() == QpType.XRC_INITIATOR
                ? peer.device().numbered(waiting.unfinishedSends().getFirst().srqNumber())
                : peer.shared();
        return aim.equals(Optional.of(srq));
    }

    private Optional<ModelRegion> region(WalkPlace place, ModelDomain domain) {
        var regions =
                place.regions.stream().filter(one -> one.domain() == domain).toList();
        return chance(50) ? pick(chance(97) ? regions : place.regions) : Optional.empty();
    }

    private ModelReceive receive(WalkPlace place, Optional<ModelRegion> named, ModelDomain domain) {
        var regions =
                place.regions.stream().filter(one -> one.domain() == domain).toList();
        Optional<ModelRegion> region = named.isPresent() ? named : pick(regions);
        int bytes = walk.random.nextInt(chance(50) ? 6_000 : 600);
        return new ModelReceive(
                ++wrId,
                region.map(one -> apart(pieces(place, one, bytes, named.isPresent(), false)))
                        .orElse(List.of()));
    }

    void armLimit() {
        WalkPlace place = place();
        pick(chance(50) ? place.numbered : place.shared)
                .ifPresent(srq -> walk.lockstep.armLimit(srq, walk.random.nextInt(-1, 22)));
    }
}

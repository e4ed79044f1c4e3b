package verbena.sim.model;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.sim.model.ModelSend.Operation;
import verbena.verbs.Access;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpState;
import verbena.verbs.QpType;

/// The steps of a [RandomWalk] over shared memory: one request after the other with the same key, so that all but
/// the first need no packets. Meanwhile rights, windows and regions change or go.
final class WalkRepeated extends WalkSteps {
    private static final List<Operation> ONE_SIDED = List.of(
            Operation.WRITE, Operation.READ, Operation.FETCH_ADD, Operation.COMPARE_SWAP, Operation.ATOMIC_WRITE);

    private final WalkObjects objects;
    private final WalkStates states;
    private final WalkRequests requests;

    /// What a key opens.
    record Target(int key, long from, long length, Set<Access> access) {}

    WalkRepeated(WalkState walk, WalkObjects objects, WalkStates states, WalkRequests requests) {
        super(walk);
        this.objects = objects;
        this.states = states;
        this.requests = requests;
    }

    void stayWithAKey() {
        WalkPlace place = place();
        Optional<ModelQueuePair> connected =
                pick(place.queuePairs.stream().filter(this::isConnected).toList());
        if (connected.isEmpty()) {
            connect(place);
        }
        connected.ifPresent(own -> {
            ModelQueuePair peer = Objects.requireNonNull(peer(own));
            WalkPlace far = placeOf(peer);
            Optional<ModelWindow> window =
                    chance(40) ? pick(far.windows).filter(ModelWindow::isBound) : Optional.empty();
            Optional<ModelRegion> region = pick(far.regions.stream()
                    .filter(one -> one.domain() == peer.domain())
                    .toList());
            if (window.isPresent()) {
                ModelWindow.Binding bound = window.get().binding();
                long from = bound.access().contains(Access.ZERO_BASED) ? 0 : bound.address();
                repeat(
                        place,
                        own,
                        far,
                        new Target(window.get().key(), from, bound.length(), bound.access()),
                        bound.region());
            } else if (region.isPresent()) {
                ModelRegion of = region.get();
                repeat(place, own, far, new Target(of.key(), of.iova(), of.length(), of.access()), of);
            }
        });
    }

    /// Two queue pairs of different devices.
    private void connect(WalkPlace place) {
        WalkPlace other = place();
        if (other != place) {
            pick(reliable(place)).ifPresent(one -> pick(reliable(other)).ifPresent(two -> states.connect(one, two)));
        }
    }

    private static List<ModelQueuePair> reliable(WalkPlace of) {
        return of.queuePairs.stream()
                .filter(one -> one.type() == QpType.RC && !one.isClosed())
                .toList();
    }

    private @Nullable ModelQueuePair peer(ModelQueuePair own) {
        return walk.lockstep.model.find(own.destination(), own.number(QpAttribute.DEST_QPN));
    }

    /// Whether requests can be posted one by one, and reach a peer on another device.
    private boolean isConnected(ModelQueuePair own) {
        return !own.isClosed()
                && own.type() == QpType.RC
                && own.state() == QpState.RTS
                && own.unfinished() == 0
                && !WalkPlace.isNarrow(own.sendCq())
                && !own.device().gids().contains(own.destination())
                && isOpen(peer(own));
    }

    private static boolean isOpen(@Nullable ModelQueuePair peer) {
        return peer != null && !peer.isClosed();
    }

    private void repeat(WalkPlace place, ModelQueuePair own, WalkPlace far, Target target, ModelRegion region) {
        for (int i = 3 + walk.random.nextInt(10); i > 0; i--) {
            if (!isConnected(own) || place.room(own.sendCq()) < 1) {
                return;
            }
            if (chance(9)) {
                change(own, far, target, region);
            } else {
                var send = requests.keyed(place, own, operation(target), target);
                walk.lockstep.send(own, List.of(send));
            }
            walk.lockstep.settle();
            walk.lockstep.takeOverUndefined();
        }
    }

    /// Mostly one that the key is good for.
    private Operation operation(Target target) {
        for (int tries = 0; ; tries++) {
            Operation one = ONE_SIDED.get(walk.random.nextInt(ONE_SIDED.size()));
            Access right = one == Operation.READ
                    ? Access.REMOTE_READ
                    : one.isAtomic() ? Access.REMOTE_ATOMIC : Access.REMOTE_WRITE;
            if (target.access.contains(right) || tries == 20 || chance(1)) {
                return one;
            }
        }
    }

    private void change(ModelQueuePair own, WalkPlace far, Target target, ModelRegion region) {
        ModelQueuePair peer = Objects.requireNonNull(peer(own));
        switch (walk.random.nextInt(6)) {
            case 0 -> objects.reregister(far, region);
            case 1 -> objects.close(far, region);
            case 2 -> states.changeAccess(peer);
            case 3 -> requests.rebind(far, peer, target.key, region);
            case 4 -> requests.invalidate(own, target.key);
            default -> pick(far.windows).ifPresent(window -> requests.rebind(far, peer, window.key(), region));
        }
    }
}

package verbena.sim.model;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.transport.congestion.CongestionRule;
import verbena.verbs.Access;
import verbena.verbs.AddressVector;

/// What all steps of a [RandomWalk] draw with.
abstract class WalkSteps {
    private static final List<Integer> QKEYS = List.of(0x11111111, 0x22222222, 0x80000001);

    final WalkState walk;

    WalkSteps(WalkState walk) {
        this.walk = walk;
    }

    boolean chance(int percent) {
        return walk.random.nextInt(100) < percent;
    }

    WalkPlace place() {
        return walk.places.get(walk.random.nextInt(walk.places.size()));
    }

    /// One of them, seldom a closed one.
    <T extends ModelObject> Optional<T> pick(List<T> list) {
        for (int tries = 0; tries < 8 && !list.isEmpty(); tries++) {
            T one = list.get(walk.random.nextInt(list.size()));
            if (!one.isClosed() || (tries == 7 && chance(10))) {
                return Optional.of(one);
            }
        }
        return Optional.empty();
    }

    static <T extends ModelObject> long open(List<T> list) {
        return list.stream().filter(one -> !one.isClosed()).count();
    }

    static <T extends ModelObject> void keep(List<T> list, @Nullable T made) {
        if (made != null) {
            list.add(made);
        }
    }

    Set<Access> access() {
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
        if (chance(5)) {
            access.add(Access.ON_DEMAND);
        }
        return access;
    }

    /// Of a datagram, whose receive shows it: where switches mark, it has no bits that they could change (RFC
    /// 3168).
    int trafficClass() {
        return walk.random.nextInt(256) & (RandomWalk.isMarked(walk.seed) ? ~CongestionRule.MARKED : ~0);
    }

    AddressVector wildWay(WalkPlace to) {
        return AddressVector.to(to.pair.model.gids().get(walk.random.nextInt(2)), walk.random.nextInt(3))
                .withPort(chance(5) ? 2 : 1)
                .withTrafficClass(trafficClass())
                .withHopLimit(1 + walk.random.nextInt(255));
    }

    int qkey() {
        return QKEYS.get(chance(70) ? 0 : walk.random.nextInt(QKEYS.size()));
    }

    WalkPlace placeOf(ModelQueuePair queuePair) {
        return walk.places.stream()
                .filter(one -> one.pair.model == queuePair.device())
                .findFirst()
                .orElseThrow();
    }
}

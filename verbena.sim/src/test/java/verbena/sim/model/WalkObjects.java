package verbena.sim.model;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.Gid;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;

/// The steps of a [RandomWalk] that make objects, change memory regions, and close.
final class WalkObjects extends WalkSteps {
    private static final List<Gid> GROUPS = List.of(Gid.parse("224.1.2.3"), Gid.parse("ff05::123"));

    WalkObjects(WalkState walk) {
        super(walk);
    }

    void allocateDomain() {
        WalkPlace place = place();
        if (open(place.domains) < 2) {
            keep(place.domains, walk.lockstep.allocateDomain(place.pair));
        }
    }

    void register() {
        WalkPlace place = place();
        pick(place.domains).filter(_ -> open(place.regions) < 10).ifPresent(domain -> {
            Set<Access> access = access();
            int offset = walk.random.nextInt(Lockstep.MEMORY_BYTES);
            int length = chance(3) ? 0 : 1 + walk.random.nextInt(Math.min(16 << 10, Lockstep.MEMORY_BYTES - offset));
            long iova = access.contains(Access.ZERO_BASED) && !chance(5) ? 0 : iova(length);
            keep(place.regions, walk.lockstep.register(place.pair, domain, offset, length, iova, access));
        });
    }

    /// Mostly aligned; at times at one of the ends of the address space, or over it.
    private long iova(int length) {
        return switch (walk.random.nextInt(12)) {
            case 0 -> walk.random.nextLong();
            case 1 -> -length;
            case 2 -> Long.MAX_VALUE - walk.random.nextInt(1 + length);
            case 3 -> -walk.random.nextInt(1 + length);
            default -> (long) (1 + walk.random.nextInt(1 << 20)) << 16;
        };
    }

    void allocate() {
        WalkPlace place = place();
        pick(place.domains).filter(_ -> open(place.regions) < 10).ifPresent(domain -> {
            int bytes = chance(5) ? -walk.random.nextInt(3) : 1 + walk.random.nextInt(2_000);
            keep(place.regions, walk.lockstep.allocate(place.pair, domain, bytes, access()));
        });
    }

    void reregister() {
        WalkPlace place = place();
        WalkPlace of = chance(3) ? place() : place;
        pick(place.regions).ifPresent(region -> reregister(place, region, of));
    }

    void reregister(WalkPlace place, ModelRegion region) {
        reregister(place, region, place);
    }

    private void reregister(WalkPlace place, ModelRegion region, WalkPlace of) {
        if (isAwaited(place, region)) {
            return;
        }
        pick(of.domains).ifPresent(domain -> {
            Set<Access> access = access();
            if (!chance(5)) { // stays as it was
                access.remove(Access.ZERO_BASED);
                if (region.access().contains(Access.ZERO_BASED)) {
                    access.add(Access.ZERO_BASED);
                }
            }
            walk.lockstep.reregister(region, domain, access);
        });
    }

    /// Whether what happens when the region goes away is the device's own choice. A result may be on its way
    /// there: whether it still may come is looked at when it is asked for, asked for again, or there. Or it is the
    /// source of one request that waits and the target of another: which of them tries again first decides about
    /// the other.
    private boolean isAwaited(WalkPlace place, ModelRegion region) {
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
                && walk.places.stream()
                        .flatMap(any -> any.queuePairs.stream())
                        .flatMap(one -> one.unfinishedSends().stream())
                        .anyMatch(send -> send.rkey() == region.key());
    }

    void allocateWindow() {
        WalkPlace place = place();
        pick(place.domains)
                .filter(_ -> open(place.windows) < 6)
                .ifPresent(domain -> keep(
                        place.windows, walk.lockstep.allocateWindow(place.pair, domain, 1 + walk.random.nextInt(2))));
    }

    void createChannel() {
        WalkPlace place = place();
        if (open(place.channels) < 2) {
            keep(place.channels, walk.lockstep.createChannel(place.pair));
        }
    }

    void createCompletionQueue() {
        WalkPlace place = place();
        if (open(place.queues) < 5) {
            Optional<ModelChannel> channel = chance(60) ? pick(place.channels) : Optional.empty();
            int entries = chance(3)
                    ? -walk.random.nextInt(2)
                    : chance(25) ? 1 + walk.random.nextInt(4) : 64 + walk.random.nextInt(200);
            keep(place.queues, walk.lockstep.createCompletionQueue(place.pair, entries, channel));
        }
    }

    void createSharedReceiveQueue() {
        WalkPlace place = place();
        pick(place.domains)
                .filter(_ -> open(place.shared) < 2)
                .ifPresent(domain -> keep(
                        place.shared,
                        walk.lockstep.createSharedReceiveQueue(
                                place.pair,
                                domain,
                                chance(4) ? -walk.random.nextInt(2) : 1 + walk.random.nextInt(20),
                                chance(4) ? walk.random.nextInt(40) : 1 + walk.random.nextInt(4))));
    }

    void openXrcDomain() {
        WalkPlace place = place();
        if (open(place.xrcDomains) < 2) {
            keep(place.xrcDomains, walk.lockstep.openXrcDomain(place.pair));
        }
    }

    /// A shared receive queue that peers name.
    void createNumberedQueue() {
        WalkPlace place = place();
        WalkPlace of = chance(2) ? place() : place;
        pick(place.xrcDomains)
                .filter(_ -> open(place.numbered) < 3)
                .ifPresent(xrcDomain -> pick(of.domains)
                        .ifPresent(domain -> pick(place.queues)
                                .filter(cq -> !WalkPlace.isNarrow(cq))
                                .ifPresent(cq -> keep(
                                        place.numbered,
                                        walk.lockstep.createSharedReceiveQueue(
                                                xrcDomain,
                                                domain,
                                                cq,
                                                chance(4) ? -walk.random.nextInt(2) : 1 + walk.random.nextInt(20),
                                                chance(4) ? walk.random.nextInt(40) : 1 + walk.random.nextInt(4))))));
    }

    void createTarget() {
        WalkPlace place = place();
        pick(place.xrcDomains)
                .filter(_ -> place.count(QpType.XRC_TARGET) < 3)
                .ifPresent(xrcDomain -> keep(place.queuePairs, walk.lockstep.createTarget(xrcDomain)));
    }

    void createQueuePair() {
        WalkPlace place = place();
        WalkPlace of = chance(2) ? place() : place;
        if (open(place.queuePairs) - place.count(QpType.XRC_TARGET) >= 6) {
            return;
        }
        pick(place.domains)
                .ifPresent(domain -> pick(of.queues)
                        .ifPresent(sendCq -> pick(place.queues).ifPresent(receiveCq -> {
                            ModelSharedReceiveQueue srq = chance(35)
                                    ? pick(chance(3) ? place.numbered : place.shared)
                                            .orElse(null)
                                    : null;
                            if (WalkPlace.isNarrow(receiveCq)
                                    || (WalkPlace.isNarrow(sendCq) && place.reporters(sendCq) > 0)) {
                                return;
                            }
                            if (srq != null && srq.size() > place.room(receiveCq)) {
                                return;
                            }
                            QpType type = type();
                            if (walk.shared && type != QpType.RC && WalkPlace.isNarrow(sendCq)) {
                                return; // whether what it sends to itself comes before the overflow is open
                            }
                            // An initiator receives nothing.
                            ModelSharedReceiveQueue from = type == QpType.XRC_INITIATOR && !chance(3) ? null : srq;
                            keep(
                                    place.queuePairs,
                                    walk.lockstep.createQueuePair(
                                            place.pair, domain, type, this::sizes, sendCq, receiveCq, from));
                        })));
    }

    private QpType type() {
        if (chance(25)) {
            return QpType.XRC_INITIATOR;
        }
        return walk.faulty || chance(walk.shared ? 80 : 55) ? QpType.RC : chance(50) ? QpType.UC : QpType.UD;
    }

    private QueuePairOptions sizes(QueuePairOptions options) {
        return options.withDepth(size(16, 16_385), size(16, 16_385))
                .withSge(size(4, 33), size(4, 33))
                .withInline(size(100, 513))
                .withSignalAll(chance(30))
                .withExtensions(chance(70) ? Set.of(Capability.ATOMIC_WRITE, Capability.FLUSH) : Set.of());
    }

    private int size(int usual, int tooMuch) {
        return chance(1) ? tooMuch : chance(3) ? 0 : 1 + walk.random.nextInt(usual);
    }

    void createAddressHandle() {
        WalkPlace place = place();
        pick(place.domains)
                .filter(_ -> open(place.handles) < 6)
                .ifPresent(domain -> keep(
                        place.handles,
                        walk.lockstep.createAddressHandle(
                                place.pair, domain, chance(20) ? wildWay(place()) : way(place()))));
    }

    /// To a device, or to a multicast group.
    private AddressVector way(WalkPlace to) {
        int gid = walk.random.nextInt(2);
        Gid destination = chance(25) ? GROUPS.get(gid) : to.pair.model.gids().get(gid);
        return AddressVector.to(destination, gid)
                .withTrafficClass(trafficClass())
                .withHopLimit(1 + walk.random.nextInt(255));
    }

    /// In a multicast group, or not any more.
    void takePart() {
        WalkPlace place = place();
        pick(place.queuePairs)
                .filter(own -> own.type() == QpType.UD || chance(5))
                .ifPresent(own -> {
                    Gid group = chance(95)
                            ? GROUPS.get(walk.random.nextInt(GROUPS.size()))
                            : place.pair.model.gids().getFirst();
                    if (chance(60)) {
                        walk.lockstep.attach(own, group);
                    } else {
                        walk.lockstep.detach(own, group);
                    }
                });
    }

    void close() {
        WalkPlace place = place();
        List<? extends ModelObject> list = switch (walk.random.nextInt(11)) {
            case 8 -> place.handles;
            case 9 -> place.numbered;
            case 10 -> place.xrcDomains;
            case 0 -> place.domains;
            case 1, 2 -> place.regions;
            case 3 -> place.windows;
            case 4 -> place.channels;
            case 5 -> place.queues;
            case 6 -> place.shared;
            default -> place.queuePairs;
        };
        pick(list).ifPresent(one -> close(place, one));
    }

    void close(WalkPlace place, ModelObject one) {
        if (!(one instanceof ModelRegion region && isAwaited(place, region))) {
            walk.lockstep.close(one);
        }
    }
}

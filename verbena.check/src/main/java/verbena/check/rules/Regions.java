package verbena.check.rules;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedDevice;
import verbena.check.TrackedObject;
import verbena.check.TrackedPair;
import verbena.check.TrackedRegion;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Piece;
import verbena.check.Watcher;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;

/// Watches how regions end.
final class Regions extends Watcher {
    /// Keys of closed regions that are kept, the oldest of which are forgotten.
    private static final int KEYS = 4_096;

    private record Key(TrackedDevice device, int rkey) {}

    private final Checker checker;
    private final Findings findings;
    private final Map<Key, CallPlace> closed = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, CallPlace> eldest) {
            return size() > KEYS;
        }
    };

    Regions(Checker checker) {
        this.checker = checker;
        this.findings = checker.findings();
    }

    @Override
    public void onRegister(TrackedRegion region) {
        synchronized (closed) {
            closed.remove(new Key(region.device(), region.lkey()));
            closed.remove(new Key(region.device(), region.rkey()));
        }
    }

    @Override
    public void onUnregister(TrackedRegion region) {
        CallPlace here = CallPlace.here();
        MemorySegment memory = region.memory();
        if (region.isRegistered() && memory != null && !memory.scope().isAlive()) {
            findings.tell(
                    Rule.ARENA_CLOSED,
                    "the arena of a region's memory was closed before the region.",
                    here,
                    "it was registered",
                    region.made());
        }
        TrackedRequest own = findOwn(region);
        if (own != null) {
            findings.tell(
                    Rule.REGION_BUSY,
                    "a region was closed that a request under way names.",
                    here,
                    "the request was posted",
                    own.place());
        }
        TrackedRequest remote = findRemote(region);
        if (remote != null) {
            findings.tell(
                    Rule.REMOTE_BUSY,
                    "a region was closed that a peer's request under way names.",
                    here,
                    "the peer has posted it",
                    remote.place());
        }
    }

    @Override
    public void onUnregistered(TrackedRegion region) {
        CallPlace here = CallPlace.here();
        synchronized (closed) {
            closed.put(new Key(region.device(), region.lkey()), here);
            closed.put(new Key(region.device(), region.rkey()), here);
        }
    }

    private @Nullable TrackedRequest findOwn(TrackedRegion region) {
        Predicate<TrackedRequest> names =
                request -> request.pieces().stream().anyMatch(piece -> piece.region() == region);
        for (TrackedPair each : pairs(region.device())) {
            if (isWorking(each)) {
                List<TrackedRequest> all = new ArrayList<>(each.sendsUnderWay());
                all.addAll(each.queues().receives().underWay());
                TrackedRequest found = all.stream().filter(names).findFirst().orElse(null);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    private @Nullable TrackedRequest findRemote(TrackedRegion region) {
        for (TrackedDevice device : checker.devices()) {
            for (TrackedPair each : pairs(device)) {
                TrackedPair peer = isWorking(each) ? checker.peer(each).orElse(null) : null;
                if (peer != null && peer.device() == region.device()) {
                    for (TrackedRequest request : each.sendsUnderWay()) {
                        if (isRemote(request) && request.rkey() == region.rkey()) {
                            return request;
                        }
                    }
                }
            }
        }
        return null;
    }

    /// Returns whether it has not failed: one that has is done with its requests, and says so when it is polled.
    private static boolean isWorking(TrackedPair pair) {
        return pair.attributes() != null && pair.queuePair().state() != QpState.ERR;
    }

    private static List<TrackedPair> pairs(TrackedDevice device) {
        List<TrackedPair> all = new ArrayList<>();
        for (TrackedObject each : device.objects()) {
            if (each instanceof TrackedPair pair) {
                all.add(pair);
            }
        }
        return all;
    }

    static boolean isRemote(TrackedRequest request) {
        SendOperation operation = request.operation();
        return operation != null
                && switch (operation) {
                    case WRITE, WRITE_WITH_IMMEDIATE, READ, FETCH_ADD, COMPARE_SWAP, ATOMIC_WRITE -> true;
                    default -> false;
                };
    }

    @Override
    public void onPost(TrackedRequest request) {
        for (Piece each : request.pieces()) {
            TrackedRegion region = each.region();
            MemorySegment memory = region == null ? null : region.memory();
            if (region != null
                    && region.isRegistered()
                    && memory != null
                    && !memory.scope().isAlive()) {
                findings.tell(
                        Rule.ARENA_CLOSED,
                        "a request names a region whose memory is gone: its arena was closed.",
                        request.place(),
                        "it was registered",
                        region.made());
            }
        }
        TrackedPair pair = TrackedPair.of(request);
        if (pair == null) {
            return;
        }
        for (Piece each : request.pieces()) {
            if (each.region() == null) {
                checkKey(pair.device(), each.lkey(), "that was closed", request);
            }
        }
        TrackedPair peer = isRemote(request) ? checker.peer(pair).orElse(null) : null;
        if (peer != null) {
            checkKey(peer.device(), request.rkey(), "that its owner has closed", request);
        }
    }

    private void checkKey(TrackedDevice device, int key, String how, TrackedRequest request) {
        CallPlace where;
        synchronized (closed) {
            where = closed.get(new Key(device, key));
        }
        if (where != null) {
            findings.tell(
                    Rule.KEY_CLOSED,
                    "a request names the key of a region " + how + ".",
                    request.place(),
                    "the region was closed",
                    where);
        }
    }
}

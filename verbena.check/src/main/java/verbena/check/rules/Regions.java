package verbena.check.rules;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
import verbena.check.TrackedRequest.Flag;
import verbena.check.TrackedRequest.Piece;
import verbena.check.Watcher;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;

/// Watches how regions end.
final class Regions extends Watcher {
    private final Checker checker;
    private final Findings findings;
    private final EndedKeys closed = new EndedKeys();
    /// The number of messages that the program has taken, by the queue pair that received them.
    private final Map<TrackedPair, Long> taken = new ConcurrentHashMap<>();

    Regions(Checker checker) {
        super(Set.of(
                Event.POST,
                Event.MESSAGE,
                Event.REGISTER,
                Event.REREGISTER,
                Event.UNREGISTER,
                Event.UNREGISTERED,
                Event.MODIFY,
                Event.CLOSE));
        this.checker = checker;
        this.findings = checker.findings();
    }

    @Override
    public void onRegister(TrackedRegion region) {
        closed.begin(region.device(), region.lkey());
        closed.begin(region.device(), region.rkey());
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
        checkBusy(region, "closed", here);
    }

    @Override
    public void onReregister(TrackedRegion region) {
        checkBusy(region, "registered anew", CallPlace.here());
    }

    private void checkBusy(TrackedRegion region, String what, CallPlace here) {
        TrackedRequest own = findOwn(region);
        if (own != null) {
            findings.tell(
                    Rule.REGION_BUSY,
                    "a region was " + what + " that an outstanding request names.",
                    here,
                    "the request was posted",
                    own.place());
        }
        TrackedRequest remote = findRemote(region.device(), region.rkey());
        if (remote != null) {
            findings.tell(
                    Rule.REMOTE_BUSY,
                    "a region was " + what + " that an outstanding request of a peer names.",
                    here,
                    "the peer has posted it",
                    remote.place());
        }
    }

    @Override
    public void onUnregistered(TrackedRegion region) {
        CallPlace here = CallPlace.here();
        closed.end(region.device(), region.lkey(), here);
        closed.end(region.device(), region.rkey(), here);
    }

    private @Nullable TrackedRequest findOwn(TrackedRegion region) {
        Predicate<TrackedRequest> names =
                request -> Arrays.stream(request.pieces()).anyMatch(piece -> piece.region() == region);
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

    /// Returns an outstanding request that names a key of a device, and of which the device's side has not heard.
    private @Nullable TrackedRequest findRemote(TrackedDevice of, int rkey) {
        for (TrackedDevice device : checker.devices()) {
            for (TrackedPair each : pairs(device)) {
                TrackedPair peer = isWorking(each) ? checker.peer(each).orElse(null) : null;
                if (peer != null && peer.device() == of) {
                    for (TrackedRequest request : notSeenBy(peer, each)) {
                        if (isRemote(request) && request.rkey() == rkey) {
                            return request;
                        }
                    }
                }
            }
        }
        return null;
    }

    /// Returns the outstanding requests of which the peer has taken no message, neither theirs nor one behind them: a
    /// message says that all before it were carried out.
    private List<TrackedRequest> notSeenBy(TrackedPair peer, TrackedPair poster) {
        long unseen = poster.messages() - taken.getOrDefault(peer, 0L);
        List<TrackedRequest> all = poster.sendsUnderWay();
        for (int i = all.size() - 1; i >= 0; i--) {
            unseen -= TrackedPair.takesReceive(all.get(i)) ? 1 : 0;
            if (unseen < 0) {
                return all.subList(i + 1, all.size());
            }
        }
        return all;
    }

    @Override
    public void onMessage(TrackedPair pair) {
        taken.merge(pair, 1L, Long::sum);
    }

    @Override
    public void onModify(TrackedPair pair, QpState before, List<TrackedRequest> lost) {
        if (pair.queuePair().state() == QpState.RESET) {
            taken.remove(pair);
        }
    }

    @Override
    public void onClose(TrackedPair pair, QpState before, List<TrackedRequest> lost) {
        taken.remove(pair);
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
            CallPlace where = each.region() == null ? closed.place(pair.device(), each.lkey()) : null;
            if (where != null) {
                tellClosed("that was closed", request, where);
            }
        }
        if (request.operation() == SendOperation.LOCAL_INVALIDATE) {
            checkInvalidated(request, pair);
        }
        boolean hasKey = isRemote(request) || request.operation() == SendOperation.SEND_WITH_INVALIDATE;
        TrackedPair peer =
                hasKey && !request.has(Flag.FAULTY) ? checker.peer(pair).orElse(null) : null;
        if (peer != null && checker.region(peer.device(), request.rkey()) == null) {
            checkKey(request, peer);
        }
    }

    private void checkInvalidated(TrackedRequest request, TrackedPair pair) {
        TrackedRequest remote = findRemote(pair.device(), request.rkey());
        if (remote != null) {
            findings.tell(
                    Rule.REMOTE_BUSY,
                    "a key was invalidated that an outstanding request of a peer names.",
                    request.place(),
                    "the peer has posted it",
                    remote.place());
        }
    }

    /// Checks a request whose key is of no open region.
    private void checkKey(TrackedRequest request, TrackedPair peer) {
        CallPlace where = closed.place(peer.device(), request.rkey());
        // Programs that want a failure name key 0, and a request without bytes names no memory.
        boolean isUnknown =
                request.rkey() != 0 && request.bytes() > 0 && !peer.device().hasWindows();
        // A queue pair that has failed, or was closed before the region, lets no request through to memory.
        if ((where == null && !isUnknown) || !isWorking(peer) || !checker.isOpen(peer)) {
            return;
        }
        if (where != null) {
            tellClosed("that its owner has closed", request, where);
        } else {
            findings.tell(
                    Rule.NO_ACCESS,
                    "a " + request.operation() + " names the key 0x" + Integer.toHexString(request.rkey())
                            + ", and its peer has no region with that key.",
                    request.place(),
                    "the peer was set",
                    peer.connected());
        }
    }

    private void tellClosed(String how, TrackedRequest request, CallPlace where) {
        findings.tell(
                Rule.KEY_CLOSED,
                "a request names the key of a region " + how + ".",
                request.place(),
                "the region was closed",
                where);
    }
}

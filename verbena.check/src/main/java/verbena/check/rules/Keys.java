package verbena.check.rules;

import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.Checker.MemoryKey;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedDevice;
import verbena.check.TrackedObject;
import verbena.check.TrackedPair;
import verbena.check.TrackedRegion;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Binding;
import verbena.check.TrackedRequest.Flushing;
import verbena.check.TrackedRequest.Piece;
import verbena.check.Watcher;
import verbena.verbs.Access;
import verbena.verbs.FlushTarget;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.spi.SendOperation;

/// Watches the keys by which peers reach memory.
final class Keys extends Watcher {
    /// Requests for a device from which on a region should have had one.
    private static final int MANY = 64;
    private static final int WINDOWS = 4_096;
    private static final Set<Access> REMOTE = EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);

    /// Memory that peers may access.
    ///
    /// @param what a region or a window
    /// @param begin the address of the first byte, as peers name it
    /// @param pair the only queue pair by which peers may; null for any
    private record Grant(
            Object what,
            long begin,
            long length,
            Set<Access> access,
            @Nullable TrackedPair pair,
            CallPlace where) {
        static Grant of(TrackedRegion region) {
            long begin = region.region().address();
            return new Grant(region, begin, region.length(), region.region().access(), null, region.made());
        }

        static Grant of(Binding window, TrackedPair pair, CallPlace bound) {
            long begin = window.access().contains(Access.ZERO_BASED) ? 0 : window.address();
            return new Grant(
                    "a window", begin, window.length(), window.access(), window.isOfPair() ? pair : null, bound);
        }
    }

    private final Checker checker;
    private final Findings findings;
    private final EndedKeys invalid = new EndedKeys();
    /// The windows that were bound, by their keys. The oldest are forgotten.
    private final Map<MemoryKey, Grant> bound = Collections.synchronizedMap(new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<MemoryKey, Grant> eldest) {
            return size() > WINDOWS;
        }
    });

    private final Set<TrackedRegion> used = ConcurrentHashMap.newKeySet();
    private final Map<TrackedDevice, AtomicLong> requests = new ConcurrentHashMap<>();

    Keys(Checker checker) {
        super(Set.of(Event.POST, Event.END, Event.WINDOW_CLOSED, Event.REGISTER, Event.UNREGISTER, Event.UNREGISTERED));
        this.checker = checker;
        this.findings = checker.findings();
    }

    @Override
    public void onPost(TrackedRequest request) {
        TrackedPair pair = TrackedPair.of(request);
        SendOperation operation = request.operation();
        checkLocal(request, pair);
        if (pair == null || operation == null) {
            return;
        }
        if ((operation.isAtomic() || operation == SendOperation.ATOMIC_WRITE)
                && request.remoteAddress() % Long.BYTES != 0) {
            findings.tell(
                    Rule.ATOMIC_UNALIGNED,
                    "a " + operation + " names the address " + Long.toHexString(request.remoteAddress())
                            + ", which is not that of a word.",
                    request.place(),
                    "the queue pair was made",
                    pair.made());
        }
        if (request.detail() instanceof Binding binding) {
            invalid.begin(pair.device(), request.rkey());
            bound.put(new MemoryKey(pair.device(), request.rkey()), Grant.of(binding, pair, request.place()));
            checkBinding(request, binding);
        }
        boolean hasKey = Regions.isRemote(request) || request.detail() instanceof Flushing;
        TrackedPair peer = hasKey ? checker.peer(pair).orElse(null) : null;
        if (peer != null) {
            checkKey(request, peer.device());
            TrackedRegion region = checker.region(peer.device(), request.rkey());
            if (region != null) {
                used.add(region);
                checkRemote(request, operation, region, peer);
            } else if (!bound.isEmpty()) {
                checkWindow(request, operation, bound.get(new MemoryKey(peer.device(), request.rkey())), peer);
            }
        }
    }

    /// @param pair null for a shared receive queue, to which the device lets no region of another domain
    private void checkLocal(TrackedRequest request, @Nullable TrackedPair pair) {
        for (Piece each : request.pieces()) {
            TrackedRegion region = each.region();
            if (region == null || region.rkey() == 0 || each.length() == 0) { // one without memory takes everything
                continue;
            }
            if (pair != null && isElsewhere(region, pair)) {
                tellAccess(request, "a request names " + region + " of another protection domain.", region.made());
            } else if (isBeyond(each, region)) {
                tellAccess(
                        request,
                        "a request names " + each.length() + " bytes, of which some are outside of " + region + ".",
                        region.made());
            } else if (request.fillsMemory() && !region.region().access().contains(Access.LOCAL_WRITE)) {
                tellAccess(
                        request,
                        "a request fills " + region + ", which has no " + Access.LOCAL_WRITE + ".",
                        region.made());
            }
        }
    }

    /// Returns whether the region has memory, and the piece is not in it.
    private static boolean isBeyond(Piece piece, TrackedRegion region) {
        return piece.memory() == null
                && region.memory() != null
                && region.memory().scope().isAlive();
    }

    private static boolean isElsewhere(TrackedRegion region, TrackedPair pair) {
        return region.region().protectionDomain() != pair.queuePair().protectionDomain();
    }

    private void checkBinding(TrackedRequest request, Binding binding) {
        TrackedRegion region = binding.region();
        long offset = binding.address() - region.region().address();
        if (!region.region().access().contains(Access.MW_BIND)) {
            tellAccess(
                    request,
                    "a window is bound to " + region + ", which has no " + Access.MW_BIND + ".",
                    region.made());
        } else if ((binding.access().contains(Access.REMOTE_WRITE)
                        || binding.access().contains(Access.REMOTE_ATOMIC))
                && !region.region().access().contains(Access.LOCAL_WRITE)) {
            tellAccess(
                    request,
                    "a window lets peers write to " + region + ", which has no " + Access.LOCAL_WRITE + ".",
                    region.made());
        } else if (offset < 0 || offset > region.length() - binding.length()) {
            tellAccess(
                    request,
                    "a window of " + binding.length() + " bytes begins at byte " + offset + " of " + region + ", of "
                            + region.length() + " bytes.",
                    region.made());
        }
    }

    /// @param window what was bound; null when it is not known
    private void checkWindow(
            TrackedRequest request, SendOperation operation, @Nullable Grant window, TrackedPair peer) {
        if (window != null && !goesBeyond(request, operation, window) && window.pair != null && window.pair != peer) {
            tellAccess(
                    request,
                    "a " + operation + " names a window of type 2 that was bound on another queue pair.",
                    window.where);
        }
    }

    private static Access right(SendOperation operation, TrackedRequest request) {
        return switch (operation) {
            case READ -> Access.REMOTE_READ;
            case FETCH_ADD, COMPARE_SWAP -> Access.REMOTE_ATOMIC;
            case FLUSH ->
                request.detail() instanceof Flushing flushing
                                && flushing.targets().contains(FlushTarget.PERSISTENT)
                        ? Access.FLUSH_PERSISTENT
                        : Access.FLUSH_GLOBAL;
            default -> Access.REMOTE_WRITE;
        };
    }

    /// Returns the bytes of the peer's memory that a request names.
    private static long bytes(SendOperation operation, TrackedRequest request) {
        return request.detail() instanceof Flushing flushing
                ? flushing.length()
                : RaceWatcher.bytes(operation, request);
    }

    private void checkRemote(TrackedRequest request, SendOperation operation, TrackedRegion region, TrackedPair peer) {
        Access right = right(operation, request);
        QueuePairAttributes its = peer.attributes();
        if (bytes(operation, request) == 0) {
            return;
        }
        if (isElsewhere(region, peer)) {
            tellAccess(
                    request, "a " + operation + " names " + region + " of another protection domain.", region.made());
        } else if (!goesBeyond(request, operation, Grant.of(region))
                && operation != SendOperation.FLUSH
                && its != null
                && its.peer().path().isPresent()
                && !its.access().contains(right)) {
            tellAccess(
                    request,
                    "a " + operation + " is for a queue pair that does not allow " + right + ".",
                    peer.connected());
        }
    }

    /// Tells of a request that goes beyond what was given; returns whether it does.
    private boolean goesBeyond(TrackedRequest request, SendOperation operation, Grant given) {
        Access right = right(operation, request);
        long bytes = bytes(operation, request);
        long offset = request.remoteAddress() - given.begin;
        String wrong;
        if (bytes == 0) {
            return false;
        } else if (!given.access.contains(right)) {
            wrong = "a " + operation + " names " + given.what + ", which has no " + right + ".";
        } else if (offset < 0 || offset > given.length - bytes) {
            wrong = "a " + operation + " of " + bytes + " bytes begins at byte " + offset + " of " + given.what
                    + ", of " + given.length + " bytes.";
        } else {
            return false;
        }
        tellAccess(request, wrong, given.where);
        return true;
    }

    private void tellAccess(TrackedRequest request, String what, CallPlace given) {
        findings.tell(Rule.NO_ACCESS, what, request.place(), "the rights were set", given);
    }

    private void checkKey(TrackedRequest request, TrackedDevice device) {
        requests.computeIfAbsent(device, _ -> new AtomicLong()).incrementAndGet();
        CallPlace where = invalid.place(device, request.rkey());
        if (where != null) {
            findings.tell(
                    Rule.KEY_INVALID,
                    "a request names a key that was invalidated before, itself or with its window.",
                    request.place(),
                    "the key was invalidated",
                    where);
        }
    }

    @Override
    public void onEnd(TrackedRequest request, boolean isOk) {
        TrackedPair pair = TrackedPair.of(request);
        TrackedDevice owner = pair == null || !isOk ? null : ownerOfInvalidated(request, pair);
        if (owner != null) {
            invalid.end(owner, request.rkey(), request.place());
            bound.remove(new MemoryKey(owner, request.rkey()));
        }
    }

    /// Returns the device whose key a request has invalidated; null when it has invalidated none that is known.
    private @Nullable TrackedDevice ownerOfInvalidated(TrackedRequest request, TrackedPair pair) {
        if (request.operation() == SendOperation.LOCAL_INVALIDATE) {
            return pair.device();
        }
        return request.operation() == SendOperation.SEND_WITH_INVALIDATE
                ? checker.peer(pair).map(TrackedPair::device).orElse(null)
                : null;
    }

    @Override
    public void onWindowClosed(TrackedDevice device, int rkey) {
        invalid.end(device, rkey, CallPlace.here());
        bound.remove(new MemoryKey(device, rkey));
    }

    @Override
    public void onRegister(TrackedRegion region) {
        invalid.begin(region.device(), region.rkey());
    }

    @Override
    public void onUnregister(TrackedRegion region) {
        AtomicLong count = requests.get(region.device());
        boolean isRemote = region.region().access().stream().anyMatch(REMOTE::contains);
        if (isRemote && count != null && count.get() >= MANY && !used.contains(region) && hasNoOtherPeers(region)) {
            findings.tell(
                    Rule.RIGHT_UNUSED,
                    "a region gave rights to peers, and none of their " + count.get() + " requests has used it.",
                    CallPlace.here(),
                    "it was registered",
                    region.made());
        }
    }

    /// Returns whether all peers of the device are in this process, so that no other can have used the
    /// region. The key of a window is another one.
    private boolean hasNoOtherPeers(TrackedRegion region) {
        for (TrackedObject each : region.device().objects()) {
            if (each instanceof TrackedPair pair && checker.peer(pair).isEmpty()) {
                return false;
            }
        }
        return !region.region().access().contains(Access.MW_BIND);
    }

    @Override
    public void onUnregistered(TrackedRegion region) {
        used.remove(region);
    }
}

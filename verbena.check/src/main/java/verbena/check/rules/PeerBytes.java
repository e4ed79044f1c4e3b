package verbena.check.rules;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.Rule;
import verbena.check.TrackedDevice;
import verbena.check.TrackedObject;
import verbena.check.TrackedPair;
import verbena.check.TrackedRegion;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Piece;
import verbena.check.Watcher;
import verbena.check.races.RaceStep;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.spi.SendOperation;

/// Watches the bytes of the peer that outstanding READs read, where both ends are in this process. If they change, and
/// no request can have changed them, a processor has. If they do not, the target of the READ is a copy of them. Only
/// regions count that no peer has ever changed: of others this process need not see yet what a completed request has
/// changed.
///
/// A READ of one word may be a look at a flag, and so may one of a cache line in which always the same word changes. A
/// program that reads words of a region by themselves has a protocol of versions there, so none of its READs of that
/// region counts.
final class PeerBytes extends Watcher {
    /// The most READs that are watched at once: enough for one of a loop to be among them.
    private static final int WATCHED = 16;
    /// The most objects of a process in which anything is watched, because all are looked at for each READ.
    private static final int OBJECTS = 256;
    /// Bytes that are all looked at; of more, as many at each end.
    private static final long WHOLE = 64 << 10;
    private static final long LINE = 64;
    /// The most lines of which it is known which word is the flag.
    private static final int FLAGS = 1_024;

    private static final long SEVERAL = -1;

    /// An outstanding READ.
    private static final class Watched {
        final TrackedRequest request;
        final TrackedRegion region;
        final MemorySegment bytes;
        /// The sum of the bytes when it was posted.
        final long before;
        /// The bytes when it was posted, where a cache line holds them.
        final @Nullable MemorySegment line;
        boolean isShared;

        Watched(TrackedRequest request, TrackedRegion region, MemorySegment bytes) {
            this.request = request;
            this.region = region;
            this.bytes = bytes;
            this.before = Sums.of(bytes, WHOLE, 0);
            this.line = bytes.byteSize() <= LINE ? copy(bytes) : null;
        }

        private static @Nullable MemorySegment copy(MemorySegment bytes) {
            try {
                return MemorySegment.ofArray(bytes.toArray(JAVA_BYTE));
            } catch (IllegalStateException e) {
                return null; // its arena was closed meanwhile
            }
        }

        boolean isChanged() {
            return Sums.of(bytes, WHOLE, 0) != before;
        }

        /// Returns the number of the only word of a line that has changed; [#SEVERAL] when it is not the only one.
        long changedWord() {
            MemorySegment old = line;
            if (old == null) {
                return SEVERAL;
            }
            try {
                long word = (bytes.address() + bytes.mismatch(old)) / Long.BYTES;
                long behind = (word + 1) * Long.BYTES - bytes.address();
                return behind >= bytes.byteSize() || bytes.asSlice(behind).mismatch(old.asSlice(behind)) < 0
                        ? word
                        : SEVERAL;
            } catch (IllegalStateException e) {
                return SEVERAL; // its arena was closed meanwhile
            }
        }
    }

    /// A finding that a later look at a version takes back.
    private record Told(CallPlace here, CallPlace earlier) {}

    private final Checker checker;
    private final List<Watched> watched = new ArrayList<>();
    private final Map<TrackedRegion, List<Told>> told = new WeakHashMap<>();
    /// The number of the word that has changed while a line was read, by the first byte that was read.
    private final Map<Long, Long> flags = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
            return size() > FLAGS;
        }
    };
    /// The regions of which a program reads words by themselves.
    private final Map<TrackedRegion, Boolean> versioned = new WeakHashMap<>();

    PeerBytes(Checker checker) {
        super(Set.of(Event.POST, Event.END, Event.DROP, Event.UNREGISTERED));
        this.checker = checker;
    }

    @Override
    public synchronized void onPost(TrackedRequest request) {
        if (!watched.isEmpty()) {
            for (Watched each : watched) {
                each.isShared |= mayChange(request, each.bytes);
            }
        }
        if (request.operation() == SendOperation.READ) {
            watch(request);
        }
    }

    private void watch(TrackedRequest request) {
        List<TrackedRegion> targets = checker.targets(request);
        TrackedRegion region = targets.size() == 1 ? targets.getFirst() : null;
        MemorySegment bytes = region == null ? null : target(region, request);
        if (region == null || bytes == null) {
            return;
        }
        if (bytes.byteSize() <= Long.BYTES) {
            versioned.put(region, true);
            List<Told> none = told.remove(region);
            if (none != null) {
                none.forEach(each -> checker.findings().retract(Rule.RACE_PROCESSOR, each.here, each.earlier));
            }
            return;
        }
        if (region.isChangedByPeers() || versioned.containsKey(region)) {
            return;
        }
        if (watched.size() < WATCHED && bytes.scope().isAlive() && !mayChange(region.device(), request, bytes)) {
            watched.add(new Watched(request, region, bytes));
        }
    }

    /// Returns whether an outstanding request may change these bytes, or one of another process.
    private boolean mayChange(TrackedDevice owner, TrackedRequest own, MemorySegment bytes) {
        int objects = 0;
        for (TrackedDevice device : checker.devices()) {
            for (TrackedObject each : device.objects()) {
                if (++objects > OBJECTS || (each instanceof TrackedPair pair && mayChange(owner, pair, own, bytes))) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean mayChange(TrackedDevice owner, TrackedPair pair, TrackedRequest own, MemorySegment bytes) {
        if (pair.device() == owner && isConnected(pair) && checker.peer(pair).isEmpty()) {
            return true;
        }
        return pair.queues().receives().underWay().stream().anyMatch(each -> fills(each, bytes))
                || pair.sendsUnderWay().stream().anyMatch(each -> each != own && mayChange(each, bytes));
    }

    /// Returns whether a request may change these bytes. One whose key is a window's may change any of its peer.
    private boolean mayChange(TrackedRequest request, MemorySegment bytes) {
        if (fills(request, bytes)) {
            return true;
        }
        for (TrackedRegion each : changes(request) ? checker.targets(request) : List.<TrackedRegion>of()) {
            MemorySegment target = target(each, request);
            if (each.rkey() != request.rkey() || (target != null && overlap(target, bytes))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isConnected(TrackedPair pair) {
        var attributes = pair.attributes();
        QpState state = attributes == null ? QpState.RESET : attributes.state();
        return pair.options().type() != QpType.UD && (state == QpState.RTR || state == QpState.RTS);
    }

    /// Returns whether a request changes memory of the peer.
    private static boolean changes(TrackedRequest request) {
        SendOperation operation = request.operation();
        RaceStep.Kind kind = operation == null ? null : RaceWatcher.kind(operation);
        return kind != null && kind != RaceStep.Kind.READ;
    }

    private static boolean fills(TrackedRequest request, MemorySegment bytes) {
        if (request.fillsMemory()) {
            for (Piece each : request.pieces()) {
                if (each.memory() != null && overlap(each.memory(), bytes)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean overlap(MemorySegment one, MemorySegment other) {
        return one.address() < other.address() + other.byteSize() && other.address() < one.address() + one.byteSize();
    }

    private static @Nullable MemorySegment target(TrackedRegion region, TrackedRequest request) {
        SendOperation operation = Objects.requireNonNull(request.operation(), "a receive has no target");
        return region.part(request.remoteAddress() - region.region().address(), RaceWatcher.bytes(operation, request));
    }

    @Override
    public void onEnd(TrackedRequest request, boolean isOk) {
        if (request.operation() == SendOperation.READ) {
            ended(request, isOk);
        }
    }

    private synchronized void ended(TrackedRequest request, boolean isOk) {
        Watched ended = take(request);
        if (ended == null || !isOk || ended.isShared || !ended.bytes.scope().isAlive()) {
            return;
        }
        if (!ended.isChanged()) {
            checkTarget(ended);
        } else if (!versioned.containsKey(ended.region) && !isFlag(ended)) {
            told.computeIfAbsent(ended.region, _ -> new ArrayList<>()).add(tell(ended));
        }
    }

    private void checkTarget(Watched read) {
        if (!read.request.isShared() && isOverwritten(read)) {
            checker.findings()
                    .tell(
                            Rule.TARGET_WRITTEN,
                            "the target of a READ has other bytes than the memory that it has read.",
                            CallPlace.here(),
                            "it was posted",
                            read.request.place());
        }
    }

    /// Returns whether the target of a READ differs from what it has read, and no peer can have changed it.
    private static boolean isOverwritten(Watched read) {
        boolean differs = false;
        long at = 0;
        for (Piece each : read.request.pieces()) {
            MemorySegment memory = each.memory();
            if (memory == null || each.region() == null || each.region().isChangedByPeers()) {
                return false;
            }
            differs |= differs(read.bytes.asSlice(at, each.length()), memory);
            at += each.length();
        }
        return differs;
    }

    private static boolean differs(MemorySegment one, MemorySegment other) {
        long bytes = one.byteSize();
        long head = Math.min(bytes, WHOLE);
        long tail = Math.max(head, bytes - WHOLE);
        try {
            return MemorySegment.mismatch(one, 0, head, other, 0, head) >= 0
                    || MemorySegment.mismatch(one, tail, bytes, other, tail, bytes) >= 0;
        } catch (IllegalStateException e) {
            return false; // the arena of one was closed meanwhile
        }
    }

    private boolean isFlag(Watched read) {
        long word = read.changedWord();
        Long known = word == SEVERAL ? null : flags.putIfAbsent(read.bytes.address(), word);
        return word != SEVERAL && (known == null || known == word);
    }

    private Told tell(Watched of) {
        var finding = new Told(CallPlace.here(), of.request.place());
        checker.findings()
                .tell(
                        Rule.RACE_PROCESSOR,
                        "the owner's processor has changed bytes of " + of.region
                                + " that an outstanding READ reads: no request can have done it.",
                        finding.here,
                        "it was posted",
                        finding.earlier);
        return finding;
    }

    @Override
    public synchronized void onDrop(TrackedRequest request) {
        Watched _ = take(request);
    }

    private @Nullable Watched take(TrackedRequest request) {
        for (int i = 0; i < watched.size(); i++) {
            if (watched.get(i).request == request) {
                return watched.remove(i);
            }
        }
        return null;
    }

    @Override
    public synchronized void onUnregistered(TrackedRegion region) {
        watched.removeIf(each -> each.region == region);
        MemorySegment memory = region.memory();
        if (memory != null) {
            flags.keySet().removeIf(each -> each >= memory.address() && each < memory.address() + memory.byteSize());
        }
    }
}

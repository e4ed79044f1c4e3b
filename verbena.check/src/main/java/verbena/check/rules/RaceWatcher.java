package verbena.check.rules;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.check.TrackedPair;
import verbena.check.TrackedRegion;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Flag;
import verbena.check.TrackedRequest.Piece;
import verbena.check.Watcher;
import verbena.check.races.RaceStep.Kind;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.spi.SendOperation;

/// Translates what the program does into accesses to memory. Only reliable connections count: of others no completion
/// says what the peer has.
abstract class RaceWatcher extends Watcher {
    /// Bytes of this process that the device takes or fills.
    ///
    /// @param from address in this process
    record Local(Kind kind, TrackedRegion region, long from, long length) {}

    private static final Set<Event> EVENTS =
            EnumSet.of(Event.POST, Event.END, Event.DROP, Event.ACCESS, Event.MODIFY, Event.CLOSE);

    /// @param more events of which it hears, beyond those of all
    RaceWatcher(Set<Event> more) {
        super(Stream.concat(EVENTS.stream(), more.stream()).collect(Collectors.toSet()));
    }

    /// Hears of a request that is about to be posted.
    ///
    /// @param kind of its access to the peer's memory; null when it has none
    abstract void posted(
            TrackedPair pair, TrackedRequest request, SendOperation operation, @Nullable Kind kind, List<Local> local);

    /// Hears that the program has seen a request end.
    abstract void ended(TrackedPair pair, long number, boolean isOk);

    /// Hears that a request will not be seen to end.
    abstract void dropped(TrackedPair pair, long number);

    /// Hears that a queue pair was reset or closed.
    abstract void over(TrackedPair pair);

    /// Hears of loads or stores of a processor.
    ///
    /// @param from address in this process
    abstract void accessed(TrackedRegion region, Kind kind, long from, long length);

    static boolean isReliable(TrackedPair pair) {
        return pair.options().type() == QpType.RC;
    }

    private static @Nullable TrackedPair reliable(TrackedRequest request) {
        TrackedPair pair = TrackedPair.of(request);
        return pair == null || request.isReceive() || !isReliable(pair) ? null : pair;
    }

    /// Returns how an operation accesses the peer's memory; null when it does not.
    static @Nullable Kind kind(SendOperation operation) {
        return switch (operation) {
            case READ -> Kind.READ;
            case WRITE, WRITE_WITH_IMMEDIATE -> Kind.WRITE;
            case FETCH_ADD, COMPARE_SWAP, ATOMIC_WRITE -> Kind.ATOMIC;
            default -> null;
        };
    }

    /// Returns the bytes of the peer's memory that a request accesses.
    static long bytes(SendOperation operation, TrackedRequest request) {
        return operation == SendOperation.ATOMIC_WRITE ? Long.BYTES : request.bytes();
    }

    @Override
    public final void onPost(TrackedRequest request) {
        TrackedPair pair = reliable(request);
        SendOperation operation = request.operation();
        if (pair == null || operation == null || request.has(Flag.FAULTY)) {
            return;
        }
        List<Local> local = new ArrayList<>(1);
        for (Piece each : request.pieces()) {
            TrackedRegion region = each.region();
            if (region != null && each.memory() != null) {
                local.add(new Local(
                        request.fillsMemory() ? Kind.FILL : Kind.GATHER,
                        region,
                        each.memory().address(),
                        each.length()));
            }
        }
        posted(pair, request, operation, kind(operation), local);
    }

    @Override
    public final void onEnd(TrackedRequest request, boolean isOk) {
        TrackedPair pair = reliable(request);
        if (pair != null) {
            ended(pair, request.number(), isOk);
        }
    }

    @Override
    public final void onDrop(TrackedRequest request) {
        TrackedPair pair = reliable(request);
        if (pair != null) {
            dropped(pair, request.number());
        }
    }

    @Override
    public void onModify(TrackedPair pair, QpState before, List<TrackedRequest> lost) {
        if (pair.queuePair().state() == QpState.RESET) {
            over(pair);
        }
    }

    @Override
    public final void onClose(TrackedPair pair, QpState before, List<TrackedRequest> lost) {
        over(pair);
    }

    @Override
    public final void onAccess(TrackedRegion region, long offset, long length, boolean isStore) {
        if (region.memory() != null) {
            accessed(region, isStore ? Kind.STORE : Kind.LOAD, region.memory().address() + offset, length);
        }
    }
}

package verbena.check.device;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import verbena.check.Checker;
import verbena.check.TrackedDevice;
import verbena.check.TrackedPair;
import verbena.check.TrackedQueue;
import verbena.check.TrackedRegion;
import verbena.check.TrackedRequest;
import verbena.verbs.WcOpcode;
import verbena.verbs.WorkCompletion;

/// The notes that the objects of one checked context share: which of the layer's objects stands for which of the
/// device's. Any thread.
final class Layer {
    private final Checker checker;
    private final TrackedDevice device;
    private final Map<Object, Object> outer = new ConcurrentHashMap<>();
    private final Map<Integer, TrackedPair> pairs = new ConcurrentHashMap<>();
    private final Map<Integer, TrackedRegion> regions = new ConcurrentHashMap<>();

    Layer(Checker checker, TrackedDevice device) {
        this.checker = checker;
        this.device = device;
    }

    Checker checker() {
        return checker;
    }

    TrackedDevice device() {
        return device;
    }

    /// Returns the layer's object for one of the device's.
    ///
    /// @throws IllegalStateException when there is none
    <T> T outer(Class<T> kind, Object inner) {
        Object known = outer.get(inner);
        if (known == null) {
            throw new IllegalStateException(inner + " was not made through the layer of checks");
        }
        return kind.cast(known);
    }

    /// Returns the layer's object for one of the device's; empty when it is closed.
    <T> Optional<T> known(Class<T> kind, Object inner) {
        return Optional.ofNullable(outer.get(inner)).map(kind::cast);
    }

    void put(Object inner, Object its) {
        outer.put(inner, its);
    }

    void remove(Object inner) {
        outer.remove(inner);
    }

    void opened(TrackedPair pair) {
        pairs.put(pair.qpn(), pair);
        checker.opened(pair);
    }

    void closed(TrackedPair pair) {
        pairs.remove(pair.qpn(), pair);
        checker.closed(pair);
    }

    void opened(TrackedRegion region) {
        regions.put(region.lkey(), region);
        checker.opened(region);
    }

    void closed(TrackedRegion region) {
        regions.remove(region.lkey(), region);
        checker.closed(region);
    }

    /// Returns the open region of a key of this side; null when none has it.
    @Nullable
    TrackedRegion region(int lkey) {
        return regions.get(lkey);
    }

    /// Returns the piece of memory that a request names by key and address.
    TrackedRequest.Piece piece(int lkey, long address, long length) {
        TrackedRegion region = regions.get(lkey);
        return region == null
                ? new TrackedRequest.Piece(lkey, null, null, length)
                : piece(region, address - region.region().address(), length);
    }

    /// Returns the piece of memory that a request names as a part of a region.
    static TrackedRequest.Piece piece(TrackedRegion region, long offset, long length) {
        return new TrackedRequest.Piece(region.lkey(), region, region.part(offset, length), length);
    }

    /// Notes a completion that the program has taken.
    void completed(TrackedQueue queue, WorkCompletion completion) {
        checker.onPoll(queue, true);
        TrackedPair pair = pairs.get(completion.qpn());
        if (pair == null) { // it was closed meanwhile, or is a target of XRC
            for (TrackedQueue.Shared each : queue.extended()) {
                TrackedRequest receive = each.take(completion.wrId());
                if (receive != null) {
                    checker.onEnd(receive, completion.ok());
                    return;
                }
            }
            return;
        }
        boolean isOk = completion.ok();
        boolean isReceive = isReceive(pair, queue, completion);
        if (isReceive && isOk) {
            checker.onMessage(pair);
        }
        TrackedRequest receive = isReceive ? pair.endReceive(completion.wrId()) : null;
        List<TrackedRequest> sends = isReceive ? List.of() : pair.endSends(completion.wrId(), isOk);
        if (!isOk && (receive != null || !sends.isEmpty())) { // not of a request that a reset has dropped
            pair.failureSeen(Thread.currentThread());
        }
        if (receive != null) {
            checker.onEnd(receive, isOk);
        }
        for (TrackedRequest each : sends) {
            checker.onEnd(each, isOk || each.wrId() != completion.wrId());
        }
    }

    /// Returns whether it is of a receive. The opcode of a failed request is undefined: the queue decides, where it
    /// can.
    private static boolean isReceive(TrackedPair pair, TrackedQueue queue, WorkCompletion completion) {
        if (pair.queues().send() != pair.queues().receive()) {
            return queue == pair.queues().receive();
        }
        WcOpcode opcode = completion.opcode();
        return opcode == WcOpcode.RECV || opcode == WcOpcode.RECV_RDMA_WITH_IMM;
    }
}

package verbena.sim.script;

import java.lang.foreign.MemorySegment;
import verbena.transport.Counter;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.near.PeerMemory;
import verbena.transport.queue.SendRequest;
import verbena.verbs.Access;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;

/// The way from an end to its peer's memory, without packets: the peer's memory table decides. A line of the script
/// opens it and closes it, and says how many bytes go at once.
final class DirectWay implements PeerMemory {
    private static final int NONE = 0;

    private final End end;
    private int step = NONE;

    private long position = -1;
    private long done;

    DirectWay(End end) {
        this.end = end;
    }

    /// From now on, so many bytes of a request are carried out at once.
    void open(int bytes) {
        step = bytes;
    }

    /// From now on, everything is declined.
    void close() {
        step = NONE;
    }

    @Override
    public Progress execute(long at, SendRequest request, QueuePairParameters parameters, MemoryTable memory) {
        if (at != position) {
            position = at;
            done = 0;
        }
        if (step == NONE) {
            position = -1;
            return Progress.BY_PACKETS;
        }
        boolean isWord = request.operation.isAtomic() || request.operation == SendOperation.ATOMIC_WRITE;
        int bytes = isWord ? Long.BYTES : (int) Math.min(step, request.bytes() - done);
        MemoryVerdict verdict = isWord ? word(request, memory) : copy(request, memory, bytes);
        if (verdict != MemoryVerdict.OK) {
            position = -1;
            return Progress.BY_PACKETS;
        }
        done += bytes;
        return isWord || done == request.bytes() ? Progress.DONE : Progress.MORE;
    }

    /// Holds the connection to its promise: no completion tells of an error before this.
    @Override
    public void onModified() {
        long told =
                end.host.counters.get(Counter.COMPLETION_ERRORS) + end.host.counters.get(Counter.FLUSHED_COMPLETIONS);
        if (end.parameters.state == QpState.ERR && told > 0) {
            throw new AssertionError(end.name + " completed with an error before its peer's access had ended");
        }
    }

    @Override
    public boolean isReady(SendRequest request) {
        return step != NONE;
    }

    private MemoryVerdict copy(SendRequest request, MemoryTable memory, int bytes) {
        MemoryTable there = end.peer.host.memory;
        QueuePairParameters peer = end.peer.parameters;
        MemorySegment buffer = MemorySegment.ofArray(new byte[bytes]);
        long address = request.remoteAddress + done;
        if (request.operation == SendOperation.READ) {
            int right = Access.REMOTE_READ.bit();
            MemoryVerdict verdict =
                    there.read(request.rkey, peer.protectionDomain, peer.qpn, address, buffer, 0, bytes, right);
            return verdict == MemoryVerdict.OK
                    ? memory.scatter(request.scatter, End.DOMAIN, done, buffer, 0, bytes)
                    : verdict;
        }
        MemoryVerdict verdict = MemoryVerdict.OK;
        if (request.isInline) {
            MemorySegment.copy(request.inline, done, buffer, 0, bytes);
        } else {
            verdict = memory.gather(request.scatter, End.DOMAIN, done, buffer, 0, bytes);
        }
        int right = Access.REMOTE_WRITE.bit();
        return verdict == MemoryVerdict.OK
                ? there.write(request.rkey, peer.protectionDomain, peer.qpn, address, buffer, 0, bytes, right)
                : verdict;
    }

    private MemoryVerdict word(SendRequest request, MemoryTable memory) {
        MemoryTable there = end.peer.host.memory;
        QueuePairParameters peer = end.peer.parameters;
        int rkey = request.rkey;
        long address = request.remoteAddress;
        boolean isWrite = request.operation == SendOperation.ATOMIC_WRITE;
        int right = isWrite ? Access.REMOTE_WRITE.bit() : Access.REMOTE_ATOMIC.bit();
        MemoryVerdict verdict = there.checkRemote(rkey, peer.protectionDomain, peer.qpn, address, Long.BYTES, right);
        if (verdict != MemoryVerdict.OK) {
            return verdict;
        }
        verdict = switch (request.operation) {
            case FETCH_ADD -> there.fetchAdd(rkey, address, request.operand);
            case COMPARE_SWAP -> there.compareSwap(rkey, address, request.operand, request.swap);
            default -> there.atomicWrite(rkey, address, request.operand);
        };
        if (verdict != MemoryVerdict.OK || isWrite) {
            return verdict;
        }
        MemorySegment buffer = MemorySegment.ofArray(new long[] {there.original()});
        return memory.scatter(request.scatter, End.DOMAIN, 0, buffer, 0, Long.BYTES);
    }
}

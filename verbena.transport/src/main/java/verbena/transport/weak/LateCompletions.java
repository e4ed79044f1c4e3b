package verbena.transport.weak;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.ToLongFunction;
import verbena.transport.Protocol;
import verbena.transport.queue.CompletionRing;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// Completions that come to their ring later, in their order. Engine-confined.
final class LateCompletions extends CompletionRing {
    private record Late(
            long dueNanos,
            long wrId,
            WcStatus status,
            WcOpcode opcode,
            int vendorError,
            long byteLength,
            int immediateOrRkey,
            int qpn,
            long sender,
            int flags,
            String cause,
            boolean solicited) {}

    private final CompletionRing ring;
    /// The time at which the completion of such a request comes, if it is pushed now.
    private final ToLongFunction<WcOpcode> due;
    private final Deque<Late> late = new ArrayDeque<>();
    private long last = Long.MIN_VALUE;

    LateCompletions(CompletionRing ring, Listener none, ToLongFunction<WcOpcode> due) {
        super(1, none);
        this.ring = ring;
        this.due = due;
    }

    @Override
    public boolean push(
            long wrId,
            WcStatus status,
            WcOpcode opcode,
            int vendorError,
            long byteLength,
            int immediateOrRkey,
            int qpn,
            long sender,
            int flags,
            String cause,
            boolean solicited) {
        long own = due.applyAsLong(opcode);
        last = late.isEmpty() ? own : Math.max(last, own);
        late.add(new Late(
                last,
                wrId,
                status,
                opcode,
                vendorError,
                byteLength,
                immediateOrRkey,
                qpn,
                sender,
                flags,
                cause,
                solicited));
        return true;
    }

    /// Returns when the first comes.
    long dueNanos() {
        Late first = late.peek();
        return first == null ? Protocol.NEVER : first.dueNanos;
    }

    /// Brings those whose time has come.
    void bring(long nowNanos) {
        while (dueNanos() <= nowNanos) {
            Late first = late.remove();
            // A ring that overflows tells its owner itself.
            boolean _ = ring.push(
                    first.wrId,
                    first.status,
                    first.opcode,
                    first.vendorError,
                    first.byteLength,
                    first.immediateOrRkey,
                    first.qpn,
                    first.sender,
                    first.flags,
                    first.cause,
                    first.solicited);
        }
    }
}

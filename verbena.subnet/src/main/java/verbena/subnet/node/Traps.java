package verbena.subnet.node;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import verbena.wire.mad.Mad;
import verbena.wire.mad.NodeInfo;
import verbena.wire.mad.Notice;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.Smp;

/// The traps that a node has to send to the subnet manager (IBTA 14.2.5.1, 14.3.9). A trap is sent again and again,
/// until the manager represses it or [#TIMES] have passed. There is at most one of each number and port: a newer
/// trap takes the older one's place.
final class Traps {
    /// The most times that a trap is sent. A manager that has received none of them finds the change when it
    /// sweeps.
    static final int TIMES = 8;
    private static final int MOST = 64;
    private static final long SECOND = 1_000_000_000L;

    private static final class Trap {
        final NodePort port;
        final int number;
        final MemorySegment mad;
        int told;
        long dueNanos;

        Trap(NodePort port, int number, MemorySegment mad, long dueNanos) {
            this.port = port;
            this.number = number;
            this.mad = mad;
            this.dueNanos = dueNanos;
        }
    }

    private final NodeSpec spec;
    private final BiConsumer<NodePort, MemorySegment> send;
    private final List<Trap> pending = new ArrayList<>();
    private long transactionId;

    /// @param send sends a trap to the manager of a port
    Traps(NodeSpec spec, BiConsumer<NodePort, MemorySegment> send) {
        this.spec = spec;
        this.send = send;
    }

    /// Raises a trap: sends it from now on.
    ///
    /// @param port by which it is sent
    void raise(NodePort port, int type, int number, Consumer<MemorySegment> details, long nowNanos) {
        if (port.masterSmLid() == 0 || port.lid() == 0) {
            return; // Nobody to tell: a manager that comes will look for itself.
        }
        pending.removeIf(trap -> trap.port == port && trap.number == number);
        if (pending.size() == MOST) {
            pending.removeFirst();
        }
        MemorySegment mad = Mad.allocate();
        transactionId++;
        Smp.writeByLid(mad, Mad.METHOD_TRAP, transactionId, Notice.ATTRIBUTE, 0, 0);
        MemorySegment notice = Smp.data(mad);
        Notice.IS_GENERIC.put(notice, true);
        Notice.TYPE.put(notice, type);
        Notice.PRODUCER_TYPE.put(
                notice, spec.type() == NodeInfo.SWITCH ? Notice.PRODUCER_SWITCH : Notice.PRODUCER_CHANNEL_ADAPTER);
        Notice.TRAP_NUMBER.put(notice, number);
        Notice.ISSUER_LID.put(notice, port.lid());
        details.accept(notice);
        pending.add(new Trap(port, number, mad, nowNanos));
    }

    /// Removes a trap that the manager has received, so that it is not repeated.
    void repress(long transactionId) {
        pending.removeIf(trap -> Mad.transactionId(trap.mad) == transactionId);
    }

    long deadlineNanos() {
        long first = Long.MAX_VALUE;
        for (Trap trap : pending) {
            first = Math.min(first, trap.dueNanos);
        }
        return first;
    }

    void onDeadline(long nowNanos) {
        for (int i = pending.size() - 1; i >= 0; i--) {
            Trap trap = pending.get(i);
            if (trap.dueNanos <= nowNanos) {
                trap.told++;
                if (trap.told > TIMES) {
                    pending.remove(i);
                } else {
                    // The standard's distance, but not so short that it floods.
                    long apart = 4096L << trap.port.getInt(PortInfo.SUBNET_TIMEOUT);
                    trap.dueNanos = nowNanos + Math.max(apart, SECOND / 10);
                    send.accept(trap.port, trap.mad);
                }
            }
        }
    }
}

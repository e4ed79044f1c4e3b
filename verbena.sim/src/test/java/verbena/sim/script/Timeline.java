package verbena.sim.script;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import verbena.transport.PacketFate;
import verbena.transport.Protocol;
import verbena.wire.Frame;
import verbena.wire.notation.PacketText;

/// The virtual time of a script. It passes only where a line says so; on the way deadlines are met and late packets
/// arrive, in order.
final class Timeline {
    private static final int TURNS_MAX = 10_000;

    private record Late(long time, long order, Frame frame, End to) {}

    private final Ends ends;
    private final Frame frame;
    private final List<String> happened;
    private final PriorityQueue<Late> late =
            new PriorityQueue<>(Comparator.comparingLong(Late::time).thenComparingLong(Late::order));
    private long now;
    private long lateCount;

    /// @param frame for packets that no end should send
    Timeline(Ends ends, Frame frame, List<String> happened) {
        this.ends = ends;
        this.frame = frame;
        this.happened = happened;
    }

    long now() {
        return now;
    }

    // ---- arrivals

    /// @param packet owned by the timeline from now on
    void deliverLate(Frame packet, End receiver, long nanos) {
        late.add(new Late(now + nanos, lateCount++, packet, receiver));
    }

    PacketFate deliver(Frame packet, End receiver) {
        PacketFate fate = receiver.host.receive(packet, now);
        happened.add("%-14s   => %s".formatted("", fate.label()));
        return fate;
    }

    // ---- passing

    /// Time passes up to `target`; [Protocol#NEVER] is until no deadline and no late packet is left.
    ///
    /// @param isSilent whether no end may have a packet to send meanwhile
    void pass(long target, boolean isSilent) {
        for (int turn = 0; turn < TURNS_MAX; turn++) {
            Late next = late.peek();
            long at = next == null ? Protocol.NEVER : next.time();
            for (End end : ends.all()) {
                at = Math.min(at, end.protocol.deadlineNanos());
            }
            if (at > target || at == Protocol.NEVER) {
                if (target != Protocol.NEVER && target > now) {
                    moveTo(target, isSilent);
                }
                return;
            }
            if (at > now) {
                moveTo(at, isSilent);
            }
            while (!late.isEmpty() && late.peek().time() <= now) {
                Late arrival = late.remove();
                deliver(arrival.frame(), arrival.to());
            }
            for (End end : ends.all()) {
                if (end.protocol.deadlineNanos() <= now) {
                    end.protocol.onDeadline(now);
                }
            }
        }
        throw new Mismatch("time does not pass: a deadline stays at " + VirtualTime.text(now));
    }

    private void moveTo(long to, boolean isSilent) {
        if (isSilent) {
            silent("silence until then");
        }
        now = to;
    }

    /// Fails when any end has a packet to send now.
    void silent(String expected) {
        ends.all().forEach(end -> silent(end, expected));
    }

    void silent(End end, String expected) {
        if (end.poll(frame, now)) {
            throw new Mismatch("expected " + expected + ", but at " + VirtualTime.text(now) + "\n" + end.name + " -> "
                    + end.peer.name + "  " + PacketText.format(frame, ends));
        }
        String message = end.messageLeft();
        if (message != null) {
            throw new Mismatch("expected " + expected + ", but at " + VirtualTime.text(now) + "\n" + end.name + " => "
                    + end.peer.name + "  " + message);
        }
    }
}

package verbena.sim.ethernet;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A host with one card: it sends for all its transfers in turn, as their rules and the pauses of its switch let it,
/// and answers what arrives.
public final class Host extends Node {
    /// The priority of answers, above all data.
    static final int ANSWERS = 7;

    final int number;
    private final Calendar calendar;
    private final PacketPool pool;
    /// The flows that may send now, by priority, each once.
    private final List<ArrayDeque<Flow>> ready;
    private int filled;
    private long receivedBytes;
    private @Nullable Intake intake;
    private Outside outside = (packet, now) -> {};

    /// A taker of the frames for a host that stands outside.
    interface Outside {
        void accept(LightPacket packet, long now);
    }

    Host(String name, int number, Calendar calendar, PacketPool pool) {
        super(name);
        this.number = number;
        this.calendar = calendar;
        this.pool = pool;
        this.ready = Stream.generate(() -> new ArrayDeque<Flow>())
                .limit(Port.PRIORITIES)
                .toList();
    }

    Calendar calendar() {
        return calendar;
    }

    PacketPool pool() {
        return pool;
    }

    Port port() {
        return ports.getFirst();
    }

    /// Returns the name that it was given.
    public String name() {
        return name;
    }

    // ---- sending

    /// Gives a flow that may send its turn.
    void makeReady(Flow flow, long now) {
        queue(flow);
        port().ready(now);
    }

    /// Puts a flow that has just sent, and may send again, behind the others.
    void queue(Flow flow) {
        if (flow.isQueued) {
            return;
        }
        flow.isQueued = true;
        ready.get(flow.priority).add(flow);
        filled |= 1 << flow.priority;
    }

    @Override
    @Nullable
    LightPacket supply(Port port, long now) {
        for (int may = filled; may != 0; ) {
            int priority = 31 - Integer.numberOfLeadingZeros(may);
            may &= ~(1 << priority);
            ArrayDeque<Flow> queue = ready.get(priority);
            while (!port.isPaused(priority) && !queue.isEmpty()) {
                Flow flow = queue.remove();
                flow.isQueued = false;
                LightPacket packet = flow.send(now);
                if (queue.isEmpty() && !flow.isQueued) {
                    filled &= ~(1 << priority);
                }
                if (packet != null) {
                    return packet;
                }
            }
        }
        return null;
    }

    @Override
    boolean mayHaveMore() {
        return filled != 0;
    }

    @Override
    void leaves(LightPacket packet, Port port, long now) {
        // A host has room for its answers.
    }

    // ---- receiving

    /// Reduces its receiving to so many bits per second from now on, as a card behind a slow bus. Packets that wait
    /// for the bus have room for `bytes`; before it is full, the host asks its switch for a pause.
    public void slowDown(double bitsPerSecond, long bytes) {
        intake = new Intake(Math.round(8e12 / bitsPerSecond), bytes);
    }

    @Override
    void arrived(LightPacket packet, Port port, long now) {
        if (intake == null || packet.kind != LightPacket.Kind.DATA) {
            take(packet, now);
        } else {
            intake.add(packet, now);
        }
    }

    /// Packets that wait until the host has taken in those before them.
    private final class Intake extends Alarm {
        private final long picosPerByte;
        private final long bytesMax;
        private final PacketQueue waiting = new PacketQueue();
        private boolean hasAsked;

        Intake(long picosPerByte, long bytesMax) {
            this.picosPerByte = picosPerByte;
            this.bytesMax = bytesMax;
        }

        void add(LightPacket packet, long now) {
            waiting.add(packet);
            if (!isSet()) {
                calendar.set(this, now + packet.bytes * picosPerByte);
            }
            if (!hasAsked && waiting.bytes() > bytesMax / 2) {
                hasAsked = true;
                port().tell(packet.priority, true, now);
            }
        }

        @Override
        void ring(long now) {
            LightPacket packet = Objects.requireNonNull(waiting.poll());
            LightPacket following = waiting.first();
            if (following != null) {
                calendar.set(this, now + following.bytes * picosPerByte);
            }
            if (hasAsked && waiting.bytes() < bytesMax / 4) {
                hasAsked = false;
                port().tell(packet.priority, false, now);
            }
            take(packet, now);
        }
    }

    private void take(LightPacket packet, long now) {
        Flow flow = packet.flow;
        if (flow == null) {
            receivedBytes += packet.bytes;
            outside.accept(packet, now);
        } else if (packet.kind == LightPacket.Kind.DATA) {
            receivedBytes += packet.bytes;
            flow.received(packet, now);
        } else {
            flow.answered(packet, now);
        }
        pool.give(packet);
    }

    /// Sets the taker of frames that belong to no flow.
    void outside(Outside taker) {
        outside = taker;
    }

    /// Sends an answer.
    void answer(LightPacket packet, long now) {
        port().add(packet, now);
    }

    /// Returns the bytes of data that have arrived, with headers.
    public long receivedBytes() {
        return receivedBytes;
    }
}

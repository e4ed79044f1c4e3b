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
    private final PacketPool pool;
    /// The transfers that may send now, by priority, each once.
    private final List<ArrayDeque<Transfer>> ready;
    private int filled;
    private long receivedBytes;
    private @Nullable Intake intake;
    private Outside outside = (packet, now) -> {};

    /// Takes what comes for a host that stands outside.
    interface Outside {
        void accept(LightPacket packet, long now);
    }

    Host(String name, int number, PacketPool pool) {
        super(name);
        this.number = number;
        this.pool = pool;
        this.ready = Stream.generate(() -> new ArrayDeque<Transfer>())
                .limit(Port.PRIORITIES)
                .toList();
    }

    Port port() {
        return ports.getFirst();
    }

    /// The name that it was given.
    public String name() {
        return name;
    }

    // ---- sending

    /// A transfer may send now.
    void makeReady(Transfer transfer, long now) {
        queue(transfer);
        port().ready(now);
    }

    /// A transfer that has just sent may send again.
    void queue(Transfer transfer) {
        if (transfer.isQueued) {
            return;
        }
        transfer.isQueued = true;
        ready.get(transfer.priority).add(transfer);
        filled |= 1 << transfer.priority;
    }

    @Override
    @Nullable
    LightPacket supply(Port port, long now) {
        for (int may = filled; may != 0; ) {
            int priority = 31 - Integer.numberOfLeadingZeros(may);
            may &= ~(1 << priority);
            ArrayDeque<Transfer> queue = ready.get(priority);
            while (!port.isPaused(priority) && !queue.isEmpty()) {
                Transfer transfer = queue.remove();
                transfer.isQueued = false;
                LightPacket packet = transfer.send(now);
                if (queue.isEmpty() && !transfer.isQueued) {
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

    /// From now on it takes in no more than so many bits per second, as a card behind a slow bus. What waits for that
    /// has room for `bytes`; before it is full, the host asks its switch for a pause.
    public void slowDown(double bitsPerSecond, long bytes, EthernetNetwork network) {
        intake = new Intake(Math.round(8e12 / bitsPerSecond), bytes, network.calendar());
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
        private final Calendar calendar;
        private final PacketQueue waiting = new PacketQueue();
        private boolean hasAsked;

        Intake(long picosPerByte, long bytesMax, Calendar calendar) {
            this.picosPerByte = picosPerByte;
            this.bytesMax = bytesMax;
            this.calendar = calendar;
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
        Transfer transfer = packet.transfer;
        if (transfer == null) {
            receivedBytes += packet.bytes;
            outside.accept(packet, now);
        } else if (packet.kind == LightPacket.Kind.DATA) {
            receivedBytes += packet.bytes;
            transfer.received(packet, now);
        } else {
            transfer.answered(packet, now);
        }
        pool.give(packet);
    }

    /// From now on frames that are of no transfer go there.
    void outside(Outside taker) {
        outside = taker;
    }

    /// Sends an answer.
    void answer(LightPacket packet, long now) {
        port().add(packet, now);
    }

    /// Bytes of data that have come, with headers.
    public long receivedBytes() {
        return receivedBytes;
    }
}

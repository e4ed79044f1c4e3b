package verbena.sim.ethernet;

import org.jspecify.annotations.Nullable;
import verbena.transport.congestion.CongestionControl;

/// One message from a host to another: the sender's half, the receiver's half, and what came of it.
public abstract class Transfer extends Flow {
    /// The number of packets under way below which a lost one may go unnoticed, because nothing comes behind it.
    private static final int FEW = 3;

    final Host source;
    final Host destination;
    private final int hash;
    final TransferOptions options;
    final CongestionControl control;
    final long packets;
    private final int lastBytes;
    private final long bytes;
    private final double lineRate;
    private final Calendar calendar;
    private final PacketPool pool;
    private final Runnable onEnd;

    // The sender.
    /// All before this one have been answered.
    long unanswered;

    private int sinceAsked;
    private long nextAt;
    private long progressAt;
    private long startedAt = -1;
    private long endedAt = -1;
    private long resent;
    private long timeouts;
    private long notifications;

    // The receiver.
    private long notifiedAt = Long.MIN_VALUE;
    private long arrivedBytes;
    private Runnable onArrival = () -> {};

    private final Alarm pace = new Alarm() {
        @Override
        void ring(long now) {
            source.makeReady(Transfer.this, now);
        }
    };
    private final Alarm timeout = new Alarm() {
        @Override
        void ring(long now) {
            checkProgress(now);
        }
    };

    Transfer(Host source, Host destination, long bytes, int hash, TransferOptions options, Runnable onEnd) {
        super(options.priority());
        this.source = source;
        this.destination = destination;
        this.bytes = bytes;
        this.hash = hash;
        this.options = options;
        this.packets = Math.ceilDiv(bytes, options.payloadBytes());
        this.lastBytes = (int) (bytes - (packets - 1) * options.payloadBytes());
        this.lineRate = source.port().bitsPerSecond();
        this.control = options.control().apply(lineRate);
        this.calendar = source.calendar();
        this.pool = source.pool();
        this.onEnd = onEnd;
    }

    /// Begins now.
    void start(long now) {
        startedAt = now;
        nextAt = now;
        progressAt = now;
        calendar.set(timeout, now + options.fewTimeoutNanos() * Calendar.NANO);
        source.makeReady(this, now);
    }

    // ---- the sender

    /// Returns the next packet that may be sent; -1 when there is none for now.
    abstract long next(long now);

    /// Returns the number of packets that are under way.
    abstract long underWay();

    /// Handles a timeout: nothing was answered for too long.
    abstract void timedOut(long now);

    /// Handles an answer: all packets before `psn` have come.
    abstract void heard(LightPacket answer, long now);

    @Override
    final @Nullable LightPacket send(long now) {
        long psn = endedAt >= 0 ? -1 : next(now);
        if (psn < 0) {
            return null; // an answer makes it ready again
        }
        int length = options.headerBytes() + (psn == packets - 1 ? lastBytes : options.payloadBytes());
        LightPacket packet = packet(LightPacket.Kind.DATA, destination, length, priority, psn);
        packet.sentAt = now;
        packet.asks = asks(psn);
        if (control instanceof Hpcc) {
            measure(packet).clear();
        }
        long nanos = now / Calendar.NANO;
        control.sent(length, nanos);
        double rate = Math.min(lineRate, control.bitsPerSecond(nanos));
        nextAt = Math.max(nextAt, now) + (long) (length * 8e12 / rate);
        if (nextAt <= now + length * source.port().picosPerByte) {
            source.queue(this);
        } else {
            calendar.set(pace, nextAt);
        }
        return packet;
    }

    private LightPacket packet(LightPacket.Kind kind, Host to, int length, int ofPriority, long psn) {
        LightPacket packet = pool.take(kind, length, ofPriority, psn);
        packet.flow = this;
        packet.to = to.number;
        packet.hash = hash;
        return packet;
    }

    private static Telemetry measure(LightPacket packet) {
        packet.isMeasuring = true;
        Telemetry telemetry = packet.telemetry;
        if (telemetry == null) {
            telemetry = new Telemetry();
            packet.telemetry = telemetry;
        }
        return telemetry;
    }

    /// Returns whether a packet asks for an answer. Enough packets ask that the window never closes without an
    /// answer on its way, as in a live device.
    private boolean asks(long psn) {
        int limit = control.limit();
        if (psn == packets - 1
                || underWay() >= limit
                || ++sinceAsked >= Math.max(1, Math.min(options.ackEvery(), limit / 2))) {
            sinceAsked = 0;
            return true;
        }
        return false;
    }

    /// Asks for a turn, unless the pace forbids it for now.
    final void mayGoOn(long now) {
        if (!pace.isSet()) {
            source.makeReady(this, now);
        }
    }

    @Override
    final void answered(LightPacket answer, long now) {
        if (endedAt >= 0) {
            return;
        }
        long nanos = now / Calendar.NANO;
        if (answer.kind == LightPacket.Kind.CNP) {
            notifications++;
            control.notified(nanos);
            return;
        }
        control.roundTrip((now - answer.sentAt) / Calendar.NANO, nanos);
        heard(answer, now);
        if (control instanceof Hpcc hpcc && answer.isMeasuring && answer.telemetry != null) {
            hpcc.heard(answer.telemetry, unanswered, unanswered + underWay());
        }
        if (unanswered == packets) {
            endedAt = now;
            calendar.cancel(timeout);
            calendar.cancel(pace);
            onEnd.run();
        } else {
            mayGoOn(now);
        }
    }

    /// Acknowledges all packets before `psn`.
    final void acknowledge(long psn, long now) {
        if (psn > unanswered) {
            control.answered((int) (psn - unanswered), (int) underWay());
            unanswered = psn;
            progressAt = now;
        }
    }

    final void resent() {
        resent++;
    }

    private void checkProgress(long now) {
        long wait = (underWay() <= FEW ? options.fewTimeoutNanos() : options.timeoutNanos()) * Calendar.NANO;
        if (underWay() > 0 && now - progressAt >= wait) {
            timeouts++;
            progressAt = now;
            timedOut(now);
            mayGoOn(now);
        } else if (underWay() == 0) {
            progressAt = now; // it waits for its turn and not for an answer
        }
        calendar.set(timeout, progressAt + wait);
    }

    // ---- the receiver

    /// Takes a packet of data, and answers it when it has to.
    abstract void took(LightPacket packet, long now);

    /// Writes into an answer what else the receiver has.
    void tell(LightPacket answer) {}

    @Override
    final void received(LightPacket packet, long now) {
        if (packet.marked
                && options.cnpNanos() > 0
                && (notifiedAt == Long.MIN_VALUE || now - notifiedAt >= options.cnpNanos() * Calendar.NANO)) {
            notifiedAt = now;
            answer(LightPacket.Kind.CNP, packet.psn, packet, now);
        }
        took(packet, now);
    }

    final void answer(LightPacket.Kind kind, long psn, LightPacket cause, long now) {
        LightPacket answer = packet(kind, source, options.answerBytes(), Host.ANSWERS, psn);
        answer.causedBy = cause.psn;
        answer.sentAt = cause.sentAt;
        tell(answer);
        if (cause.isMeasuring && cause.telemetry != null && kind != LightPacket.Kind.CNP) {
            Telemetry own = measure(answer);
            answer.telemetry = cause.telemetry; // the answer goes on with it
            cause.telemetry = own;
        }
        destination.answer(answer, now);
    }

    /// Counts a packet that came for the first time.
    final void placed(LightPacket packet) {
        arrivedBytes += packet.bytes - options.headerBytes();
        if (arrivedBytes == bytes) {
            onArrival.run();
        }
    }

    /// Does something when all of it has arrived, and before the sender knows.
    public void onArrival(Runnable action) {
        onArrival = action;
    }

    // ---- what came of it

    /// Returns the bytes of the message.
    public long bytes() {
        return bytes;
    }

    /// Returns the bytes that have arrived, each counted once.
    public long arrivedBytes() {
        return arrivedBytes;
    }

    /// Returns the time until its last packet was answered; -1 while it lasts.
    public long nanos() {
        return endedAt < 0 ? -1 : (endedAt - startedAt) / Calendar.NANO;
    }

    /// Returns whether all of it has been answered.
    public boolean isOver() {
        return endedAt >= 0;
    }

    /// Returns the factor by which it was slower than on an empty network.
    public double slowdown() {
        return (double) (endedAt - startedAt) / Ideal.picos(source, destination, bytes, options);
    }

    /// Returns the sender's rate by its rule, in bits per second, at most that of its line.
    public double rate() {
        return Math.min(lineRate, control.bitsPerSecond(calendar.nowNanos()));
    }

    /// Returns the number of packets that were sent again.
    public long resentPackets() {
        return resent;
    }

    /// Returns the number of times that the sender waited in vain for an answer.
    public long timeouts() {
        return timeouts;
    }

    /// Returns the number of notifications of marks that the sender got.
    public long notifications() {
        return notifications;
    }

    @Override
    public String toString() {
        return source + " -> " + destination + ", " + bytes + " bytes";
    }
}

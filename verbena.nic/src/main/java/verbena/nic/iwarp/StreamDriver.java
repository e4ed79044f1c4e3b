package verbena.nic.iwarp;

import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineTask;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.kind.QueuePairWiring;
import verbena.nic.link.tcp.StreamHandler;
import verbena.nic.link.tcp.TcpLink;
import verbena.nic.link.tcp.TcpSocket;
import verbena.transport.Scheduled;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.transport.iwarp.StreamProtocol;
import verbena.transport.iwarp.StreamTarget;
import verbena.verbs.Gid;
import verbena.verbs.QpState;
import verbena.verbs.cm.EndedBy;
import verbena.wire.Frame;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;

/// A queue pair's protocol over a stream, as the engine knows it: asked for a packet, it writes to its socket;
/// what the socket reads goes to the protocol. Engine-confined.
final class StreamDriver implements QueuePairDriver, Scheduled, StreamHandler {
    /// The connection that the stream belongs to. By the owner of the engine.
    interface Owner {
        /// Returns the address of the peer.
        Gid remote();

        /// Called when this side has sent everything. Later arrivals are not read.
        void onFinished(long nowNanos);

        /// Called when the peer has ended the stream in order.
        ///
        /// @param first why the queue pair was in ERR before; empty when it was not
        void onPeerEnd(String first);

        /// Called when the stream is over, and so is its socket.
        void onStreamOver(EndedBy by, String why);
    }

    /// Enough for one system call. More is gathered only after that call, so that less is copied when the socket is
    /// full.
    private static final int BURST_BYTES = 64 << 10;
    /// The time that the peer of a program without a posted receive has to wait before the connection ends.
    static final long STALL_NANOS_MAX = 5_000_000_000L;
    /// The time that a responder waits for the first FPDU of an initiator that has not promised one. RFC 5044 7.1.2
    /// wants it to wait without end, but many initiators' applications wait for the responder to send first.
    /// Soft-iWARP's responder does not wait at all. After this time its initiator has long processed the reply.
    private static final long SILENCE_NANOS = 50_000_000;
    /// The interval between looks at a shared receive queue meanwhile: posting to it does not wake this queue pair.
    private static final long STALL_NANOS = 1_000_000;
    /// System calls before the next queue pair has its turn.
    private static final int TURN = 4;

    private final TcpLink link;
    private final StreamProtocol protocol;
    private final Engine engine;
    private final EngineTask task;
    private @Nullable TcpSocket socket;
    private @Nullable Owner connection;
    /// The time to send more, when other queue pairs have their turn first.
    private long moreNanos = NEVER;
    /// Whether the next arrival needs a receive, and none is posted. Written by the engine before it looks for
    /// one again, read by posters after they have posted one.
    private volatile boolean isStalled;

    private long stalledSince;
    private long lookedNanos;
    /// The time until which nothing is sent, because the initiator's first FPDU has to come first.
    private long silentNanos = NEVER;

    StreamDriver(StreamProtocol protocol, TcpLink link, QueuePairWiring wiring) {
        this.protocol = protocol;
        this.link = link;
        this.engine = wiring.engine();
        this.task = new EngineTask(this, wiring.parts().counters(), wiring.owner());
    }

    @Override
    public EngineTask task() {
        return task;
    }

    /// Begins the stream after start-up: all further bytes of the socket belong to the queue pair.
    void begin(TcpSocket on, Owner of, StreamTerms terms, long now) {
        socket = on;
        connection = of;
        on.handler(this);
        protocol.start(terms, now);
        silentNanos = terms.isInitiator() || terms.rtr() != Rtr.NONE ? NEVER : now + SILENCE_NANOS;
        on.again(now);
        look();
    }

    /// Returns the address of the peer; empty before the stream begins.
    @Override
    public String peer() {
        Owner of = connection;
        return of == null ? "" : of.remote().toString();
    }

    /// Accepts no more requests: the posted ones leave, then the stream ends.
    void finish(long now) {
        protocol.finish(now);
        look();
    }

    private void look() {
        engine.makeReady(task);
    }

    // ---- the engine's

    /// Writes the bytes that the protocol has for its stream; never fills a frame.
    @Override
    public boolean poll(Frame unused, long now) {
        moreNanos = NEVER;
        TcpSocket to = socket;
        if (isStalled && to != null) {
            lookedNanos = now;
            to.again(now);
        }
        if (to == null || to.isClosed()) {
            protocol.poll(link.output(), now); // flushes what is posted in ERR
            return false;
        }
        for (int i = 0; i < TURN && !to.isFull(); i++) {
            StreamOutput output = link.output();
            boolean more = true;
            while (more && output.total() < BURST_BYTES) {
                more = protocol.poll(output, now);
            }
            to.write(output, now);
            if (to.isClosed()) {
                return false;
            }
            if (!more && !output.isFull()) {
                if (protocol.isFinished()) {
                    end(to, now);
                }
                return false;
            }
        }
        if (!to.isFull()) {
            moreNanos = now;
        }
        return false;
    }

    private void end(TcpSocket to, long now) {
        Owner of = connection;
        isStalled = false;
        to.pause(false);
        to.end();
        if (of != null) {
            of.onFinished(now);
        }
    }

    @Override
    public long deadlineNanos() {
        long earliest = Math.min(moreNanos, silentNanos);
        return isStalled ? Math.min(earliest, lookedNanos + STALL_NANOS) : earliest;
    }

    @Override
    public void onDeadline(long nowNanos) {
        moreNanos = NEVER; // the engine asks next
        lookedNanos = nowNanos;
        if (nowNanos >= silentNanos) {
            silentNanos = NEVER;
            protocol.waitNoLonger();
        }
        if (isStalled && nowNanos - stalledSince >= STALL_NANOS_MAX) {
            protocol.giveUp();
        }
    }

    // ---- the socket's

    @Override
    public void onConnected(long nowNanos) {}

    @Override
    public int onBytes(StreamBuffer bytes, int from, int to, long nowNanos) {
        int done = protocol.onBytes(bytes, from, to, nowNanos);
        if (protocol.isStalled() != isStalled) {
            onStalled(!isStalled, nowNanos);
        }
        if (!isStalled || stalledSince == nowNanos) {
            look(); // also for a receive that was posted this moment
        }
        return done;
    }

    private void onStalled(boolean begins, long now) {
        isStalled = begins;
        stalledSince = now;
        TcpSocket on = socket;
        if (on != null) {
            on.pause(begins);
        }
    }

    @Override
    public boolean isStalled() {
        return isStalled;
    }

    @Override
    public boolean direct(StreamTarget into) {
        return protocol.direct(into);
    }

    @Override
    public void onDirect(int bytes, long nowNanos) {
        protocol.onDirect(bytes, nowNanos);
        look();
    }

    @Override
    public void onWritable(long nowNanos) {
        look();
    }

    @Override
    public void onEnd(long nowNanos) {
        String first = protocol.rootCause();
        protocol.onEnd(nowNanos); // first, so that the thread that is told finds the queue pair in ERR
        Owner of = connection;
        if (of != null) {
            of.onPeerEnd(first);
        }
        look();
    }

    @Override
    public void onBroken(Cause cause, String why, long nowNanos) {
        protocol.onBroken(why, nowNanos);
        Owner of = connection;
        if (of != null) {
            of.onStreamOver(EndedBy.FAILURE, why);
        }
        look();
    }

    // ---- the queue pair's

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        protocol.onModified(from, to, nowNanos);
        TcpSocket on = socket;
        if (to == QpState.RESET && on != null) {
            socket = null;
            isStalled = false;
            on.pause(false);
            Owner of = connection;
            connection = null;
            if (!on.isClosed()) {
                on.end();
                if (of != null) {
                    of.onFinished(nowNanos);
                }
            }
        }
    }

    @Override
    public boolean isDraining() {
        return protocol.isDraining();
    }

    @Override
    public void breakDown(String cause) {
        protocol.breakDown(cause);
    }

    @Override
    public String rootCause() {
        return protocol.rootCause();
    }
}

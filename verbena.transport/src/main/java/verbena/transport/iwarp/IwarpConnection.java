package verbena.transport.iwarp;

import verbena.transport.Counter;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Receiving;
import verbena.verbs.QpState;
import verbena.wire.iwarp.StreamTerms;

/// A reliable connection of iWARP: a [Sender] and a [Receiver] over one stream. The stream is there before the
/// queue pair is: [#start] takes it from INIT to RTS, and when the stream ends, for whatever reason, the queue
/// pair is in ERR. Engine-confined.
///
/// Nothing is ever sent again, and nothing is acknowledged: that is TCP's. A message that finds no receive makes the
/// stream wait. A refused segment ends the connection, with a TERMINATE that carries the reason.
public final class IwarpConnection implements StreamProtocol {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final OwedResponses owed = new OwedResponses();
    private final FpduWriter writer = new FpduWriter();
    private final OutstandingRequests requests;
    private final Sender sender;
    private final Receiver receiver;
    private final Receiving receiving;

    /// The initiator's first FPDU is here; a responder sends nothing before (RFC 5044 7.1.2).
    private boolean heard;
    private boolean maySend;
    private boolean finishing;

    private final Termination termination;

    public IwarpConnection(ProtocolParts parts) {
        this.core = new QueuePairCore(parts);
        this.p = core.parameters;
        this.receiving = new Receiving(core, parts);
        this.termination = new Termination(core, receiving, owed, writer, this::flushRequests);
        this.requests =
                new OutstandingRequests(core, termination, parts.sends(), parts.sendCompletions(), parts.signalAll());
        this.sender = new Sender(core, termination, requests, owed, writer);
        this.receiver = new Receiver(core, termination, this::heard, receiving, requests, owed);
    }

    // ---- life

    @Override
    public void start(StreamTerms terms, long nowNanos) {
        if (p.state != QpState.INIT) {
            return; // ended before it began; isFinished says so
        }
        p.readsServedMax = terms.ird();
        p.readsOutstandingMax = terms.ord();
        owed.start(terms.ird());
        writer.start(terms);
        sender.start(terms);
        receiver.start(terms);
        heard = false;
        maySend = terms.isInitiator();
        finishing = false;
        termination.clear();
        p.state = QpState.RTS;
        core.events.onState(QpState.RTS);
    }

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        switch (to) {
            case RESET -> {
                core.rootCause = null;
                termination.clear();
                owed.clear();
                sender.reset();
                receiving.discard();
            }
            case ERR -> {
                if (from != QpState.ERR) {
                    termination.enterError("the application moved the queue pair to ERR");
                }
            }
            case INIT, RTR, RTS, SQD, SQE -> {}
        }
    }

    /// Returns false: there is no SQD.
    @Override
    public boolean isDraining() {
        return false;
    }

    @Override
    public void breakDown(String cause) {
        if (p.state != QpState.RESET && p.state != QpState.ERR) {
            termination.fail(cause);
        }
    }

    @Override
    public String rootCause() {
        String cause = core.rootCause;
        return cause == null ? "" : cause;
    }

    @Override
    public void finish(long nowNanos) {
        finishing = true;
    }

    @Override
    public boolean isFinished() {
        return p.state != QpState.RTS && !termination.isDue();
    }

    @Override
    public void onEnd(long nowNanos) {
        end(
                receiver.isInside()
                        ? "the peer closed the connection in the middle of a message"
                        : "the peer closed the connection");
    }

    @Override
    public void onBroken(String why, long nowNanos) {
        end(why);
    }

    private void end(String cause) {
        if (p.state == QpState.RTS) {
            termination.fail(cause);
        }
        termination.clear();
    }

    // ---- arrivals

    @Override
    public int onBytes(StreamBuffer bytes, int from, int to, long nowNanos) {
        return termination.isReceiving() ? receiver.onBytes(bytes, from, to) : to - from;
    }

    @Override
    public boolean isStalled() {
        return termination.isReceiving() && receiver.isStalled();
    }

    @Override
    public void giveUp() {
        receiver.giveUp();
    }

    @Override
    public void waitNoLonger() {
        maySend = true;
    }

    @Override
    public boolean direct(StreamTarget into) {
        return receiver.direct(into);
    }

    @Override
    public void onDirect(int bytes, long nowNanos) {
        if (termination.isReceiving()) {
            receiver.onDirect(bytes);
        }
    }

    /// Handles an FPDU that fits.
    private void heard() {
        if (!heard) {
            heard = true;
            maySend = true;
            core.events.onFirstPacket(false);
        }
    }

    // ---- departures

    @Override
    public boolean poll(StreamOutput out, long nowNanos) {
        if (termination.isDue()) {
            return termination.pollTerminate(out);
        }
        if (p.state == QpState.ERR) {
            sender.flush(); // what was posted in the same moment
            receiving.flush();
            return false;
        }
        if (p.state != QpState.RTS || !maySend) {
            return false;
        }
        long before = out.total();
        if (sender.poll(out) || termination.pollTerminate(out)) {
            core.counters.count(Counter.SENT_PACKETS);
            core.counters.add(Counter.SENT_BYTES, out.total() - before);
            return true;
        }
        if (finishing && !out.isFull() && p.state == QpState.RTS && sender.isDone()) {
            termination.fail("the connection was closed");
        }
        return false;
    }

    private void flushRequests() {
        sender.flush();
    }
}

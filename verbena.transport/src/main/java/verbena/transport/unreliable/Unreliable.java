package verbena.transport.unreliable;

import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.Receiving;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.wire.Frame;

/// The common part of UC and UD: a [UnreliableSender], a receive in use, and a life without timers.
abstract class Unreliable implements QueuePairProtocol {
    final QueuePairCore core;
    final QueuePairParameters p;
    final Receiving receive;
    private final UnreliableSender sender;

    Unreliable(QueuePairCore core, UnreliableSender sender, Receiving receive) {
        this.core = core;
        this.p = core.parameters;
        this.sender = sender;
        this.receive = receive;
    }

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        if (to == QpState.RTS || to == QpState.SQD) {
            core.migration.migrateAsAsked();
        }
        switch (to) {
            case RESET -> {
                core.rootCause = null;
                sender.reset();
                receive.discard();
                stopReceiving();
            }
            case RTR -> startReceiving();
            case RTS -> {
                if (from == QpState.RTR) {
                    sender.start();
                }
                if (from == QpState.SQE) {
                    sender.flush(); // what was posted there
                    core.rootCause = null;
                }
                sender.rearmDrained();
            }
            case SQD -> {
                if (from != QpState.SQD) {
                    sender.rearmDrained();
                }
                sender.checkDrained();
            }
            case ERR -> {
                if (from != QpState.ERR) {
                    fail("the application moved the queue pair to ERR");
                }
            }
            case INIT, SQE -> {}
        }
    }

    /// Called when RTR has been entered.
    abstract void startReceiving();

    /// Called in RESET and ERR: forgets a message under way.
    abstract void stopReceiving();

    final boolean isReceiving() {
        return switch (p.state) {
            case RTR, RTS, SQD, SQE -> true;
            case RESET, INIT, ERR -> false;
        };
    }

    @Override
    public boolean poll(Frame frame, long nowNanos) {
        switch (p.state) {
            case SQE -> sender.flush();
            case ERR -> {
                sender.flush();
                receive.flush();
            }
            case RESET, INIT, RTR, RTS, SQD -> {
                return sender.poll(frame, nowNanos);
            }
        }
        return false;
    }

    @Override
    public long deadlineNanos() {
        return sender.pace().dueNanos();
    }

    @Override
    public void onDeadline(long nowNanos) {
        sender.pace().onDue(nowNanos);
    }

    @Override
    public boolean isDraining() {
        return sender.isDraining();
    }

    @Override
    public String rootCause() {
        String cause = core.rootCause;
        return cause == null ? "" : cause;
    }

    @Override
    public void breakDown(String cause) {
        if (p.state != QpState.RESET && p.state != QpState.ERR) {
            fail(cause);
        }
    }

    /// Moves to ERR.
    final void fail(String cause) {
        core.enter(QpState.ERR, cause);
        stopReceiving();
        sender.flush();
        receive.flush();
        if (receive.isShared()) {
            core.events.onAsyncEvent(AsyncEvent.Type.QP_LAST_WQE_REACHED);
        }
    }
}

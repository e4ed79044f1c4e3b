package verbena.nic.device;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.nic.kind.LocalQueuePair.FirstPacketListener;
import verbena.nic.link.DirectObserver;
import verbena.nic.observe.JfrEvents;
import verbena.transport.DirectPackets;
import verbena.transport.QueuePairEvents;
import verbena.transport.Retransmission;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// The reporter of events of a running queue pair to its connection, the flight recorder and the program.
/// Engine-confined.
final class QueuePairNews implements QueuePairEvents {
    private final DeviceQueuePair queuePair;
    /// Whether QP_FATAL was raised; it is raised once between two RESETs.
    private boolean fatalTold;

    @Nullable
    Consumer<String> failureListener;

    @Nullable
    FirstPacketListener firstPacketListener;

    @Nullable
    Runnable accessErrorListener;

    @Nullable
    Runnable migrationListener;

    QueuePairNews(DeviceQueuePair queuePair) {
        this.queuePair = queuePair;
    }

    /// Starts again after RESET.
    void reset() {
        fatalTold = false;
    }

    @Override
    public void onState(QpState to) {
        queuePair.onState(to);
        Consumer<String> listener = failureListener;
        if (to == QpState.ERR && listener != null) {
            listener.accept(queuePair.rootCause());
        }
    }

    @Override
    public void onAsyncEvent(AsyncEvent.Type type) {
        if (type == AsyncEvent.Type.QP_FATAL) {
            if (fatalTold) {
                return;
            }
            fatalTold = true;
        }
        if (type == AsyncEvent.Type.PATH_MIG) {
            queuePair.onMigrated();
        }
        queuePair.raise(type);
        Runnable listener = migrationListener;
        if (type == AsyncEvent.Type.PATH_MIG && listener != null) {
            listener.run();
        }
    }

    @Override
    public void onAccessError() {
        Runnable listener = accessErrorListener;
        if (listener != null) {
            listener.run();
        }
    }

    @Override
    public void onFirstPacket(boolean isAnswer) {
        FirstPacketListener listener = firstPacketListener;
        if (listener != null) {
            listener.onFirstPacket(isAnswer);
        }
    }

    @Override
    public void onError(long wrId, WcStatus status, WcOpcode opcode, int vendorError, String cause) {
        JfrEvents.error(queuePair, wrId, status, opcode, vendorError, cause);
    }

    @Override
    public void onRetransmission(Retransmission why, int psn, int retriesLeft) {
        JfrEvents.retransmission(queuePair, why, psn, retriesLeft);
    }

    @Override
    public void onRnrNak(int psn, long waitNanos, int retriesLeft) {
        JfrEvents.rnrNak(queuePair, psn, waitNanos, retriesLeft);
    }

    @Override
    public void onDirect(DirectPackets packets) {
        DirectObserver observer = queuePair.engine().link().service(DirectObserver.class);
        if (observer != null) {
            observer.showDirect(packets);
        }
    }

    @Override
    public void onReady() {
        queuePair.makeReady();
    }
}

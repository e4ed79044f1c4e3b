package verbena.nic.kind.roce;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmExtension;
import verbena.nic.kind.LocalQueuePair;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.spi.ConnectionService.End;

/// The queue pair that a connection of the communication manager is about; there is none when the program brings a
/// number only. Confined to the first engine; the queue pair may live on another.
final class ConnectedQueuePair {
    /// What its connection is told; on the queue pair's engine.
    interface Listener {
        /// The queue pair is in ERR by itself: the peer is gone, or has been refused something.
        void onFailed(String why);

        /// The peer uses the queue pair.
        void onFirstPacket(boolean isAnswer);

        /// The peer has asked for memory that it may not have, by a packet that only a host makes that knows the
        /// connection.
        void onAccessError();
    }

    private @Nullable LocalQueuePair queuePair;
    /// Its number, also when it has been let go; 0 while it is not known.
    private int qpn;
    private Duration keepAlive = Duration.ZERO;

    int qpn() {
        return qpn;
    }

    private static @Nullable LocalQueuePair of(End own) {
        return own.queuePair().orElse(null) instanceof LocalQueuePair local ? local : null;
    }

    /// How all queue pairs of this device are driven.
    private static FrameDriver frames(LocalQueuePair queuePair) {
        return (FrameDriver) queuePair.driver();
    }

    void attach(End own, Listener listener) {
        qpn = own.qpn();
        LocalQueuePair local = of(own);
        if (local != null) {
            local.engine().execute(() -> {
                local.failureListener(listener::onFailed);
                local.firstPacketListener(listener::onFirstPacket);
                local.accessErrorListener(listener::onAccessError);
            });
            ConnectionParameters parameters = own.parameters();
            keepAlive = parameters.keepAlive();
            queuePair = local;
        }
    }

    void detach() {
        LocalQueuePair local = queuePair;
        if (local != null) {
            local.engine().execute(() -> {
                local.failureListener(null);
                local.firstPacketListener(null);
                local.accessErrorListener(null);
            });
            queuePair = null;
        }
    }

    /// From here on both sides know the connection. A peer that does not yet cannot answer, and lives all the same.
    void keepAlive() {
        LocalQueuePair local = queuePair;
        Duration silence = keepAlive;
        if (local != null) {
            local.engine().execute(() -> local.keepAlive(silence));
        }
    }

    /// Lets it go, puts it into ERR, and then runs `next` on its engine; at once when there is none.
    ///
    /// @param why in words
    void end(String why, Runnable next) {
        LocalQueuePair local = queuePair;
        detach();
        if (local == null) {
            next.run();
            return;
        }
        local.engine().execute(() -> {
            local.disconnected(why);
            next.run();
        });
    }

    // ---- what both sides say of their packets

    /// The UDP port that this side's packets leave from, which the peer may insist on; 0 when it is not known.
    static int sourcePort(End own) {
        LocalQueuePair local = of(own);
        return local == null ? 0 : local.engine().link().sourcePort();
    }

    /// Holds the peer to the port that it has promised to send from (decision 0050), and uses what it knows
    /// (decision 0130).
    void heed(CmExtension said) {
        LocalQueuePair local = queuePair;
        if (local != null) {
            local.engine().execute(() -> {
                if (said.sourcePort() != 0) {
                    frames(local).peerSourcePort(said.sourcePort());
                }
                frames(local).selectiveRepeat(said.repeatsSelectively());
            });
        }
    }
}

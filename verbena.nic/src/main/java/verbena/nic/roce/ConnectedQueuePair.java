package verbena.nic.roce;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmExtension;
import verbena.cm.CmRoute;
import verbena.nic.kind.LocalQueuePair;
import verbena.verbs.AlternatePath;
import verbena.verbs.PathMigration;
import verbena.verbs.QpModification;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.spi.ConnectionService.OwnSide;

/// The queue pair that a connection of the communication manager is about; there is none when the program brings a
/// number only. Confined to the first engine; the queue pair may live on another.
final class ConnectedQueuePair {
    /// The connection, which gets the events of its queue pair on the queue pair's engine.
    interface Listener {
        /// Called when the queue pair goes to ERR by itself: the peer is gone, or was refused an operation.
        void onFailed(String why);

        /// Called when the peer uses the queue pair.
        void onFirstPacket(boolean isAnswer);

        /// Called when the peer has asked for memory without the right to access it. Only a host that knows the
        /// connection can send such a packet.
        void onAccessError();

        /// Called when the queue pair has migrated to its alternate path.
        void onMigrated();
    }

    private @Nullable LocalQueuePair queuePair;
    /// The number of the queue pair, also when the connection has let it go; 0 while it is not known.
    private int qpn;
    private Duration keepAlive = Duration.ZERO;

    int qpn() {
        return qpn;
    }

    private static @Nullable LocalQueuePair of(OwnSide own) {
        return own.queuePair().orElse(null) instanceof LocalQueuePair local ? local : null;
    }

    /// Returns how all queue pairs of this device are driven.
    private static FrameDriver frames(LocalQueuePair queuePair) {
        return (FrameDriver) queuePair.driver();
    }

    void attach(OwnSide own, Listener listener) {
        qpn = own.qpn();
        LocalQueuePair local = of(own);
        if (local != null) {
            local.engine().execute(() -> {
                local.failureListener(listener::onFailed);
                local.firstPacketListener(listener::onFirstPacket);
                local.accessErrorListener(listener::onAccessError);
                local.migrationListener(listener::onMigrated);
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
                local.migrationListener(null);
            });
            queuePair = null;
        }
    }

    /// Begins keep-alive, because both sides know the connection now. A peer that does not know it yet cannot
    /// answer, although it lives.
    void keepAlive() {
        LocalQueuePair local = queuePair;
        Duration silence = keepAlive;
        if (local != null) {
            local.engine().execute(() -> local.keepAlive(silence));
        }
    }

    // ---- its paths

    boolean isKnown() {
        return queuePair != null;
    }

    /// Shows its attributes to `then`, on its engine.
    void look(Consumer<QueuePairAttributes> then) {
        LocalQueuePair local = queuePair;
        if (local != null) {
            local.engine().execute(() -> then.accept(local.query()));
        }
    }

    /// Loads and arms an alternate path. The peer has left the path before: a queue pair that still waits to
    /// migrate does so first.
    ///
    /// @param then is told on its engine whether that was done
    void load(AlternatePath path, Consumer<Boolean> then) {
        LocalQueuePair local = queuePair;
        if (local != null) {
            local.engine().execute(() -> then.accept(isLoaded(local, path)));
        }
    }

    private static boolean isLoaded(LocalQueuePair local, AlternatePath path) {
        try {
            if (local.query().peer().pathMigration() == PathMigration.ARMED) {
                local.modify(new QpModification().withPathMigration(PathMigration.MIGRATED));
            }
            local.modify(new QpModification().withAlternatePath(path).withPathMigration(PathMigration.REARM));
            return true;
        } catch (VerbsException _) {
            return false; // it has ended, or its program changes it
        }
    }

    /// Releases the queue pair, puts it into ERR, and then runs `next` on its engine; at once when there is none.
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

    /// Returns the UDP port that this side's packets leave from, which the peer may insist on; 0 when it is not
    /// known.
    static int sourcePort(OwnSide own, CmRoute route) {
        LocalQueuePair local = of(own);
        return local == null ? 0 : local.engine().link().sourcePort(route.local(), route.remote());
    }

    /// Holds the peer to the port that it has promised to send from (decision 48), and uses what it knows
    /// (decision 05).
    void heed(CmExtension said) {
        LocalQueuePair local = queuePair;
        if (local != null) {
            local.engine().execute(() -> {
                if (said.sourcePort() != 0) {
                    frames(local).peerSourcePort(said.sourcePort());
                }
                frames(local).selectiveRepeat(said.repeatsAnswers(), said.repeatsRequests());
            });
        }
    }
}

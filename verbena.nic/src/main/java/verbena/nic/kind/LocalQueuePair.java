package verbena.nic.kind;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.verbs.QueuePair;

/// A queue pair of this device, as its connection sees it. For the owner of its engine, except the first two
/// methods.
public interface LocalQueuePair extends QueuePair {
    /// Returns the engine that it lives on. Any thread.
    Engine engine();

    /// Returns the driver that its [DeviceKind] has made for it. Any thread.
    QueuePairDriver driver();

    /// Sets the silence after which the peer is asked whether it is alive; zero for never.
    void keepAlive(Duration silence);

    /// Moves to ERR and flushes posted requests, because the connection has ended.
    ///
    /// @param why the reason in words
    void disconnected(String why);

    /// Returns the number of the peer's queue pair; 0 when there is none.
    int peerQpn();

    /// Moves to ERR, because the process at the other end has ended. The oldest request fails as after the last
    /// retry.
    ///
    /// @param why the reason in words
    void peerGone(String why);

    /// Sets the listener that gets a text on why the queue pair goes to ERR by itself; null for none.
    void failureListener(@Nullable Consumer<String> listener);

    /// Sets the listener that is called when the peer's first request, and its first response, has come; null for
    /// none.
    void firstPacketListener(@Nullable FirstPacketListener listener);

    /// Sets the listener that is called when the peer has asked for memory to which it has no right; null for
    /// none.
    void accessErrorListener(@Nullable Runnable listener);

    /// Sets the listener that is called when the queue pair has migrated to its alternate path; null for none.
    void migrationListener(@Nullable Runnable listener);

    /// A listener for the peer's first packets.
    interface FirstPacketListener {
        void onFirstPacket(boolean isAnswer);
    }
}

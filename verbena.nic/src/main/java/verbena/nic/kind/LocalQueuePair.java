package verbena.nic.kind;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.verbs.QueuePair;

/// A queue pair of this device, as the connection that it is part of knows it. For the owner of its engine, but for
/// the first two.
public interface LocalQueuePair extends QueuePair {
    /// Where it lives. Any thread.
    Engine engine();

    /// What its [DeviceKind] has made for it. Any thread.
    QueuePairDriver driver();

    /// When nothing has come from the peer for so long, it is asked whether it lives; zero for never.
    void keepAlive(Duration silence);

    /// Its connection has ended: to ERR, and what was posted is flushed.
    ///
    /// @param why in words
    void disconnected(String why);

    /// Has `listener` told why, in words, when the queue pair goes to ERR by itself; null for nothing.
    void failureListener(@Nullable Consumer<String> listener);

    /// Has `listener` told when the first request, and the first answer, of the peer has come; null for nothing.
    void firstPacketListener(@Nullable FirstPacketListener listener);

    /// Has `listener` told that the peer has asked for memory that it may not have; null for nothing.
    void accessErrorListener(@Nullable Runnable listener);

    /// Is told of a peer's first packets.
    interface FirstPacketListener {
        void onFirstPacket(boolean isAnswer);
    }
}

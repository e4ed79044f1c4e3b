package verbena.messages.rail;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;

/// The destination of a peer's messages that are for no receive. Called under the lock of the worker.
public interface Recipient {
    /// Returns the destination of a message that belongs to a call; empty to refuse it, which ends the peer.
    Optional<Incoming> incoming(Kind kind, long tag, long length);

    /// Takes a whole active message; false when it does not want it. The frame is the recipient's until
    /// [verbena.messages.protocol.Peer#handled()].
    ///
    /// @param at where the header begins, behind which the data is
    boolean active(int number, MemorySegment frame, int at, int headerBytes, long dataBytes);

    /// Returns the destination of a long active message; empty to refuse it, which ends the peer.
    Optional<Incoming> active(int number, byte[] header, long length);

    /// Handles the loss of the peer.
    void lost(String why);
}

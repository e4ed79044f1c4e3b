package verbena.messages.rail;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;

/// Where messages of a peer go that are for no receive. Called under the lock of the worker.
public interface Recipient {
    /// Where one goes that belongs to a call; empty to refuse it, which ends the peer.
    Optional<Incoming> incoming(Kind kind, long tag, long length);

    /// Takes a whole active message. The frame is the recipient's until [Peer#handled()]; false when it does not want
    /// it.
    ///
    /// @param at where the header begins, behind which the data is
    boolean active(int number, MemorySegment frame, int at, int headerBytes, long dataBytes);

    /// Where a long active message goes; empty to refuse it, which ends the peer.
    Optional<Incoming> active(int number, byte[] header, long length);

    /// Tells that the peer is lost.
    void lost(String why);
}

package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import verbena.verbs.RemoteMemory;

/// The services of a peer's owner.
public interface PeerOwner {
    /// Returns the destination of a message that is for no receive; empty to refuse it, which ends the peer.
    ///
    /// @param length bytes
    Optional<Incoming> incoming(Kind kind, long tag, long length);

    /// Handles a whole active message. The frame is the owner's until [Peer#handled()]; returns false when the
    /// owner refuses it.
    ///
    /// @param at where the header begins, behind which the data is
    boolean active(int handler, MemorySegment frame, int at, int headerBytes, long dataBytes);

    /// Returns the destination of a long active message; empty to refuse it, which ends the peer.
    Optional<Incoming> active(int handler, byte[] header, long length);

    /// Returns whether there is room for a message that no program has asked for. After false the next
    /// [Peer#pollRead()] asks again.
    ///
    /// @param length bytes
    boolean admits(long length);

    /// Makes memory readable for the peer until [#withdraw]: the same memory by each rail, with key 0 where it
    /// cannot be.
    ///
    /// @param mayChange whether it has to be a copy
    List<RemoteMemory> expose(int offer, MemorySegment data, boolean mayChange);

    /// Withdraws an offer that is read, or will never be.
    ///
    /// @param isRead false when the peer is lost: it must not reach the memory any more
    void withdraw(int offer, boolean isRead);
}

package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import verbena.verbs.RemoteMemory;

/// What the owner of a peer does for it.
public interface PeerOwner {
    /// Where a message goes that is for no receive; empty to refuse it, which ends the peer.
    ///
    /// @param length bytes
    Optional<Incoming> incoming(Kind kind, long tag, long length);

    /// A whole active message. The frame is the owner's until [Peer#handled()]; false when it does not want it.
    ///
    /// @param at where the header begins, behind which the data is
    boolean active(int handler, MemorySegment frame, int at, int headerBytes, long dataBytes);

    /// Where a long active message goes; empty to refuse it, which ends the peer.
    Optional<Incoming> active(int handler, byte[] header, long length);

    /// Whether there is room for a message that no program has asked for. After false it is asked again by the
    /// next [Peer#pollRead()].
    ///
    /// @param length bytes
    boolean admits(long length);

    /// Makes memory readable for the peer until [#withdraw]: the same memory by each rail, with key 0 where it
    /// cannot be.
    ///
    /// @param mayChange whether it has to be a copy
    List<RemoteMemory> expose(int offer, MemorySegment data, boolean mayChange);

    /// What was offered is read, or will never be.
    ///
    /// @param isRead false when the peer is lost: it must not reach the memory any more
    void withdraw(int offer, boolean isRead);
}

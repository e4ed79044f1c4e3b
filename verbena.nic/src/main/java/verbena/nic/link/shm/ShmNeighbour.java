package verbena.nic.link.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.MemoryFile;
import verbena.nic.link.FrameRing;
import verbena.nic.link.sharing.Neighbours;
import verbena.nic.link.sharing.PeerSocket;

/// Another link of this host, and the memory that both share: a file of each side, which has that side's page for
/// the other and the ring of frames to the other. A file is made when its side first has something for the other.
///
/// For one thread at a time, except where a method allows another.
final class ShmNeighbour {
    /// Room for the frames that may be under way to a peer, and as many again.
    static final int RING_BYTES = 1 << 20;

    private static final long PAGE_AT = 0;
    private static final long RING_AT = Neighbours.PAGE_BYTES;
    /// Whole pages of the system.
    private static final long FILE_BYTES = RING_AT + (FrameRing.bytes(RING_BYTES) + 4095 & -4096);

    private static final int NO_BELL = -1;

    final PeerSocket socket;
    /// Whether it has sent its hello. A neighbour that has not sent it has read nothing yet.
    boolean hasAnswered;
    /// The lifeline, which hangs up when the neighbour's process begins to die; null when the neighbour has sent
    /// none, or it has.
    @Nullable
    PeerSocket lifeline;

    /// The arena of the mapping of the neighbour's file. It is shared, because the thread that sleeps is another.
    private final Arena arena = Arena.ofShared();
    /// The arena of the mapping of our file; null until there is one.
    private @Nullable Arena ownArena;

    private MemorySegment own = MemorySegment.NULL;
    private MemorySegment theirs = MemorySegment.NULL;

    /// The ring of frames to the neighbour; null until there is a file of ours.
    @Nullable
    FrameRing outgoing;

    /// The ring of frames from the neighbour; null until it has sent its file. The sleeping thread uses it too.
    volatile @Nullable FrameRing incoming;

    /// Whether frames were added that the neighbour has not been shown.
    boolean isAdded;
    /// Whether the neighbour has our bell.
    boolean hasOurBell;
    /// The neighbour's event counter.
    private int bell = NO_BELL;

    ShmNeighbour(PeerSocket socket) {
        this.socket = socket;
    }

    /// Makes the file of this side; returns a descriptor of it for the neighbour, which the caller has to close, or
    /// a negative number when it cannot be had.
    int makeFile() {
        assert ownArena == null : "there is one";
        ownArena = Arena.ofShared();
        try (MemoryFile made = MemoryFile.create("verbena-shm", FILE_BYTES, true, ownArena)) {
            own = made.memory();
            outgoing = ringIn(own);
            return made.share();
        } catch (IOException e) {
            return -1; // no memory: the frame is dropped, and the next one tries again
        }
    }

    /// Forgets the file of this side, which the neighbour cannot get now.
    void dropFile() {
        outgoing = null;
        own = MemorySegment.NULL;
        if (ownArena != null) {
            ownArena.close();
            ownArena = null;
        }
    }

    /// Maps the neighbour's file; false when it is none that this process can trust.
    boolean takeFile(int descriptor) {
        if (theirs.address() != 0) {
            return false;
        }
        theirs = MemoryFile.map(descriptor, FILE_BYTES, true, arena).memory();
        if (theirs.address() == 0) {
            return false;
        }
        incoming = ringIn(theirs);
        return true;
    }

    private static FrameRing ringIn(MemorySegment file) {
        return new FrameRing(file.asSlice(RING_AT, FrameRing.bytes(RING_BYTES)));
    }

    MemorySegment ownPage() {
        return page(own);
    }

    MemorySegment theirPage() {
        return page(theirs);
    }

    private static MemorySegment page(MemorySegment file) {
        return file.address() == 0 ? MemorySegment.NULL : file.asSlice(PAGE_AT, Neighbours.PAGE_BYTES);
    }

    /// Keeps the neighbour's event counter. A hostile neighbour may have one that is full, or another descriptor,
    /// for which this process must not wait.
    void takeBell(int descriptor) {
        LinuxSockets.unblock(descriptor);
        if (bell != NO_BELL) {
            LinuxSockets.close(bell);
        }
        bell = descriptor;
    }

    /// Wakes the neighbour by its bell; false when it has sent none yet.
    boolean ring(MemorySegment one) {
        if (bell == NO_BELL) {
            return false;
        }
        LinuxSockets.addToEventCounter(bell, one);
        return true;
    }

    /// Unmaps the memory; a sleeping thread that uses it just now gets an IllegalStateException.
    void close() {
        dropFile();
        arena.close();
        if (bell != NO_BELL) {
            LinuxSockets.close(bell);
        }
    }
}

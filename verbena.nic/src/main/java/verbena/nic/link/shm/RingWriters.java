package verbena.nic.link.shm;

import java.lang.invoke.VarHandle;
import verbena.nic.link.FrameRing;

/// The writers to the rings of a [ShmLink]: neighbours, each of which may be in another process, and the link
/// itself. The thread that sleeps asks them to ring the bell. A neighbour that goes at this moment may take its
/// memory away.
///
/// A neighbour that comes after the question was not asked; [ShmNeighbours] wakes the sleeper then.
///
/// For the sleeping thread, except where a method allows any.
final class RingWriters {
    private final ShmNeighbours neighbours;
    private final FrameRing self;

    /// @param self the ring that leads from the link to itself
    RingWriters(ShmNeighbours neighbours, FrameRing self) {
        this.neighbours = neighbours;
        this.self = self;
    }

    /// Asks all writers to ring with their next record. False when there is a record, or a neighbour has gone.
    boolean ask() {
        try {
            self.sleep();
            for (ShmNeighbour neighbour : neighbours.heard()) {
                FrameRing ring = neighbour.incoming;
                if (ring != null) {
                    ring.sleep();
                }
            }
            VarHandle.fullFence(); // a writer adds a record and then looks, this thread the other way round
            return areQuiet();
        } catch (IllegalStateException e) {
            return false; // its memory has gone
        }
    }

    /// Returns whether no ring has a record; false also when a neighbour has gone. Any thread.
    boolean areQuiet() {
        try {
            boolean hasRecords = self.hasRecords();
            for (ShmNeighbour neighbour : neighbours.heard()) {
                FrameRing ring = neighbour.incoming;
                hasRecords |= ring != null && ring.hasRecords();
            }
            return !hasRecords;
        } catch (IllegalStateException e) {
            return false; // its memory has gone
        }
    }

    /// Notes for all writers that they need not ring. A writer that does not see it rings once without need.
    void excuse() {
        self.awake();
        try {
            for (ShmNeighbour neighbour : neighbours.heard()) {
                FrameRing ring = neighbour.incoming;
                if (ring != null) {
                    ring.awake();
                }
            }
        } catch (IllegalStateException e) {
            // The memory of one has gone; the others ring once more than they would have to.
        }
    }
}

package verbena.nic.link.shm;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.FrameRing;
import verbena.nic.link.PolledSleep;
import verbena.nic.link.sharing.Addressee;
import verbena.nic.link.sharing.Presence;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;

/// The rings that lead from a [ShmLink] to its neighbours and to itself. What is added to them, a frame or a
/// [verbena.wire.DirectMessage], is seen by its reader after [#show()].
///
/// For the owner of the engine.
public final class OutgoingRings {
    private final ShmNeighbours neighbours;
    private final FrameRing self;
    private final PolledSleep sleep;

    /// The neighbours with records that were added and not shown yet, up to `addedCount`.
    private final @Nullable ShmNeighbour[] added = new @Nullable ShmNeighbour[Presence.SLOTS];

    private int addedCount;
    private boolean isAddedForSelf;

    /// The neighbour that a message was begun for; null when that is the link itself.
    private @Nullable ShmNeighbour begunFor;

    private FrameRing begun;

    /// @param self the ring that leads from the link to itself
    /// @param sleep of the link
    OutgoingRings(ShmNeighbours neighbours, FrameRing self, PolledSleep sleep) {
        this.neighbours = neighbours;
        this.self = self;
        this.sleep = sleep;
        this.begun = self;
    }

    // --- frames

    /// Adds a frame for a neighbour; false when there is no room.
    boolean put(ShmNeighbour neighbour, Frame frame) {
        FrameRing ring = neighbours.ringTo(neighbour);
        if (ring == null || !ring.put(frame)) {
            return false;
        }
        note(neighbour);
        return true;
    }

    /// Adds a frame for the link itself; false when there is no room.
    boolean putForSelf(Frame frame) {
        isAddedForSelf = true;
        return self.put(frame);
    }

    // --- messages

    /// Begins a message for the link with a slot: answers where in [#memory()] its bytes go, or with a negative
    /// number when there is no room now. It is only added with [#end()].
    public long begin(int slot, int bytes) {
        if (slot == neighbours.slot()) {
            begunFor = null;
            begun = self;
            return self.begin(bytes);
        }
        ShmNeighbour neighbour = neighbours.neighbour(slot);
        FrameRing ring = neighbour == null ? null : neighbours.ringTo(neighbour);
        if (ring == null) {
            return -1;
        }
        begunFor = neighbour;
        begun = ring;
        return ring.begin(bytes);
    }

    /// Returns the memory of the message that was begun.
    public MemorySegment memory() {
        return begun.memory();
    }

    /// Adds the message that was begun, which is complete.
    public void end() {
        begun.end();
        ShmNeighbour neighbour = begunFor;
        if (neighbour == null) {
            isAddedForSelf = true;
        } else {
            note(neighbour);
        }
    }

    /// Declines a [question][DirectMessage#QUERY] for a queue pair that is not there, or not connected to the one
    /// that asks. Where there is no room, the neighbour asks again.
    void decline(Frame query) {
        long at = begin(DirectMessage.sourceQp(query) >>> Addressee.SLOT_SHIFT, DirectMessage.HEADER_BYTES);
        if (at >= 0) {
            DirectMessage.writeDecline(memory(), at, query);
            end();
            show();
        }
    }

    /// Returns the place behind all that was added for the link with a slot; 0 when there is no such neighbour.
    public long added(int slot) {
        FrameRing ring = ring(slot);
        return ring == null ? 0 : ring.added();
    }

    /// Returns whether the link with a slot has reported that it has taken all before this place; true when there
    /// is no such neighbour.
    public boolean isRead(int slot, long place) {
        FrameRing ring = ring(slot);
        return ring == null || ring.isRead(place);
    }

    private @Nullable FrameRing ring(int slot) {
        return slot == neighbours.slot() ? self : neighbours.outgoing(slot);
    }

    // --- all

    private void note(ShmNeighbour neighbour) {
        if (!neighbour.isAdded) {
            neighbour.isAdded = true;
            added[addedCount++] = neighbour;
        }
    }

    /// Shows readers what was added for them, and wakes those that sleep.
    public void show() {
        if (isAddedForSelf) {
            isAddedForSelf = false;
            if (self.publish()) {
                sleep.ring();
            }
        }
        while (addedCount > 0) {
            ShmNeighbour neighbour = added[--addedCount];
            added[addedCount] = null;
            if (neighbour == null || neighbour.outgoing == null) {
                continue;
            }
            neighbour.isAdded = false;
            if (neighbour.outgoing.publish()) {
                neighbours.wake(neighbour);
            }
        }
    }
}

package verbena.nic.link.shm;

import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import verbena.nic.link.FrameRing;
import verbena.nic.link.Link;
import verbena.nic.link.sharing.Addressee;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.mad.Mad;

/// The rings that lead to a [ShmLink] from its neighbours and from itself. Frames for other addresses, and for groups
/// that the link is not a member of, are left out.
///
/// For the owner of the engine.
final class IncomingRings {
    private final ShmNeighbours neighbours;
    private final FrameRing self;
    private final Gid[] addresses;
    private final Set<Gid> groups;
    /// Which neighbour is read first, so that each is the first in its turn.
    private int turn;

    // Written here, read by any thread.
    private final AtomicLong malformed = new AtomicLong();
    private final AtomicLong gone = new AtomicLong();

    /// @param self the ring that leads from the link to itself
    /// @param addresses of the link
    /// @param groups that the link is a member of
    IncomingRings(ShmNeighbours neighbours, FrameRing self, Gid[] addresses, Set<Gid> groups) {
        this.neighbours = neighbours;
        this.self = self;
        this.addresses = addresses;
        this.groups = groups;
    }

    /// See [Link#receive].
    int receive(Frame[] frames, int from, int count) {
        return take(frames, from, count, false);
    }

    /// See [Link#takeMessages].
    int takeMessages(Frame[] frames, int from, int count) {
        return take(frames, from, count, true);
    }

    private int take(Frame[] frames, int from, int count, boolean messagesOnly) {
        int taken = take(neighbours.slot(), self, frames, from, count, messagesOnly);
        ShmNeighbour[] all = neighbours.heard();
        turn = turn + 1 < all.length ? turn + 1 : 0;
        for (int i = 0; i < all.length && taken < count; i++) {
            ShmNeighbour neighbour = all[turn + i < all.length ? turn + i : turn + i - all.length];
            FrameRing ring = neighbour.incoming;
            if (ring != null) {
                taken += take(neighbour.socket.slot, ring, frames, from + taken, count - taken, messagesOnly);
                if (ring.isBroken()) {
                    neighbours.close(neighbour.socket);
                }
            }
        }
        return taken;
    }

    private int take(int slot, FrameRing ring, Frame[] frames, int from, int count, boolean messagesOnly) {
        int read = messagesOnly ? ring.takeMessages(frames, from, count) : ring.take(frames, from, count);
        int taken = 0;
        for (int i = from; i < from + read; i++) {
            if (isFor(frames[i], slot)) {
                if (from + taken < i) {
                    frames[from + taken].copyFrom(frames[i]);
                }
                taken++;
            }
        }
        return taken;
    }

    /// Whether a frame of a slot is for this link. A message is the neighbour's own only when its source is.
    private boolean isFor(Frame frame, int slot) {
        boolean isFit = frame.isMessage
                ? DirectMessage.isWellFormed(frame) && DirectMessage.sourceQp(frame) >>> Addressee.SLOT_SHIFT == slot
                : frame.length >= Link.PACKET_MIN;
        if (!isFit) {
            malformed.incrementAndGet();
            return false;
        }
        if (frame.isMessage) {
            return true;
        }
        if (isMulticast(frame)) {
            return isMember(frame);
        }
        boolean isHere = isAddressedHere(frame);
        if (!isHere) {
            gone.incrementAndGet(); // there is no link with this number and this address
        }
        return isHere;
    }

    /// Whether the packet names one of the link's addresses. Management datagrams name services of any.
    private boolean isAddressedHere(Frame frame) {
        if (BigEndian.u24(frame.slot, frame.start + Addressee.QPN_AT) <= Mad.QPN) {
            return true;
        }
        for (int i = 0; i < addresses.length; i++) {
            Gid own = addresses[i];
            if (own.low() == frame.destinationLow && own.high() == frame.destinationHigh) {
                return true;
            }
        }
        return false;
    }

    static boolean isMulticast(Frame frame) {
        return BigEndian.u24(frame.slot, frame.start + Addressee.QPN_AT) == Bth.MULTICAST_QP;
    }

    private boolean isMember(Frame frame) {
        return !groups.isEmpty() && groups.contains(new Gid(frame.destinationHigh, frame.destinationLow));
    }

    /// What came that no neighbour should have sent. Any thread.
    long malformed() {
        return malformed.get();
    }

    /// Frames for links that are not there. Any thread.
    long gone() {
        return gone.get();
    }
}

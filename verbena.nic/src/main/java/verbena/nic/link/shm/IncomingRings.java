package verbena.nic.link.shm;

import static verbena.nic.link.FrameRing.Content.FRAME;
import static verbena.nic.link.FrameRing.Content.MESSAGE;

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

/// The rings that lead to a [ShmLink] from its neighbours and from itself. Frames for other addresses, and for
/// groups that the link is not a member of, are left out.
///
/// For the owner of the engine.
final class IncomingRings {
    private final ShmNeighbours neighbours;
    private final FrameRing self;
    private final Gid[] addresses;
    private final Set<Gid> groups;
    /// The neighbour that is read first, so that each is the first in its turn: for frames, and for messages.
    private int turn;

    private int turnOfMessages;

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

    /// Implements [Link#receive].
    int receive(Frame[] frames, int from, int count) {
        turn = next(turn);
        return take(FRAME, turn, frames, from, count);
    }

    /// Takes messages in the same way, of each ring those before the first frame.
    int takeMessages(Frame[] messages) {
        turnOfMessages = next(turnOfMessages);
        return take(MESSAGE, turnOfMessages, messages, 0, messages.length);
    }

    private int next(int turnBefore) {
        return turnBefore + 1 < neighbours.heard().length ? turnBefore + 1 : 0;
    }

    private int take(FrameRing.Content content, int first, Frame[] frames, int from, int count) {
        int taken = take(content, neighbours.slot(), self, frames, from, count);
        ShmNeighbour[] all = neighbours.heard();
        for (int i = 0; i < all.length && taken < count; i++) {
            ShmNeighbour neighbour = all[first + i < all.length ? first + i : first + i - all.length];
            FrameRing ring = neighbour.incoming;
            if (ring != null) {
                taken += take(content, neighbour.socket.slot, ring, frames, from + taken, count - taken);
                if (ring.isBroken()) {
                    neighbours.close(neighbour.socket);
                }
            }
        }
        return taken;
    }

    private int take(FrameRing.Content content, int slot, FrameRing ring, Frame[] frames, int from, int count) {
        int read = ring.take(content, frames, from, count);
        int taken = 0;
        for (int i = from; i < from + read; i++) {
            if (content == MESSAGE ? isOf(slot, frames[i]) : isForThis(frames[i])) {
                if (from + taken < i) {
                    frames[from + taken].copyFrom(frames[i]);
                }
                taken++;
            }
        }
        return taken;
    }

    /// Returns whether a message has a source of the neighbour itself.
    private boolean isOf(int slot, Frame message) {
        boolean isOf =
                DirectMessage.isWellFormed(message) && DirectMessage.sourceQp(message) >>> Addressee.SLOT_SHIFT == slot;
        if (!isOf) {
            malformed.incrementAndGet();
        }
        return isOf;
    }

    /// Returns whether a frame is for this link.
    private boolean isForThis(Frame frame) {
        if (frame.length < Link.PACKET_MIN) {
            malformed.incrementAndGet();
            return false;
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

    /// Returns whether the packet names one of the link's addresses. Management datagrams name services of any.
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

    /// Returns the number of arrivals that no neighbour should have sent. Any thread.
    long malformed() {
        return malformed.get();
    }

    /// Returns the number of frames for links that are not there. Any thread.
    long gone() {
        return gone.get();
    }
}

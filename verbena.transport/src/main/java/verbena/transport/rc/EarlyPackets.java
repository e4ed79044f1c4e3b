package verbena.transport.rc;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.transport.QueuePairParameters;
import verbena.wire.Frame;
import verbena.wire.ib.Psn;
import verbena.wire.ib.SelectiveAck;

/// The packets of requests that came ahead of a gap (selective repeat, decision 05). A [Responder] keeps them as
/// they came, and looks at them when their turn has come. So nothing is judged, placed or reported out of order.
/// Engine-confined.
final class EarlyPackets {
    private static final int SPAN = SelectiveAck.SPAN;
    private static final @Nullable Frame[] NONE = {};

    private final QueuePairParameters p;
    /// The packets, one place for a PSN; made when it is first needed.
    private @Nullable Frame[] kept = NONE;
    private int count;
    /// The PSN that the responder lacked when it last looked: none before it is kept.
    private int lacked;
    /// The peer needs a report of the kept packets.
    private boolean isNews;

    EarlyPackets(QueuePairParameters p) {
        this.p = p;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /// Keeps a packet, by copying it. False when there is no room for it, or its PSN is too far ahead.
    ///
    /// @param expected the PSN that is lacked
    boolean keep(Frame frame, int psn, int expected) {
        if (Psn.distance(expected, psn) >= SPAN) {
            return false;
        }
        Frame own = p.spareFrames.take();
        if (own == null) {
            return false;
        }
        if (kept == NONE) {
            kept = new @Nullable Frame[SPAN];
        }
        if (count == 0) {
            lacked = expected;
        }
        own.copyFrom(frame);
        kept[psn & SPAN - 1] = own;
        count++;
        isNews = true;
        return true;
    }

    /// Returns whether the packet with this PSN, which is ahead, is kept.
    boolean has(int psn, int expected) {
        return count > 0 && Psn.distance(expected, psn) < SPAN && kept[psn & SPAN - 1] != null;
    }

    /// Takes out the packet with the PSN that is expected now; null when it has not come. Forgets those before it.
    @Nullable
    Frame take(int expected) {
        for (int n = Math.min(SPAN, Psn.distance(lacked, expected)); n > 0 && count > 0; n--) {
            giveBack(remove(lacked));
            lacked = Psn.next(lacked);
        }
        lacked = expected;
        return count == 0 ? null : remove(expected);
    }

    private @Nullable Frame remove(int psn) {
        int place = psn & SPAN - 1;
        Frame frame = kept[place];
        if (frame != null) {
            kept[place] = null;
            count--;
        }
        return frame;
    }

    /// Gives a packet back that was taken out and is not needed any more.
    void giveBack(@Nullable Frame frame) {
        if (frame != null) {
            p.spareFrames.giveBack(frame);
        }
    }

    /// Forgets all.
    void clear() {
        for (int i = 0; count > 0; i++) {
            giveBack(remove(i));
        }
        isNews = false;
    }

    // ---- what the peer is told

    /// Asks for a report to the peer of the packets that are kept.
    void tell() {
        isNews = true;
    }

    /// Returns whether the peer needs a report.
    boolean hasNews() {
        return isNews && count > 0;
    }

    /// Writes what is kept: the payload of a [SelectiveAck].
    void write(MemorySegment segment, long offset, int expected) {
        SelectiveAck.write(segment, offset, bits(Psn.next(expected)), bits(Psn.add(expected, 1 + Long.SIZE)));
        isNews = false;
    }

    /// Returns a bit for each of 64 PSNs: whether its packet is kept.
    private long bits(int from) {
        long bits = 0;
        for (int i = 0; i < Long.SIZE; i++) {
            bits |= kept[Psn.add(from, i) & SPAN - 1] == null ? 0 : 1L << i;
        }
        return bits;
    }
}

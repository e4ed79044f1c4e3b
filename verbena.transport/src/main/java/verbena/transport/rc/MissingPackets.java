package verbena.transport.rc;

import java.util.Arrays;
import verbena.transport.queue.SendRequest;
import verbena.wire.ib.Psn;
import verbena.wire.ib.SelectiveAck;

/// The packets of requests that the peer reports as missing, while it keeps others behind them (selective repeat,
/// decision 05). Engine-confined.
///
/// Each that is missing is sent again once, in order. It is sent once more when the peer has something that left
/// after that: what was sent for the first time later, or another one that was sent again later. When there is no
/// such packet, probes and the ACK timer are left.
final class MissingPackets {
    private static final int SPAN = SelectiveAck.SPAN;
    private static final int WORD_SHIFT = 6;
    private static final int[] NONE = {};

    private final SendCursor cursor;

    /// Whether the peer lacks something.
    private boolean isKnown;
    /// The first PSN that the peer lacks.
    private int lacked;
    /// The peer has this PSN's predecessor, or something behind it: any packet before this one that it has not is
    /// missing.
    private int knownBefore;
    /// The first PSN that has not been looked at.
    private int lookFrom;
    /// The packets that the peer keeps: one bit for a PSN.
    private final long[] kept = new long[SPAN >> WORD_SHIFT];

    /// The count of the packet that repeated each PSN, from 1 on; [#nextThen] has the PSN that was next to be sent
    /// for the first time. Made when they are first needed.
    private int[] repeatedAs = NONE;

    private int[] nextThen = NONE;
    private int repeated;
    /// The newest packet sent again that the peer has.
    private int repeatedAndKept;

    MissingPackets(SendCursor cursor) {
        this.cursor = cursor;
    }

    /// Forgets which packets are missing: all requests without an answer are sent again, or nothing is sent any
    /// more.
    void forget() {
        if (isKnown) {
            isKnown = false;
            Arrays.fill(kept, 0);
            Arrays.fill(repeatedAs, 0);
            repeated = 0;
            repeatedAndKept = 0;
        }
    }

    /// Returns whether the peer lacks something.
    boolean isKnown() {
        return isKnown;
    }

    // ---- what the peer tells

    /// Notes that the peer lacks `psn`, and keeps those packets behind it whose bits are set.
    ///
    /// @return whether that is news: nothing was missing before
    boolean told(int psn, long near, long far) {
        boolean isNews = !isKnown;
        if (isNews) {
            isKnown = true;
            lacked = psn;
            knownBefore = psn;
        } else if (Psn.isBefore(psn, lacked)) {
            return false; // older than what is known
        }
        pass(psn);
        knownBefore = Psn.max(knownBefore, Psn.next(psn));
        keep(Psn.next(psn), near);
        keep(Psn.add(psn, 1 + Long.SIZE), far);
        lookFrom = lacked;
        return isNews;
    }

    private void keep(int from, long bits) {
        for (long left = bits; left != 0; left &= left - 1) {
            int psn = Psn.add(from, Long.numberOfTrailingZeros(left));
            if (!cursor.wasSent(psn) || Psn.distance(lacked, psn) >= SPAN) {
                return;
            }
            kept[word(psn)] |= 1L << psn;
            noteKept(psn);
            knownBefore = Psn.max(knownBefore, Psn.next(psn));
        }
    }

    /// Notes that all before `psn` have their answers.
    void answeredBefore(int psn) {
        if (isKnown && Psn.isAfter(psn, lacked)) {
            pass(psn);
            if (!Psn.isBefore(lacked, knownBefore)) {
                forget();
            }
        }
    }

    private void pass(int psn) {
        for (int n = Math.min(SPAN, Psn.distance(lacked, psn)); n > 0; n--) {
            noteKept(lacked);
            kept[word(lacked)] &= ~(1L << lacked);
            if (repeatedAs != NONE) {
                repeatedAs[lacked & SPAN - 1] = 0;
            }
            lacked = Psn.next(lacked);
        }
        lacked = psn;
    }

    private void noteKept(int psn) {
        if (repeatedAs != NONE) {
            repeatedAndKept = Math.max(repeatedAndKept, repeatedAs[psn & SPAN - 1]);
        }
    }

    private static int word(int psn) {
        return (psn & SPAN - 1) >>> WORD_SHIFT;
    }

    private boolean has(int psn) {
        return (kept[word(psn)] & 1L << psn) != 0;
    }

    /// Returns whether the peer has reported that it keeps the packet with this PSN.
    boolean isKept(int psn) {
        return isKnown && !Psn.isBefore(psn, lacked) && Psn.distance(lacked, psn) < SPAN && has(psn);
    }

    /// Returns whether the peer has reported that it lacks the packet with this PSN.
    boolean isMissing(int psn) {
        return isKnown && !Psn.isBefore(psn, lacked) && Psn.isBefore(psn, knownBefore) && !has(psn);
    }

    // ---- what is sent again

    /// Looks for the next packet that is missing and has to be sent again.
    ///
    /// @return the position of its request; negative when there is none now
    long find() {
        if (!isKnown) {
            return -1;
        }
        lookFrom = Psn.max(lookFrom, Psn.max(lacked, cursor.unacked()));
        int end = Psn.min(knownBefore, cursor.next());
        long position = Psn.isBefore(lookFrom, end) ? cursor.find(lookFrom) : -1;
        while (position >= 0 && Psn.isBefore(lookFrom, end)) {
            SendRequest request = cursor.at(position);
            int index = Psn.distance(request.firstPsn, lookFrom);
            if (!has(lookFrom) && isDue(lookFrom)) {
                return position;
            }
            int psns = request.psns(index);
            lookFrom = Psn.add(lookFrom, psns);
            position += index + psns == request.psnCount ? 1 : 0;
        }
        return -1;
    }

    /// Returns whether the packet was not sent again, or its repetition got lost too.
    private boolean isDue(int psn) {
        int place = psn & SPAN - 1;
        return repeatedAs == NONE
                || repeatedAs[place] == 0
                || repeatedAs[place] < repeatedAndKept
                || Psn.isBefore(nextThen[place], knownBefore);
    }

    /// Returns the PSN that was found.
    int missing() {
        return lookFrom;
    }

    /// Notes that the packets which were found have been sent again.
    void repeated(int psns) {
        if (repeatedAs == NONE) {
            repeatedAs = new int[SPAN];
            nextThen = new int[SPAN];
        }
        int place = lookFrom & SPAN - 1;
        repeatedAs[place] = ++repeated;
        nextThen[place] = cursor.next();
        lookFrom = Psn.add(lookFrom, psns);
    }
}

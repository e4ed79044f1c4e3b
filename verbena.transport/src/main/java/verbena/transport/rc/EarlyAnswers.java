package verbena.transport.rc;

import verbena.transport.queue.SendRequest;
import verbena.wire.ib.Psn;

/// The answers to READs that came before those of earlier PSNs, and which of the missing ones the peer is asked for
/// again (selective repeat, decision 05). Engine-confined.
///
/// An answer to a READ is placed when it comes. An answer that comes early shows that those before it are missing:
/// the peer is asked for each once, and for nothing else. If that is not enough, probes and the ACK timer are left.
final class EarlyAnswers {
    /// The span ahead of the first missing answer in which an answer is kept: four times the largest window.
    private static final int SPAN = 512;

    private static final int WORD_SHIFT = 6;
    private static final long[] NONE = {};

    private final SendCursor cursor;
    /// The answers that have come, one bit for a PSN; made when it is first needed.
    private long[] bits = NONE;
    private int count;

    /// Whether answers before [#knownBefore] are asked for again.
    private boolean isRecovering;
    /// The peer has carried out all that is before this PSN.
    private int knownBefore;
    /// The first PSN that has not been looked at.
    private int lookFrom;
    /// The answers that were asked for again; the peer takes only so many such requests at once.
    private final OutstandingReads asked = new OutstandingReads();

    EarlyAnswers(SendCursor cursor) {
        this.cursor = cursor;
    }

    // ---- life

    /// Forgets everything: the connection ends, or begins.
    void clear() {
        bits = NONE;
        count = 0;
        goBack();
    }

    /// Forgets which answers are missing, because all requests without an answer are sent again; answers that have
    /// come stay.
    void goBack() {
        isRecovering = false;
        asked.clear();
    }

    // ---- what has come

    /// Returns whether there is a place for the answer with this PSN.
    boolean isInSpan(int psn) {
        return Psn.distance(cursor.unacked(), psn) < SPAN;
    }

    boolean has(int psn) {
        return count > 0 && (bits[word(psn)] & 1L << psn) != 0;
    }

    void add(int psn) {
        assert isInSpan(psn) && !has(psn) : "it has just come";
        if (bits == NONE) {
            bits = new long[SPAN >> WORD_SHIFT];
        }
        bits[word(psn)] |= 1L << psn;
        count++;
    }

    /// Forgets that an answer has come, because all before it have; false when it has not.
    boolean take(int psn) {
        if (!has(psn)) {
            return false;
        }
        bits[word(psn)] &= ~(1L << psn);
        count--;
        return true;
    }

    private static int word(int psn) {
        return (psn & SPAN - 1) >>> WORD_SHIFT;
    }

    // ---- what is missing

    /// Notes that the peer has carried out everything before `psn`, and that some answers before it have not come.
    ///
    /// @return whether that is news: nothing was missing before
    boolean know(int psn) {
        if (!isRecovering) {
            isRecovering = true;
            knownBefore = psn;
            lookFrom = cursor.unacked();
            return true;
        }
        knownBefore = Psn.max(knownBefore, psn);
        return false;
    }

    /// Notes that all answers before `psn` have come.
    void answeredBefore(int psn) {
        asked.answeredBefore(psn);
        isRecovering &= Psn.isBefore(psn, knownBefore);
    }

    /// Returns whether the peer is known to have carried out a request that ends before `psn`.
    boolean isKnown(int psn) {
        return isRecovering && !Psn.isAfter(psn, knownBefore);
    }

    /// Looks for the next answer that is missing and was not asked for again.
    ///
    /// @param askedMax how many requests for such answers the peer takes at once
    /// @return the position of its request; negative when there is none now
    long findMissing(int askedMax) {
        if (!isRecovering || asked.size() >= askedMax) {
            return -1;
        }
        lookFrom = Psn.max(lookFrom, cursor.unacked());
        int end = Psn.min(knownBefore, cursor.next());
        for (long at = cursor.find(lookFrom); at >= 0 && Psn.isBefore(lookFrom, end); at = cursor.find(lookFrom)) {
            SendRequest request = cursor.at(at);
            if (!request.operation.needsResponse()) {
                lookFrom = Psn.add(request.firstPsn, request.psnCount);
            } else if (has(lookFrom)) {
                lookFrom = Psn.next(lookFrom);
            } else {
                return at;
            }
        }
        return -1;
    }

    /// Returns the PSN that was found.
    int missing() {
        return lookFrom;
    }

    /// Returns how many of `most` PSNs from this PSN on have no answer, up to the first that has an answer.
    int run(int psn, int most) {
        int n = 1;
        while (n < most && count > 0 && !has(Psn.add(psn, n))) {
            n++;
        }
        return count == 0 ? most : n;
    }

    /// Notes that the answers which were found have been asked for again, perhaps up to the end of their READ. A
    /// peer that has answered a part of a READ has carried out the whole of it.
    void asked(int psns, int askedMax) {
        lookFrom = Psn.add(lookFrom, psns);
        knownBefore = Psn.max(knownBefore, lookFrom);
        asked.add(Psn.previous(lookFrom), askedMax);
    }
}

package verbena.transport.rc;

import verbena.transport.queue.SlotRing;

/// A ring of what the responder still has to send, in order. Acknowledgements merge with one that waits at the end;
/// everything else stays as it is.
final class Answers {
    enum Kind {
        /// ACK, NAK or RNR NAK, by its syndrome.
        ACKNOWLEDGE,
        READ,
        ATOMIC,
        /// Of an ATOMIC WRITE or FLUSH.
        EMPTY
    }

    static final class Answer {
        Kind kind = Kind.ACKNOWLEDGE;
        /// Whether it repeats an answer that was given before.
        boolean isReplay;
        int psn;
        int msn;
        int syndrome;
        // READ
        long address;
        long bytes;
        int rkey;
        int protectionDomain;
        int psnCount;
        /// Packets of the READ that have been sent.
        int packet;
        // ATOMIC
        long original;
    }

    private final SlotRing<Answer> ring;
    private final int capacity;
    /// Position of the first, which counts up for ever.
    private long first;
    private int count;

    Answers(int capacity) {
        this.capacity = capacity;
        ring = new SlotRing<>(capacity, Answer::new);
    }

    boolean isEmpty() {
        return count == 0;
    }

    /// Whether `n` more fit.
    boolean hasRoom(int n) {
        return count + n <= capacity;
    }

    void clear() {
        first += count;
        count = 0;
    }

    Answer first() {
        return ring.at(first);
    }

    void removeFirst() {
        first++;
        count--;
    }

    Answer at(int index) {
        return ring.at(first + index);
    }

    int size() {
        return count;
    }

    /// READs and atomics that wait for their first answer. Repeated answers do not count: the peer may have had the
    /// first one late, after it had asked again, and start its next READ.
    int resources() {
        int n = 0;
        for (int i = 0; i < count; i++) {
            n += at(i).kind == Kind.ACKNOWLEDGE || at(i).isReplay ? 0 : 1;
        }
        return n;
    }

    /// Adds an acknowledgement; false when there is no room.
    boolean acknowledge(int psn, int msn, int syndrome, boolean isAck) {
        Answer last = count == 0 ? null : at(count - 1);
        if (last == null || !isAck || last.kind != Kind.ACKNOWLEDGE || last.syndrome != syndrome) {
            if (!hasRoom(1)) {
                return false;
            }
            last = add(Kind.ACKNOWLEDGE, false);
        }
        last.psn = psn;
        last.msn = msn;
        last.syndrome = syndrome;
        return true;
    }

    /// Adds an answer to be filled in; the caller has asked for room.
    Answer add(Kind kind, boolean isReplay) {
        Answer answer = ring.claim(first + count++, first);
        answer.kind = kind;
        answer.isReplay = isReplay;
        answer.packet = 0;
        return answer;
    }
}

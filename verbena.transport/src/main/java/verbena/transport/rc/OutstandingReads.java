package verbena.transport.rc;

import verbena.wire.ib.Psn;

/// The READs and atomics that were sent and have no answer yet, each known by its last PSN, oldest first. The peer
/// takes only so many at once (IBTA 9.7.5.1.3). Engine-confined.
final class OutstandingReads {
    /// A ring that is made when it is first needed.
    private int[] ends = {};
    private int first;
    private int size;

    int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    /// Counts one more READ that has been sent.
    ///
    /// @param end its last PSN
    /// @param max how many the peer takes at once
    void add(int end, int max) {
        if (size == ends.length) {
            int[] more = new int[Math.max(max, size + 1)];
            for (int i = 0; i < size; i++) {
                more[i] = ends[(first + i) % ends.length];
            }
            ends = more;
            first = 0;
        }
        assert size == 0 || Psn.isBefore(ends[(first + size - 1) % ends.length], end) : "oldest first";
        ends[(first + size++) % ends.length] = end;
    }

    /// Notes that all PSNs before `psn` have their answers.
    void answeredBefore(int psn) {
        while (size > 0 && Psn.isBefore(ends[first], psn)) {
            first = (first + 1) % ends.length;
            size--;
        }
    }
}

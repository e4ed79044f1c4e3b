package verbena.transport.iwarp;

import java.util.Arrays;

/// The READs and atomics that the peer has asked for and that are not answered yet, oldest first. As many as the
/// peer may have outstanding; made when the first one comes.
final class OwedResponses {
    static final class Response {
        /// The number of the request in its queue.
        int msn;
        boolean isAtomic;
        // of a READ
        int sinkStag;
        long sinkOffset;
        int sourceStag;
        long sourceOffset;
        long bytes;
        /// The number of bytes of it that have been sent.
        long sent;
        // of an atomic
        int identifier;
        long original;
    }

    private Response[] ring = {};
    private int capacity;
    private int first;
    private int size;

    /// Forgets all, and takes so many from now on.
    void start(int max) {
        capacity = Math.max(1, max);
        first = 0;
        size = 0;
        ring = ring.length == capacity ? ring : new Response[0];
    }

    void clear() {
        size = 0;
    }

    boolean isEmpty() {
        return size == 0;
    }

    boolean isFull() {
        return size == capacity;
    }

    Response first() {
        assert size > 0 : "there is a first";
        return ring[first];
    }

    void removeFirst() {
        assert size > 0 : "there is a first";
        first = (first + 1) % capacity;
        size--;
    }

    /// Adds a response behind the others; the caller has asked [#isFull].
    Response add() {
        assert !isFull() : "the caller has asked for room";
        if (ring.length == 0) {
            ring = new Response[capacity];
            Arrays.setAll(ring, _ -> new Response());
        }
        Response added = ring[(first + size++) % capacity];
        added.sent = 0;
        return added;
    }
}

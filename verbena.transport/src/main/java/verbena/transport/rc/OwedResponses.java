package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.queue.SlotRing;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Syndrome;

/// The responses that a [Responder] still has to send, in order. An acknowledgement replaces one that waits at the
/// end; everything else stays as it is. Engine-confined.
final class OwedResponses {
    static final class Response {
        ResponseKind kind = ResponseKind.ACKNOWLEDGE;
        /// Whether it repeats a response that was given before.
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
        /// Packets of it that have been sent.
        int packet;
        // ATOMIC
        long original;

        /// Returns whether all of its packets have been sent.
        boolean isSent() {
            return packet == psnCount;
        }
    }

    /// Responses that one request may need: the acknowledgement of the requests before it, and its own.
    static final int OF_A_REQUEST = 2;

    private SlotRing<Response> ring = new SlotRing<>(OF_A_REQUEST, Response::new);
    private int capacity = OF_A_REQUEST;
    /// Position of the first, which counts up for ever.
    private long first;
    private int count;

    /// Makes room for so many from now on, and forgets those that waited.
    void resize(int newCapacity) {
        capacity = newCapacity;
        ring = new SlotRing<>(newCapacity, Response::new);
        first = 0;
        count = 0;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /// Returns whether `n` more fit.
    boolean hasRoom(int n) {
        return count + n <= capacity;
    }

    void clear() {
        first += count;
        count = 0;
    }

    Response first() {
        return at(0);
    }

    void removeFirst() {
        assert count > 0 : "there is a first";
        first++;
        count--;
    }

    private Response at(int index) {
        assert index >= 0 && index < count : "inside the ring";
        return ring.at(first + index);
    }

    /// Returns the number of READs and atomics that wait for their first response. Repeated responses do not count:
    /// the first response may have reached the peer late, after it had asked again, and the peer may start its next
    /// READ then.
    int resources() {
        int n = 0;
        for (int i = 0; i < count; i++) {
            n += at(i).kind == ResponseKind.ACKNOWLEDGE || at(i).isReplay ? 0 : 1;
        }
        return n;
    }

    /// Returns the READ whose response has `psn` among its PSNs; null when none waits.
    @Nullable
    Response findRead(int psn) {
        for (int i = 0; i < count; i++) {
            Response waiting = at(i);
            if (waiting.kind == ResponseKind.READ && Psn.isWithin(psn, waiting.psn, waiting.psnCount)) {
                return waiting;
            }
        }
        return null;
    }

    /// Returns whether a response that waits has yet to send the packet of a READ with this PSN.
    boolean willSend(int psn) {
        for (int i = 0; i < count; i++) {
            Response waiting = at(i);
            int left = waiting.psnCount - waiting.packet;
            if (waiting.kind == ResponseKind.READ && Psn.isWithin(psn, Psn.add(waiting.psn, waiting.packet), left)) {
                return true;
            }
        }
        return false;
    }

    /// Adds an acknowledgement; false when there is no room.
    boolean acknowledge(int syndrome, int psn, int msn) {
        Response last = count == 0 ? null : at(count - 1);
        boolean replaces = last != null
                && syndrome == Syndrome.ACK
                && last.kind == ResponseKind.ACKNOWLEDGE
                && last.syndrome == Syndrome.ACK;
        if (last == null || !replaces) {
            if (!hasRoom(1)) {
                return false;
            }
            last = add(ResponseKind.ACKNOWLEDGE, psn, msn);
        }
        last.psn = psn;
        last.msn = msn;
        last.syndrome = syndrome;
        return true;
    }

    /// Adds the response to a READ of `bytes` from `at` on, of memory that `resource` names.
    Response addRead(ResponderResources.Resource resource, int psn, int psnCount, long at, long bytes, int msn) {
        Response response = add(ResponseKind.READ, psn, msn);
        response.psnCount = psnCount;
        response.address = at;
        response.bytes = bytes;
        response.rkey = resource.rkey;
        response.protectionDomain = resource.protectionDomain;
        return response;
    }

    /// Adds the response to a request that is no READ.
    Response addResult(ResponderResources.Resource resource, int msn) {
        Response response = add(resource.kind, resource.psn, msn);
        response.original = resource.original;
        return response;
    }

    /// Adds a response to be filled in; the caller has asked for room.
    private Response add(ResponseKind kind, int psn, int msn) {
        assert hasRoom(1) : "the caller has asked for room";
        Response response = ring.claim(first + count++, first);
        response.kind = kind;
        response.isReplay = false;
        response.psn = psn;
        response.psnCount = 1;
        response.msn = msn;
        response.packet = 0;
        return response;
    }
}

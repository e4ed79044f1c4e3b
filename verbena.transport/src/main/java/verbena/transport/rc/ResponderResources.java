package verbena.transport.rc;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.wire.ib.Psn;

/// The responder resources of a queue pair (IBTA 9.7.5.1.3). A [Responder] remembers here the newest READs, atomics
/// and other requests that have a response of their own, for duplicates of them. READs are carried out again from
/// memory; all else gets the response that it had. Engine-confined.
final class ResponderResources {
    /// One remembered request.
    static final class Resource {
        ResponseKind kind = ResponseKind.READ;
        private boolean isValid;
        int psn;
        int psnCount;
        // READ
        long address;
        long bytes;
        int rkey;
        /// The protection domain whose memory it reads.
        int protectionDomain;
        // ATOMIC
        long original;

        /// Returns whether it is a READ of these bytes, and perhaps of more.
        boolean covers(int key, long at, long length) {
            return rkey == key && length <= bytes && Long.compareUnsigned(at - address, bytes - length) <= 0;
        }
    }

    private static final Resource[] NONE = {};

    /// The resources; made when the first request comes that needs one: many peers never READ.
    private Resource[] ring = NONE;
    private int capacity;
    private int next;

    /// Sets how many requests are remembered from now on, and forgets all when the number has changed.
    ///
    /// @return whether it has
    boolean resize(int newCapacity) {
        if (capacity == newCapacity) {
            return false;
        }
        capacity = newCapacity;
        ring = NONE;
        next = 0;
        return true;
    }

    /// Forgets all.
    void clear() {
        for (Resource resource : ring) {
            resource.isValid = false;
        }
    }

    /// Remembers one more request in place of the oldest; the caller fills it in.
    Resource take(ResponseKind kind, int psn, int psnCount) {
        assert psnCount > 0 : "a request has a PSN";
        if (ring.length == 0) {
            ring = new Resource[capacity];
            Arrays.setAll(ring, _ -> new Resource());
        }
        assert next < ring.length : "inside the ring";
        Resource resource = ring[next];
        next = (next + 1) % ring.length;
        resource.isValid = true;
        resource.kind = kind;
        resource.psn = psn;
        resource.psnCount = psnCount;
        return resource;
    }

    /// Returns the remembered request of this kind that has `psn` among its PSNs; null when there is none.
    @Nullable
    Resource find(ResponseKind kind, int psn) {
        for (Resource resource : ring) {
            if (resource.isValid && Psn.isWithin(psn, resource.psn, resource.psnCount)) {
                return resource.kind == kind ? resource : null;
            }
        }
        return null;
    }
}

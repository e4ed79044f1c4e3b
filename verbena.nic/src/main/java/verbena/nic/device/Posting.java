package verbena.nic.device;

import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;

/// What both kinds of batches check of a region.
final class Posting {
    /// Takes the request with a mistake back and returns what its message begins with: its place in the batch.
    interface Dropper {
        String drop();
    }

    private Posting() {}

    /// Whether requests of `domain` may name this part of `region`.
    static void check(MemoryRegion region, long offset, int length, SoftProtectionDomain domain, Dropper dropper) {
        if (!(region instanceof SoftMemoryRegion own)) {
            throw new IllegalArgumentException(dropper.drop() + "sge: region: of another device");
        }
        if (!own.isOpen()) {
            throw new InvalidStateException(dropper.drop() + "sge: region: " + own + " is closed");
        }
        if (!own.protectionDomain().equals(domain)) {
            throw new IllegalArgumentException(
                    dropper.drop() + "sge: region: of " + own.protectionDomain() + ", and the request is of " + domain);
        }
        if (length < 0) {
            throw new IllegalArgumentException(dropper.drop() + "sge: length: not negative, got " + length);
        }
        if (offset < 0 || offset > own.length() - length) {
            throw new IndexOutOfBoundsException(dropper.drop() + "sge: offset " + offset + " and length " + length
                    + " are not inside the region's " + own.length() + " bytes");
        }
    }
}

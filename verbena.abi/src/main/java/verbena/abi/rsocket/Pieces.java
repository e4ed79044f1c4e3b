package verbena.abi.rsocket;

import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.stream.protocol.SendRing;
import verbena.stream.protocol.StreamSource;

/// Memory of the program's in pieces: `struct iovec`, of readv(2) and sendmsg(2).
final class Pieces implements StreamSource {
    private static final int IOVEC_BYTES = 16;
    private static final long COUNT_MAX = 1_024; // IOV_MAX

    /// A transfer of the bytes of one piece.
    @FunctionalInterface
    interface Mover {
        /// Moves up to `length` of them.
        ///
        /// @param before bytes of this turn that have been moved
        /// @return how many it has moved
        long move(long address, long length, long before);
    }

    static final Pieces NONE = new Pieces(0);

    private final long[] addresses;
    private final long[] lengths;
    private long bytes;

    private Pieces(int count) {
        addresses = new long[count];
        lengths = new long[count];
    }

    private void set(int index, long address, long length) {
        if (length < 0) {
            throw new IllegalArgumentException("length: " + Long.toUnsignedString(length));
        }
        addresses[index] = length == 0 ? address : Native.some(address);
        lengths[index] = length;
        bytes += length;
        if (bytes < 0) {
            throw new IllegalArgumentException("lengths: " + Long.toUnsignedString(bytes) + " altogether");
        }
    }

    static Pieces one(long address, long length) {
        var made = new Pieces(1);
        made.set(0, address, length);
        return made;
    }

    static Pieces of(long vector, long count) {
        if (count < 0 || count > COUNT_MAX) {
            throw new IllegalArgumentException("iovcnt: 0 to " + COUNT_MAX + ", got " + count);
        }
        var made = new Pieces((int) count);
        for (int i = 0; i < count; i++) {
            long at = Native.some(vector) + (long) i * IOVEC_BYTES;
            made.set(i, Memory.getLong(at), Memory.getLong(at + 8));
        }
        return made;
    }

    long bytes() {
        return bytes;
    }

    @Override
    public void copy(long from, int length, SendRing into) {
        long _ = forEach(from, (address, bytes, before) -> {
            int fits = (int) Math.min(bytes, length - before);
            into.put(Memory.ALL, address, fits);
            return fits;
        });
    }

    /// Moves one piece after the other until one does not move as a whole.
    ///
    /// @param done bytes at the beginning that have been moved
    /// @return how many more have been moved
    long forEach(long done, Mover mover) {
        long over = done;
        long moved = 0;
        for (int i = 0; i < addresses.length; i++) {
            if (over >= lengths[i]) {
                over -= lengths[i];
                continue;
            }
            long length = lengths[i] - over;
            long now = mover.move(addresses[i] + over, length, moved);
            moved += now;
            over = 0;
            if (now < length) {
                break;
            }
        }
        return moved;
    }
}

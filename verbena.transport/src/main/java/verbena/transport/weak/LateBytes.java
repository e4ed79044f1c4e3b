package verbena.transport.weak;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.Predicate;
import verbena.transport.Protocol;
import verbena.transport.memory.Reach;

/// Bytes that have arrived and that no program sees yet, in pieces with a time each. Pieces that overlap become
/// visible in the order in which they have come. Engine-confined.
final class LateBytes {
    /// A piece. Its bytes lie in memory that lasts.
    record Piece(
            MemorySegment bytes,
            long from,
            int length,
            MemorySegment to,
            long at,
            Reach reach,
            long message,
            long dueNanos,
            long number) {
        private boolean overlaps(MemorySegment other, long otherAt, int otherLength) {
            long mine = to.address() + at;
            long others = other.address() + otherAt;
            return mine < others + otherLength && others < mine + length;
        }
    }

    /// Copies a piece to where programs see it.
    interface Placer {
        void place(Piece piece);
    }

    private final Placer placer;
    private final PriorityQueue<Piece> pieces =
            new PriorityQueue<>(Comparator.comparingLong(Piece::dueNanos).thenComparingLong(Piece::number));
    private long numbers;

    LateBytes(Placer placer) {
        this.placer = placer;
    }

    /// Returns memory for bytes that are about to be added, with a copy of them.
    static MemorySegment copy(MemorySegment from, long offset, int bytes) {
        MemorySegment copy = Arena.ofAuto().allocate(bytes, Long.BYTES);
        MemorySegment.copy(from, offset, copy, 0, bytes);
        return copy;
    }

    /// Adds a piece.
    ///
    /// @param bytes in memory that lasts
    /// @param message of which it is a part
    /// @return when it becomes visible: not before what it overlaps
    long add(
            MemorySegment bytes,
            long from,
            int length,
            MemorySegment to,
            long at,
            Reach reach,
            long message,
            long dueNanos) {
        long due = dueNanos;
        for (Piece piece : pieces) {
            if (piece.dueNanos > due && piece.overlaps(to, at, length)) {
                due = piece.dueNanos;
            }
        }
        pieces.add(new Piece(bytes, from, length, to, at, reach, message, due, numbers++));
        return due;
    }

    boolean isEmpty() {
        return pieces.isEmpty();
    }

    int size() {
        return pieces.size();
    }

    /// Returns when the next piece becomes visible.
    long dueNanos() {
        Piece first = pieces.peek();
        return first == null ? Protocol.NEVER : first.dueNanos;
    }

    /// Shows the pieces whose time has come.
    void show(long nowNanos) {
        while (dueNanos() <= nowNanos) {
            placer.place(pieces.remove());
        }
    }

    /// Shows all.
    void showAll() {
        while (!pieces.isEmpty()) {
            placer.place(pieces.remove());
        }
    }

    /// Forgets some pieces.
    void forget(Predicate<Piece> which) {
        pieces.removeIf(which);
    }
}

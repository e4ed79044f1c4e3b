package verbena.transport.memory;

/// Atomics on parts of 8 bytes (RFC 7306 5.1). They are made of a [MemoryTable]'s atomics on all 8 bytes, so all of
/// them are atomic among each other. [MemoryTable#original()] is the value before. Engine-confined.
public final class MaskedAtomics {
    private MaskedAtomics() {}

    /// Carries out [MemoryTable#fetchAdd] in fields that are added each by itself (RFC 7306 5.1.1).
    ///
    /// @param mask the highest bit of each field: nothing is carried out of it
    public static MemoryVerdict fetchAdd(MemoryTable memory, int rkey, long address, long add, long mask) {
        if (mask << 1 == 0) {
            return memory.fetchAdd(rkey, address, add);
        }
        while (true) {
            MemoryVerdict verdict = memory.fetchAdd(rkey, address, 0);
            if (verdict != MemoryVerdict.OK) {
                return verdict;
            }
            long original = memory.original();
            long sum = ((original & ~mask) + (add & ~mask)) ^ ((original ^ add) & mask);
            if (replaced(memory, rkey, address, sum)) {
                return MemoryVerdict.OK;
            }
        }
    }

    /// Carries out [MemoryTable#compareSwap] of some bits (RFC 7306 5.1.2).
    ///
    /// @param compareMask the bits that have to be equal
    /// @param swapMask the bits that are replaced
    public static MemoryVerdict compareSwap(
            MemoryTable memory, int rkey, long address, long compare, long compareMask, long swap, long swapMask) {
        if (compareMask == -1 && swapMask == -1) {
            return memory.compareSwap(rkey, address, compare, swap);
        }
        while (true) {
            MemoryVerdict verdict = memory.fetchAdd(rkey, address, 0);
            if (verdict != MemoryVerdict.OK) {
                return verdict;
            }
            long original = memory.original();
            if (((original ^ compare) & compareMask) != 0
                    || replaced(memory, rkey, address, (original & ~swapMask) | (swap & swapMask))) {
                return MemoryVerdict.OK;
            }
        }
    }

    /// Replaces the value that was found by `value`. Returns false when that value is not there any more; memory
    /// that is gone meanwhile needs no other attempt.
    private static boolean replaced(MemoryTable memory, int rkey, long address, long value) {
        long expected = memory.original();
        return memory.compareSwap(rkey, address, expected, value) != MemoryVerdict.OK || memory.original() == expected;
    }
}

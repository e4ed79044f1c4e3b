package verbena.transport.memory;

/// The scatter/gather entries of a request, in parallel arrays that are made once.
public final class ScatterList {
    private static final int[] NO_INTS = {};
    private static final long[] NO_LONGS = {};

    public final int[] lkeys;
    public final long[] addresses;
    /// Unsigned.
    public final int[] lengths;
    public int count;
    /// Sum of the lengths.
    public long bytes;

    /// @param max entries it can hold
    public ScatterList(int max) {
        lkeys = max == 0 ? NO_INTS : new int[max];
        addresses = max == 0 ? NO_LONGS : new long[max];
        lengths = max == 0 ? NO_INTS : new int[max];
    }

    public void clear() {
        count = 0;
        bytes = 0;
    }

    public boolean isFull() {
        return count == lkeys.length;
    }

    /// Returns the number of bytes of an entry.
    public long length(int index) {
        return Integer.toUnsignedLong(lengths[index]);
    }

    /// Adds an entry; the caller has asked [#isFull()].
    ///
    /// @param length unsigned
    public void add(int lkey, long address, int length) {
        assert !isFull() : "the caller has asked for room";
        lkeys[count] = lkey;
        addresses[count] = address;
        lengths[count] = length;
        count++;
        bytes += Integer.toUnsignedLong(length);
    }

    public void copyFrom(ScatterList other) {
        assert other.count <= lkeys.length : "it has room for the other's entries";
        System.arraycopy(other.lkeys, 0, lkeys, 0, other.count);
        System.arraycopy(other.addresses, 0, addresses, 0, other.count);
        System.arraycopy(other.lengths, 0, lengths, 0, other.count);
        count = other.count;
        bytes = other.bytes;
    }
}

package verbena.transport.queue;

/// The scatter/gather entries of a request: parallel arrays made once.
public final class ScatterList {
    public final int[] lkeys;
    public final long[] addresses;
    public final int[] lengths;
    public int count;
    /// Sum of the lengths.
    public long bytes;

    /// @param max entries it can hold
    public ScatterList(int max) {
        lkeys = new int[max];
        addresses = new long[max];
        lengths = new int[max];
    }

    public void clear() {
        count = 0;
        bytes = 0;
    }

    public boolean isFull() {
        return count == lkeys.length;
    }

    /// Adds an entry; the caller has asked [#isFull()].
    public void add(int lkey, long address, int length) {
        lkeys[count] = lkey;
        addresses[count] = address;
        lengths[count] = length;
        count++;
        bytes += length;
    }

    public void copyFrom(ScatterList other) {
        System.arraycopy(other.lkeys, 0, lkeys, 0, other.count);
        System.arraycopy(other.addresses, 0, addresses, 0, other.count);
        System.arraycopy(other.lengths, 0, lengths, 0, other.count);
        count = other.count;
        bytes = other.bytes;
    }
}

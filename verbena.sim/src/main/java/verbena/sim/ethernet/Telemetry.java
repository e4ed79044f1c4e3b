package verbena.sim.ethernet;

/// The record that switches write into a packet of data on its way: the state of each port as the packet leaves
/// (in-band telemetry). Pooled with its packet.
final class Telemetry {
    private static final int HOPS_MAX = 8;

    private final long[] queuedBytes = new long[HOPS_MAX];
    private final long[] sentBytes = new long[HOPS_MAX];
    private final long[] atPicos = new long[HOPS_MAX];
    private final long[] picosPerByte = new long[HOPS_MAX];
    private int hops;

    void clear() {
        hops = 0;
    }

    /// Adds a way out. What does not fit is left out.
    ///
    /// @param bytesQueued   that wait behind the packet
    /// @param bytesSent     that have left, ever
    /// @param picosEachByte of the link
    void add(long bytesQueued, long bytesSent, long picosEachByte, long now) {
        if (hops < HOPS_MAX) {
            queuedBytes[hops] = bytesQueued;
            sentBytes[hops] = bytesSent;
            atPicos[hops] = now;
            picosPerByte[hops++] = picosEachByte;
        }
    }

    int hops() {
        return hops;
    }

    /// Returns the bytes that waited behind the packet.
    long queuedBytes(int hop) {
        return queuedBytes[hop];
    }

    /// Returns the bytes that had left by then, ever.
    long sentBytes(int hop) {
        return sentBytes[hop];
    }

    long atPicos(int hop) {
        return atPicos[hop];
    }

    long picosPerByte(int hop) {
        return picosPerByte[hop];
    }

    void copyFrom(Telemetry other) {
        hops = other.hops;
        System.arraycopy(other.queuedBytes, 0, queuedBytes, 0, hops);
        System.arraycopy(other.sentBytes, 0, sentBytes, 0, hops);
        System.arraycopy(other.atPicos, 0, atPicos, 0, hops);
        System.arraycopy(other.picosPerByte, 0, picosPerByte, 0, hops);
    }
}

package verbena.messages;

import java.nio.ByteBuffer;
import java.util.Optional;
import verbena.messages.protocol.Budget;
import verbena.messages.protocol.PeerLimits;
import verbena.messages.protocol.Rails;
import verbena.verbs.cm.PrivateData;

/// The private data that two workers exchange while they connect: 23 bytes, big-endian. "VMSG", the version (4), the
/// window, the bytes of a frame, offers of one kind, the bytes of a request, calls, the rails. A worker with an
/// observer of calls sends one byte more, which is 1.
///
/// @param window frames that the peer may send at first, with the one in reserve
/// @param frameBytes of the longest frame
/// @param offersMax offers of one kind that this end takes at once
/// @param requestBytes of the longest request that this end takes
/// @param calls of each end that are under way at once
/// @param rails that are to be made; in an answer, those that can be at most
/// @param hasHeaders that this end takes calls with headers
record Hello(int window, int frameBytes, int offersMax, int requestBytes, int calls, int rails, boolean hasHeaders) {
    private static final int MAGIC = 0x564D5347;
    private static final int MAGIC_OF_RAIL = 0x564D5352;
    private static final byte VERSION = 4;
    private static final int BYTES = 23;
    private static final int JOIN_BYTES = 6 + Rails.TOKEN_BYTES;

    /// @param hasHeaders whether this worker takes calls with headers
    static Hello of(WorkerOptions ours, int rails, boolean hasHeaders) {
        return new Hello(
                ours.window(),
                ours.frameBytes(),
                (int) Math.min(Budget.offersMax(ours.budgetBytes(), ours.maxPeers()), 1 << 20),
                ours.maxCallBytes(),
                ours.maxCalls(),
                rails,
                hasHeaders);
    }

    PrivateData privateData() {
        ByteBuffer bytes = ByteBuffer.allocate(hasHeaders ? BYTES + 1 : BYTES)
                .putInt(MAGIC)
                .put(VERSION)
                .put((byte) window)
                .putInt(frameBytes)
                .putInt(offersMax)
                .putInt(requestBytes)
                .putInt(calls)
                .put((byte) rails);
        if (hasHeaders) {
            bytes.put((byte) 1);
        }
        return PrivateData.of(bytes.array());
    }

    /// Returns the hello in private data; empty when it is not a worker's.
    static Optional<Hello> of(PrivateData data) {
        if (data.length() < BYTES) {
            return Optional.empty();
        }
        ByteBuffer bytes = ByteBuffer.wrap(data.bytes());
        if (bytes.getInt() != MAGIC || bytes.get() != VERSION) {
            return Optional.empty();
        }
        var hello = new Hello(
                bytes.get() & 0xFF,
                bytes.getInt(),
                bytes.getInt(),
                bytes.getInt(),
                bytes.getInt(),
                bytes.get(),
                bytes.hasRemaining() && bytes.get() == 1); // a device may add zeros
        boolean isRight = hello.window >= 2
                && hello.frameBytes >= 64
                && hello.frameBytes <= 65_536
                && hello.offersMax > 0
                && hello.requestBytes >= 0
                && hello.calls >= 1
                && hello.rails >= 1
                && hello.rails <= Rails.MAX;
        return isRight ? Optional.of(hello) : Optional.empty();
    }

    /// Returns the limits that a worker with these options keeps to, towards a peer that has sent this.
    PeerLimits limits(WorkerOptions ours, int agreed) {
        return new PeerLimits(
                Math.min(frameBytes, ours.frameBytes()),
                Math.min(window, ours.window()),
                Budget.keptMax(ours.budgetBytes(), ours.maxPeers()),
                of(ours, agreed, hasHeaders).offersMax,
                offersMax,
                agreed);
    }

    // ---- a rail that joins: "VMSR", the version, the number of the rail, the token

    /// A further rail of two workers.
    ///
    /// @param rail its number
    /// @param token of the two, in hexadecimal
    record Join(int rail, String token) {}

    static PrivateData join(int rail, byte[] token) {
        return PrivateData.of(ByteBuffer.allocate(JOIN_BYTES)
                .putInt(MAGIC_OF_RAIL)
                .put(VERSION)
                .put((byte) rail)
                .put(token)
                .array());
    }

    /// Returns the request to join in private data; empty when it is not such a rail.
    static Optional<Join> join(PrivateData data) {
        if (data.length() < JOIN_BYTES) {
            return Optional.empty();
        }
        ByteBuffer bytes = ByteBuffer.wrap(data.bytes());
        if (bytes.getInt() != MAGIC_OF_RAIL || bytes.get() != VERSION) {
            return Optional.empty();
        }
        int rail = bytes.get();
        byte[] token = new byte[Rails.TOKEN_BYTES];
        bytes.get(token);
        return Optional.of(new Join(rail, java.util.HexFormat.of().formatHex(token)));
    }
}

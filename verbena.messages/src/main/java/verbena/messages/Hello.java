package verbena.messages;

import java.nio.ByteBuffer;
import java.util.Optional;
import verbena.messages.protocol.PeerLimits;
import verbena.verbs.cm.PrivateData;

/// What two workers tell each other while they connect: 18 bytes of private data, big-endian. "VMSG", the version
/// (2), the window, the bytes of a frame, offers of one kind, the bytes of a request.
///
/// @param window frames that the peer may send at first, with the one in reserve
/// @param frameBytes of the longest frame
/// @param offersMax offers of one kind that this end takes at once
/// @param requestBytes of the longest request that this end takes
record Hello(int window, int frameBytes, int offersMax, int requestBytes) {
    private static final int MAGIC = 0x564D5347;
    private static final byte VERSION = 2;
    private static final int BYTES = 18;

    static Hello of(WorkerOptions ours) {
        long offers = Budget.offersMax(ours);
        return new Hello(ours.window(), ours.frameBytes(), (int) Math.min(offers, 1 << 20), ours.maxCallBytes());
    }

    PrivateData privateData() {
        return PrivateData.of(ByteBuffer.allocate(BYTES)
                .putInt(MAGIC)
                .put(VERSION)
                .put((byte) window)
                .putInt(frameBytes)
                .putInt(offersMax)
                .putInt(requestBytes)
                .array());
    }

    /// Empty when it is not a worker's.
    static Optional<Hello> of(PrivateData data) {
        if (data.length() < BYTES) {
            return Optional.empty();
        }
        ByteBuffer bytes = ByteBuffer.wrap(data.bytes());
        if (bytes.getInt() != MAGIC || bytes.get() != VERSION) {
            return Optional.empty();
        }
        var hello = new Hello(bytes.get() & 0xFF, bytes.getInt(), bytes.getInt(), bytes.getInt());
        boolean isRight = hello.window >= 2
                && hello.frameBytes >= 64
                && hello.frameBytes <= 65_536
                && hello.offersMax > 0
                && hello.requestBytes >= 0;
        return isRight ? Optional.of(hello) : Optional.empty();
    }

    /// What a worker with these options keeps to, towards a peer that has said this.
    PeerLimits limits(WorkerOptions ours) {
        return new PeerLimits(
                Math.min(frameBytes, ours.frameBytes()),
                ours.window(),
                Budget.keptMax(ours),
                of(ours).offersMax,
                offersMax);
    }
}

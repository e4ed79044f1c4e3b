package verbena.messages;

import java.nio.ByteBuffer;
import java.util.Optional;
import verbena.verbs.cm.PrivateData;

/// What two workers tell each other while they connect: 10 bytes of private data, big-endian. "VMSG", the version
/// (1), the window, the bytes of a frame.
///
/// @param window frames that the peer may send at first, with the one in reserve
/// @param frameBytes of the longest frame
record Hello(int window, int frameBytes) {
    private static final int MAGIC = 0x564D5347;
    private static final byte VERSION = 1;
    private static final int BYTES = 10;

    static Hello of(WorkerOptions ours) {
        return new Hello(ours.window(), ours.frameBytes());
    }

    PrivateData privateData() {
        return PrivateData.of(ByteBuffer.allocate(BYTES)
                .putInt(MAGIC)
                .put(VERSION)
                .put((byte) window)
                .putInt(frameBytes)
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
        var hello = new Hello(bytes.get() & 0xFF, bytes.getInt());
        return hello.window >= 2 && hello.frameBytes >= 64 && hello.frameBytes <= 65_536
                ? Optional.of(hello)
                : Optional.empty();
    }
}

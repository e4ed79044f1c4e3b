package verbena.stream.protocol;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import verbena.verbs.cm.PrivateData;

/// The messages between two ends of an rsocket, as rdma-core's `librdmacm/docs/rsocket` has them: private data while
/// they connect, and then the immediate data of RDMA WRITEs, 3 bits of kind and 29 bits of value.
public final class StreamMessage {
    /// A message that so many bytes were written to the receive buffer.
    static final int DATA = 0;
    /// A message with the limit of what may be sent. An entry of the list of targets may have been written before
    /// it.
    static final int CREDITS = 4;
    /// A message that an entry of the table of mappings has been written.
    static final int MAPPING = 6;
    /// A message with a control value: one of the three below.
    static final int CONTROL = 7;

    /// A message that nothing more is sent or taken.
    public static final int DISCONNECT = 0;

    public static final int KEEP_ALIVE = 1;
    /// A message that nothing more is sent.
    public static final int SHUTDOWN = 2;

    /// A buffer in a list of targets: address, key, length; in the byte order of the list's owner.
    static final int TARGET_BYTES = 16;
    /// The number of entries of that list: for the buffer that is being filled, and for the next.
    static final int TARGETS = 2;
    /// A mapping: an offset, and the buffer that is there.
    static final int MAPPING_BYTES = 24;

    private static final int VALUE_BITS = 29;
    private static final int VERSION = 1;
    private static final int IS_BIG_ENDIAN = 1;
    private static final int HAS_MAPPINGS = 2;
    private static final int HELLO_BYTES = 40;

    private StreamMessage() {}

    static int of(int kind, int value) {
        return kind << VALUE_BITS | value;
    }

    static int kind(int message) {
        return message >>> VALUE_BITS;
    }

    static int value(int message) {
        return message & (1 << VALUE_BITS) - 1;
    }

    /// The parameters that each side sends while they connect.
    ///
    /// @param isBigEndian the order of bytes in its tables
    /// @param credits messages that it has room for
    /// @param mappings entries of its table of mappings, which is behind its list of targets
    /// @param targets where its list of targets is
    /// @param targetCount entries of that list
    /// @param buffer its first receive buffer
    /// @param protocol of the program, 8 bits where rsockets have a zero
    public record Hello(
            boolean isBigEndian,
            int credits,
            int mappings,
            long targets,
            int targetsKey,
            int targetCount,
            long buffer,
            int bufferKey,
            int bufferBytes,
            int protocol) {
        /// Returns the same parameters for streams of this protocol.
        public Hello withProtocol(int protocol) {
            return new Hello(
                    isBigEndian,
                    credits,
                    mappings,
                    targets,
                    targetsKey,
                    targetCount,
                    buffer,
                    bufferKey,
                    bufferBytes,
                    protocol);
        }

        /// Returns the private data for the other side.
        public PrivateData privateData() {
            return PrivateData.of(ByteBuffer.allocate(HELLO_BYTES)
                    .put((byte) VERSION)
                    .put((byte) (HAS_MAPPINGS | (isBigEndian ? IS_BIG_ENDIAN : 0)))
                    .putShort((short) credits)
                    .putShort((short) 0)
                    .put((byte) protocol)
                    .put((byte) scale(mappings))
                    .putLong(targets)
                    .putInt(targetsKey)
                    .putInt(targetCount)
                    .putLong(buffer)
                    .putInt(bufferKey)
                    .putInt(bufferBytes)
                    .array());
        }

        /// Reads private data; empty when it is of no rsocket of this version.
        public static Optional<Hello> parse(PrivateData data) {
            if (data.length() < HELLO_BYTES || data.bytes()[0] != VERSION) {
                return Optional.empty();
            }
            ByteBuffer from = ByteBuffer.wrap(data.bytes()).position(1);
            int flags = from.get();
            int credits = from.getShort() & 0xFFFF;
            int protocol = from.position(6).get() & 0xFF;
            int mappings = unscale(from.get() & 0xFF);
            long targets = from.getLong();
            int targetsKey = from.getInt();
            int targetCount = from.getInt();
            long buffer = from.getLong();
            int bufferKey = from.getInt();
            int bufferBytes = from.getInt();
            if (targetCount < 1 || targetCount > 0xFFFF || bufferBytes < 1) {
                return Optional.empty();
            }
            return Optional.of(new Hello(
                    (flags & IS_BIG_ENDIAN) != 0,
                    credits,
                    (flags & HAS_MAPPINGS) != 0 ? mappings : 0,
                    targets,
                    targetsKey,
                    targetCount,
                    buffer,
                    bufferKey,
                    bufferBytes,
                    protocol));
        }

        ByteOrder order() {
            return isBigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        }
    }

    /// Returns the code of a count of mappings in 8 bits: up to 128 as it is, above in units of 256.
    public static int scale(int count) {
        return count <= 0x80 ? count : 0x80 | count >> 8;
    }

    /// Returns the count of mappings that a code in 8 bits means.
    public static int unscale(int scaled) {
        return scaled <= 0x80 ? scaled : (scaled & 0x7F) << 8;
    }
}

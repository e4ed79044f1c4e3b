package verbena.wire.pcap;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// The blocks of a pcapng file, little-endian, times in nanoseconds (draft-ietf-opsawg-pcapng). In this order they
/// make a file: [#section], an [#interfaceDescription] for each interface, packets, and at the end [#statistics]. A
/// block that is made elsewhere is given its interface by [#interfaceNumber].
public final class PcapngBlocks {
    /// A packet came in or went out; both bits of epb_flags.
    public static final int INBOUND = 1;

    public static final int OUTBOUND = 2;
    /// A packet went to one receiver, or to a group.
    public static final int UNICAST = 1 << 2;

    public static final int MULTICAST = 2 << 2;
    /// The checksum of the link was wrong: here, the ICRC.
    public static final int CRC_ERROR = 1 << 24;

    private static final int SECTION = 0x0A0D_0D0A;
    private static final int BYTE_ORDER_MAGIC = 0x1A2B_3C4D;
    private static final int INTERFACE = 1;
    private static final int STATISTICS = 5;
    private static final int ENHANCED_PACKET = 6;
    private static final int AROUND_BYTES = 12; // type, length, length again
    private static final int INTERFACE_NUMBER_OFFSET = 8;
    private static final int NANOSECONDS = 9;

    private static final int OPTION_COMMENT = 1;
    private static final int OPTION_APPLICATION = 4;
    private static final int OPTION_HARDWARE = 2;
    private static final int OPTION_SYSTEM = 3;
    private static final int OPTION_NAME = 2;
    private static final int OPTION_DESCRIPTION = 3;
    private static final int OPTION_RESOLUTION = 9;
    private static final int OPTION_FLAGS = 2;
    private static final int OPTION_DROP_COUNT = 4;
    private static final int OPTION_RECEIVED = 4;
    private static final int OPTION_DROPPED = 5;

    private PcapngBlocks() {}

    /// Returns the block that starts a file, of a length that is not known yet.
    ///
    /// @param application the program that writes it
    public static byte[] section(String application) {
        byte[] by = utf8(application);
        byte[] on = utf8(System.getProperty("os.name") + " " + System.getProperty("os.version"));
        byte[] hardware = utf8(System.getProperty("os.arch"));
        var b = block(SECTION, 16 + option(hardware) + option(on) + option(by) + 4);
        b.putInt(BYTE_ORDER_MAGIC).putShort((short) 1).putShort((short) 0).putLong(-1);
        put(b, OPTION_HARDWARE, hardware);
        put(b, OPTION_SYSTEM, on);
        put(b, OPTION_APPLICATION, by);
        return end(b);
    }

    /// Interfaces count from 0, in the order of their descriptions.
    ///
    /// @param linkType the kind of the first header of its packets
    public static byte[] interfaceDescription(int linkType, String name, String description) {
        byte[] called = utf8(name);
        byte[] is = utf8(description);
        var b = block(INTERFACE, 8 + option(called) + option(is) + 8 + 4);
        b.putShort((short) linkType).putShort((short) 0).putInt(CaptureReader.PACKET_BYTES_MAX);
        put(b, OPTION_NAME, called);
        put(b, OPTION_DESCRIPTION, is);
        put(b, OPTION_RESOLUTION, new byte[] {NANOSECONDS});
        return end(b);
    }

    /// Returns the block of a packet.
    ///
    /// @param nanos its time, since 1970
    /// @param from the memory of its bytes
    /// @param bytes of it that are there
    /// @param wholeBytes that it had
    /// @param flags of those above
    /// @param lost packets between this and the last that are not in the file; left out when 0
    /// @param comment shown beside it; null for none
    public static byte[] packet(
            int number,
            long nanos,
            MemorySegment from,
            int bytes,
            int wholeBytes,
            int flags,
            long lost,
            @Nullable String comment) {
        byte[] said = utf8(comment == null ? "" : comment);
        int options = 8 + (lost == 0 ? 0 : 12) + (comment == null ? 0 : option(said)) + 4;
        var b = block(ENHANCED_PACKET, 20 + padded(bytes) + options);
        b.putInt(number)
                .putInt((int) (nanos >>> 32))
                .putInt((int) nanos)
                .putInt(bytes)
                .putInt(wholeBytes);
        MemorySegment.ofBuffer(b).copyFrom(from.asSlice(0, bytes));
        b.position(b.position() + padded(bytes));
        b.putShort((short) OPTION_FLAGS).putShort((short) 4).putInt(flags);
        if (lost != 0) {
            b.putShort((short) OPTION_DROP_COUNT).putShort((short) 8).putLong(lost);
        }
        if (comment != null) {
            put(b, OPTION_COMMENT, said);
        }
        return end(b);
    }

    /// Returns the block of an interface's statistics: the packets it has seen, and those that are not in the file.
    public static byte[] statistics(int number, long nanos, long packets, long lost) {
        var b = block(STATISTICS, 12 + 12 + 12 + 4);
        b.putInt(number).putInt((int) (nanos >>> 32)).putInt((int) nanos);
        b.putShort((short) OPTION_RECEIVED).putShort((short) 8).putLong(packets);
        b.putShort((short) OPTION_DROPPED).putShort((short) 8).putLong(lost);
        return end(b);
    }

    /// Returns the length of the block that begins at `from`.
    public static int length(byte[] blocks, int from) {
        return buffer(blocks).getInt(from + 4);
    }

    /// Returns the time of the packet whose block begins at `from`.
    public static long nanos(byte[] blocks, int from) {
        ByteBuffer b = buffer(blocks);
        return ((long) b.getInt(from + 12) << 32) | Integer.toUnsignedLong(b.getInt(from + 16));
    }

    /// Writes the number of the interface into the block that begins at `from`, of a packet or of statistics.
    public static void interfaceNumber(byte[] blocks, int from, int number) {
        buffer(blocks).putInt(from + INTERFACE_NUMBER_OFFSET, number);
    }

    private static ByteBuffer buffer(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ByteBuffer block(int type, int bodyBytes) {
        int total = AROUND_BYTES + bodyBytes;
        return buffer(new byte[total]).putInt(type).putInt(total);
    }

    /// Ends a block with the end of options, which is zeros.
    @SuppressWarnings("ByteBufferBackingArray") // made by block(), for this
    private static byte[] end(ByteBuffer b) {
        return b.putInt(b.capacity() - 4, b.capacity()).array();
    }

    private static int option(byte[] value) {
        return 4 + padded(value.length);
    }

    private static void put(ByteBuffer b, int option, byte[] value) {
        b.putShort((short) option).putShort((short) value.length).put(value);
        b.position(b.position() + padded(value.length) - value.length);
    }

    private static int padded(int bytes) {
        return (bytes + 3) & ~3;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

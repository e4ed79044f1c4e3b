package verbena.wire.pcap;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A reader of a pcap or pcapng file from front to back, one packet at a time (draft-ietf-opsawg-pcap,
/// draft-ietf-opsawg-pcapng). Both byte orders, micro- and nanoseconds, many sections and interfaces; blocks that
/// hold no packet are skipped.
///
/// A file of any content leads to packets and [CaptureException] and nothing else. At most [#PACKET_BYTES_MAX] are
/// held for one packet, whatever length the file gives. For one thread.
public final class CaptureReader implements AutoCloseable {
    /// The largest captured packet that is believed, in bytes: libpcap's own limit.
    public static final int PACKET_BYTES_MAX = 262_144;
    /// The most interfaces that one section may describe.
    public static final int INTERFACES_MAX = 4_096;

    private static final int PCAP_MICROSECONDS = 0xA1B2_C3D4;
    private static final int PCAP_NANOSECONDS = 0xA1B2_3C4D;
    private static final int PCAP_HEADER_BYTES = 24;
    private static final int PCAP_RECORD_BYTES = 16;

    private static final int SECTION = 0x0A0D_0D0A;
    private static final int INTERFACE = 1;
    private static final int OLD_PACKET = 2;
    private static final int SIMPLE_PACKET = 3;
    private static final int ENHANCED_PACKET = 6;
    private static final int BYTE_ORDER_MAGIC = 0x1A2B_3C4D;
    private static final int BLOCK_FRAME_BYTES = 12; // type, length, length again
    private static final int OPTION_END = 0;
    private static final int OPTION_COMMENT = 1;
    /// More options of one packet are not read.
    private static final int OPTION_BYTES_MAX = 1 << 16;
    private static final int OPTION_RESOLUTION = 9;
    private static final int OPTION_OFFSET = 14;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /// An interface, to which packet blocks refer by its number.
    private record Interface(int linkType, int snapLength, long unitsPerSecond, long offsetSeconds) {
        long nanos(long units) {
            long seconds = Long.divideUnsigned(units, unitsPerSecond);
            long rest = Long.remainderUnsigned(units, unitsPerSecond);
            // The rest is below unitsPerSecond: a fraction that double can tell to the nanosecond.
            long fraction = unitsPerSecond <= NANOS_PER_SECOND
                    ? rest * NANOS_PER_SECOND / unitsPerSecond
                    : (long) (rest * ((double) NANOS_PER_SECOND / unitsPerSecond));
            return (seconds + offsetSeconds) * NANOS_PER_SECOND + fraction;
        }
    }

    private final InputStream in;
    private final boolean isPcap;
    private final List<Interface> interfaces = new ArrayList<>();
    private ByteOrder order = ByteOrder.LITTLE_ENDIAN;
    private long position; // of the next unread byte
    private long recordPosition; // of the record or block being read

    private CaptureReader(InputStream in) throws IOException {
        this.in = in;
        ByteBuffer magic = read(4);
        int little = magic.order(ByteOrder.LITTLE_ENDIAN).getInt(0);
        int big = Integer.reverseBytes(little);
        if (little == SECTION) {
            isPcap = false;
            readSection();
        } else if (isPcapMagic(little) || isPcapMagic(big)) {
            isPcap = true;
            order = isPcapMagic(little) ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
            readPcapHeader(isPcapMagic(little) ? little : big);
        } else {
            throw damaged("neither pcap nor pcapng: it starts with 0x%08x".formatted(big));
        }
    }

    /// Opens a file and reads its header.
    ///
    /// @throws CaptureException when it is no capture
    public static CaptureReader open(Path file) throws IOException {
        InputStream in = new BufferedInputStream(Files.newInputStream(file));
        try {
            return new CaptureReader(in);
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }

    /// Reads a header from `in`, which the reader then owns. Reads in small pieces: buffer it.
    ///
    /// @throws CaptureException when it is no capture
    public static CaptureReader of(InputStream in) throws IOException {
        return new CaptureReader(in);
    }

    /// Returns the next packet, or null at the end of the file.
    ///
    /// @throws CaptureException when the file is damaged here; nothing more can be read from it then
    public @Nullable CapturedPacket next() throws IOException {
        return isPcap ? nextRecord() : nextPacketBlock();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    private static boolean isPcapMagic(int magic) {
        return magic == PCAP_MICROSECONDS || magic == PCAP_NANOSECONDS;
    }

    private void readPcapHeader(int magic) throws IOException {
        ByteBuffer header = read(PCAP_HEADER_BYTES - 4);
        int linkType = header.getInt(16) & 0xFFFF; // the high bits tell about the frame check sequence
        long unitsPerSecond = magic == PCAP_NANOSECONDS ? NANOS_PER_SECOND : 1_000_000;
        interfaces.add(new Interface(linkType, 0, unitsPerSecond, 0));
    }

    private @Nullable CapturedPacket nextRecord() throws IOException {
        ByteBuffer record = readOrEnd(PCAP_RECORD_BYTES);
        if (record == null) {
            return null;
        }
        Interface source = interfaces.getFirst();
        long seconds = Integer.toUnsignedLong(record.getInt(0));
        long units = Integer.toUnsignedLong(record.getInt(4));
        long nanos = seconds * NANOS_PER_SECOND + source.nanos(units);
        return packet(nanos, source, record.getInt(8), record.getInt(12), 0);
    }

    private @Nullable CapturedPacket nextPacketBlock() throws IOException {
        for (ByteBuffer type = readOrEnd(4); type != null; type = readOrEnd(4)) {
            int blockType = type.getInt(0);
            if (blockType == SECTION) {
                readSection();
                continue;
            }
            long bodyBytes = bodyBytes(read(4).getInt(0));
            long bodyEnd = position + bodyBytes;
            CapturedPacket packet = switch (blockType) {
                case INTERFACE -> {
                    readInterface(bodyBytes);
                    yield null;
                }
                case ENHANCED_PACKET, OLD_PACKET -> readPacket(blockType, bodyBytes);
                case SIMPLE_PACKET -> readSimplePacket(bodyBytes);
                default -> null;
            };
            finishBlock(bodyEnd, bodyBytes);
            if (packet != null) {
                return packet;
            }
        }
        return null;
    }

    // The block type has been read; it is the same in both byte orders, and what follows tells which.
    private void readSection() throws IOException {
        ByteBuffer start = read(8).order(ByteOrder.LITTLE_ENDIAN);
        order = start.getInt(4) == BYTE_ORDER_MAGIC ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        start.order(order);
        if (start.getInt(4) != BYTE_ORDER_MAGIC) {
            throw damaged("a section without byte order");
        }
        long bodyBytes = bodyBytes(start.getInt(0));
        if (bodyBytes < 16) {
            throw damaged("a section header of " + bodyBytes + " bytes");
        }
        interfaces.clear();
        finishBlock(position + bodyBytes - 4, bodyBytes);
    }

    private void readInterface(long bodyBytes) throws IOException {
        if (bodyBytes < 8 || bodyBytes > PACKET_BYTES_MAX) {
            throw damaged("an interface description of " + bodyBytes + " bytes");
        }
        if (interfaces.size() == INTERFACES_MAX) {
            throw damaged("more than " + INTERFACES_MAX + " interfaces");
        }
        ByteBuffer body = read((int) bodyBytes);
        int linkType = Short.toUnsignedInt(body.getShort(0));
        int snapLength = body.getInt(4);
        body.position(8);
        long unitsPerSecond = 1_000_000;
        long offsetSeconds = 0;
        while (body.remaining() >= 4) {
            int option = Short.toUnsignedInt(body.getShort());
            int bytes = Short.toUnsignedInt(body.getShort());
            int padded = (bytes + 3) & ~3;
            if (option == OPTION_END) {
                break;
            }
            if (padded > body.remaining()) {
                throw damaged("an interface option of " + bytes + " bytes where " + body.remaining() + " are left");
            }
            if (option == OPTION_RESOLUTION && bytes == 1) {
                unitsPerSecond = unitsPerSecond(body.get(body.position()));
            } else if (option == OPTION_OFFSET && bytes == 8) {
                offsetSeconds = body.getLong(body.position());
            }
            body.position(body.position() + padded);
        }
        interfaces.add(new Interface(linkType, snapLength, unitsPerSecond, offsetSeconds));
    }

    // if_tsresol: a negative power of ten, or of two when the high bit is set.
    private long unitsPerSecond(byte resolution) throws CaptureException {
        int exponent = resolution & 0x7F;
        boolean binary = resolution < 0;
        if (exponent > (binary ? 62 : 18)) {
            throw damaged("a time resolution of " + (binary ? "2" : "10") + "^-" + exponent + " s");
        }
        return binary ? 1L << exponent : (long) Math.pow(10, exponent);
    }

    private CapturedPacket readPacket(int blockType, long bodyBytes) throws IOException {
        if (bodyBytes < 20) {
            throw damaged("a packet block of " + bodyBytes + " bytes");
        }
        ByteBuffer head = read(20);
        int number = blockType == OLD_PACKET ? Short.toUnsignedInt(head.getShort(0)) : head.getInt(0);
        Interface source = interfaceOf(number);
        long units = ((long) head.getInt(4) << 32) | Integer.toUnsignedLong(head.getInt(8));
        long capturedBytes = Integer.toUnsignedLong(head.getInt(12));
        if (capturedBytes > bodyBytes - 20) {
            throw damaged(capturedBytes + " captured bytes in a block of " + bodyBytes);
        }
        long optionBytes = bodyBytes - 20 - ((capturedBytes + 3) & ~3L);
        return packet(source.nanos(units), source, head.getInt(12), head.getInt(16), optionBytes);
    }

    private CapturedPacket readSimplePacket(long bodyBytes) throws IOException {
        if (bodyBytes < 4) {
            throw damaged("a simple packet block of " + bodyBytes + " bytes");
        }
        int originalBytes = read(4).getInt(0);
        Interface source = interfaceOf(0);
        long kept = Integer.toUnsignedLong(originalBytes);
        if (source.snapLength != 0) {
            kept = Math.min(kept, Integer.toUnsignedLong(source.snapLength));
        }
        if (kept > bodyBytes - 4) {
            throw damaged(kept + " captured bytes in a block of " + bodyBytes);
        }
        return packet(0, source, (int) kept, originalBytes, 0);
    }

    private Interface interfaceOf(int number) throws CaptureException {
        if (number < 0 || number >= interfaces.size()) {
            throw damaged("a packet of interface " + Integer.toUnsignedString(number) + ", of which nothing was said");
        }
        return interfaces.get(number);
    }

    private CapturedPacket packet(long nanos, Interface source, int captured, int original, long optionBytes)
            throws IOException {
        if (captured < 0 || captured > PACKET_BYTES_MAX) {
            throw damaged("a packet of " + Integer.toUnsignedString(captured) + " bytes; at most " + PACKET_BYTES_MAX
                    + " are read");
        }
        long originalBytes = Math.max(captured, Integer.toUnsignedLong(original));
        MemorySegment bytes = MemorySegment.ofBuffer(read(captured));
        String comment = "";
        if (optionBytes >= 4 && optionBytes <= OPTION_BYTES_MAX) {
            read(-captured & 3);
            comment = comment(read((int) optionBytes));
        }
        return new CapturedPacket(nanos, source.linkType, originalBytes, bytes, comment);
    }

    /// Returns the comments among the options of a packet, with a semicolon between several. Bytes that are no
    /// option end the comments; the packet is whole all the same.
    private static String comment(ByteBuffer options) {
        var comment = new StringBuilder();
        while (options.remaining() >= 4) {
            int option = Short.toUnsignedInt(options.getShort());
            int bytes = Short.toUnsignedInt(options.getShort());
            int padded = (bytes + 3) & ~3;
            if (option == OPTION_END || padded > options.remaining()) {
                break;
            }
            if (option == OPTION_COMMENT) {
                comment.append(comment.isEmpty() ? "" : "; ")
                        .append(StandardCharsets.UTF_8.decode(options.slice(options.position(), bytes)));
            }
            options.position(options.position() + padded);
        }
        return comment.toString();
    }

    private long bodyBytes(int totalLength) throws CaptureException {
        long bytes = Integer.toUnsignedLong(totalLength);
        if (bytes < BLOCK_FRAME_BYTES || (bytes & 3) != 0) {
            throw damaged("a block of " + bytes + " bytes");
        }
        return bytes - BLOCK_FRAME_BYTES;
    }

    private void finishBlock(long bodyEnd, long bodyBytes) throws IOException {
        try {
            in.skipNBytes(bodyEnd - position);
        } catch (EOFException e) {
            throw damaged("the file ends within a block");
        }
        position = bodyEnd;
        long again = Integer.toUnsignedLong(read(4).getInt(0));
        if (again != bodyBytes + BLOCK_FRAME_BYTES) {
            throw damaged("a block of " + (bodyBytes + BLOCK_FRAME_BYTES) + " bytes that ends as one of " + again);
        }
    }

    private @Nullable ByteBuffer readOrEnd(int bytes) throws IOException {
        recordPosition = position;
        byte[] got = in.readNBytes(bytes);
        if (got.length == 0) {
            return null;
        }
        return whole(got, bytes);
    }

    private ByteBuffer read(int bytes) throws IOException {
        return whole(in.readNBytes(bytes), bytes);
    }

    private ByteBuffer whole(byte[] got, int wanted) throws CaptureException {
        position += got.length;
        if (got.length < wanted) {
            throw damaged("the file ends after " + position + " bytes, in the middle of something");
        }
        return ByteBuffer.wrap(got).order(order);
    }

    private CaptureException damaged(String what) {
        return new CaptureException(recordPosition, what);
    }
}

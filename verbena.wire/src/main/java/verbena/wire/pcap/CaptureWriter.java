package verbena.wire.pcap;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// A writer of a pcap or pcapng file with times in nanoseconds, little-endian, whole packets of one link type. For
/// one thread.
public final class CaptureWriter implements AutoCloseable {
    private static final int SNAP_LENGTH = CaptureReader.PACKET_BYTES_MAX;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final OutputStream out;
    private final boolean isPcap;

    private CaptureWriter(OutputStream out, boolean isPcap) {
        this.out = out;
        this.isPcap = isPcap;
    }

    /// Starts a pcapng file with one section and one interface. `out` belongs to the writer; buffer it.
    public static CaptureWriter pcapng(OutputStream out, int linkType) throws IOException {
        ByteBuffer b = buffer(28 + 32);
        b.putInt(0x0A0D_0D0A).putInt(28).putInt(0x1A2B_3C4D).putShort((short) 1).putShort((short) 0);
        b.putLong(-1).putInt(28); // a section of unknown length
        b.putInt(1).putInt(32).putShort((short) linkType).putShort((short) 0).putInt(SNAP_LENGTH);
        b.putShort((short) 9).putShort((short) 1).putInt(9); // times in 10^-9 s
        b.putInt(0).putInt(32); // end of options
        out.write(bytes(b));
        return new CaptureWriter(out, false);
    }

    /// Starts a pcap file with nanosecond times. `out` belongs to the writer; buffer it.
    public static CaptureWriter pcap(OutputStream out, int linkType) throws IOException {
        ByteBuffer b = buffer(24);
        b.putInt(0xA1B2_3C4D).putShort((short) 2).putShort((short) 4).putLong(0);
        b.putInt(SNAP_LENGTH).putInt(linkType);
        out.write(bytes(b));
        return new CaptureWriter(out, true);
    }

    /// Appends a packet that was seen at `nanos` since 1970; its first byte is that of the link type.
    ///
    /// @throws IllegalArgumentException when it is longer than [CaptureReader#PACKET_BYTES_MAX]
    public void write(long nanos, MemorySegment packet) throws IOException {
        if (packet.byteSize() > SNAP_LENGTH) {
            throw new IllegalArgumentException(
                    "packet: at most " + SNAP_LENGTH + " bytes can be captured, not " + packet.byteSize());
        }
        byte[] bytes = packet.toArray(ValueLayout.JAVA_BYTE);
        out.write(bytes(isPcap ? record(nanos, bytes) : block(nanos, bytes)));
    }

    /// Hands everything written to the stream below on.
    public void flush() throws IOException {
        out.flush();
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    private static ByteBuffer record(long nanos, byte[] bytes) {
        ByteBuffer b = buffer(16 + bytes.length);
        b.putInt((int) Math.floorDiv(nanos, NANOS_PER_SECOND)).putInt((int) Math.floorMod(nanos, NANOS_PER_SECOND));
        return b.putInt(bytes.length).putInt(bytes.length).put(bytes);
    }

    private static ByteBuffer block(long nanos, byte[] bytes) {
        int padded = (bytes.length + 3) & ~3;
        int total = 32 + padded;
        ByteBuffer b = buffer(total);
        b.putInt(6).putInt(total).putInt(0).putInt((int) (nanos >>> 32)).putInt((int) nanos);
        b.putInt(bytes.length).putInt(bytes.length).put(bytes);
        return b.putInt(total - 4, total);
    }

    private static byte[] bytes(ByteBuffer b) {
        return MemorySegment.ofBuffer(b.rewind()).toArray(ValueLayout.JAVA_BYTE);
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}

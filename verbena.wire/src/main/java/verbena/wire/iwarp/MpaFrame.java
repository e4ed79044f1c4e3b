package verbena.wire.iwarp;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import verbena.wire.BigEndian;

/// The request and the reply that start an MPA connection (RFC 5044 7.1.1, RFC 6581 9). A view: `offset` is where
/// the frame starts in `segment`.
///
/// An enhanced frame (revision 2 with its S bit) has two words, IRD and ORD, in front of the private data.
/// On the wire they count in the length of the private data; in this class they do not.
public final class MpaFrame {
    /// Bytes before the private data.
    public static final int HEADER_BYTES = 20;
    /// Bytes of private data, the two words of an enhanced frame included (RFC 5044 7.1.1).
    public static final int PRIVATE_DATA_MAX = 512;
    /// Bytes of the two words of an enhanced frame.
    public static final int ENHANCED_BYTES = 4;
    /// The largest number of READs that the words can name; it means that nothing is agreed.
    public static final int DEPTH_MAX = 0x3FFF;

    private static final int KEY_BYTES = 16;
    private static final byte[] REQUEST_KEY = "MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] REPLY_KEY = "MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII);

    private static final int FLAGS = 16; // M 1, C 1, R 1, S 1, reserved 4 bits
    private static final int REVISION = 17; // 8 bits
    private static final int PRIVATE_DATA_LENGTH = 18; // 16 bits
    private static final int IRD = 20; // A 1, B 1, IRD 14 bits
    private static final int ORD = 22; // C 1, D 1, ORD 14 bits

    /// Flag: the sender wants markers in the stream that it receives.
    public static final int MARKERS = 0x80;
    /// Flag: the sender wants CRCs, in both directions.
    public static final int CRC = 0x40;
    /// Flag of a reply: the connection is rejected.
    public static final int REJECT = 0x20;
    /// Flag: IRD and ORD follow.
    public static final int ENHANCED = 0x10;

    /// Bit of the IRD word: peer-to-peer mode.
    public static final int PEER_TO_PEER = 0x8000;
    /// Bit of the IRD word: a SEND of no bytes will do as the first message.
    public static final int RTR_SEND = 0x4000;
    /// Bit of the ORD word: a WRITE of no bytes will do.
    public static final int RTR_WRITE = 0x8000;
    /// Bit of the ORD word: a READ of no bytes will do.
    public static final int RTR_READ = 0x4000;

    private MpaFrame() {}

    /// Returns the length of the frame that starts at `offset`, when there are `available` bytes. Returns 0 when
    /// more bytes have to come, to find out the length or to complete the frame, and -1 when this is no such frame.
    public static int length(MemorySegment segment, long offset, int available, boolean isReply) {
        byte[] key = isReply ? REPLY_KEY : REQUEST_KEY;
        for (int i = 0; i < Math.min(KEY_BYTES, available); i++) {
            if (BigEndian.u8(segment, offset + i) != key[i]) {
                return -1;
            }
        }
        if (available < HEADER_BYTES) {
            return 0;
        }
        int data = BigEndian.u16(segment, offset + PRIVATE_DATA_LENGTH);
        if (data > PRIVATE_DATA_MAX || (isEnhanced(segment, offset) && data < ENHANCED_BYTES)) {
            return -1;
        }
        return available < HEADER_BYTES + data ? 0 : HEADER_BYTES + data;
    }

    /// Returns the flags: [#MARKERS], [#CRC], [#REJECT], [#ENHANCED], and bits without a meaning.
    public static int flags(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + FLAGS);
    }

    public static int revision(MemorySegment segment, long offset) {
        return BigEndian.u8(segment, offset + REVISION);
    }

    /// Returns whether the frame has IRD and ORD: in revision 2, with the S bit.
    public static boolean isEnhanced(MemorySegment segment, long offset) {
        return revision(segment, offset) >= 2 && (flags(segment, offset) & ENHANCED) != 0;
    }

    /// Returns the offset of the private data from the frame's start.
    public static int privateDataOffset(MemorySegment segment, long offset) {
        return HEADER_BYTES + (isEnhanced(segment, offset) ? ENHANCED_BYTES : 0);
    }

    /// Returns the number of bytes of private data.
    public static int privateDataLength(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + PRIVATE_DATA_LENGTH)
                - (isEnhanced(segment, offset) ? ENHANCED_BYTES : 0);
    }

    /// Returns the word with [#PEER_TO_PEER], [#RTR_SEND] and the IRD of an enhanced frame.
    public static int irdWord(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + IRD);
    }

    /// Returns the word with [#RTR_WRITE], [#RTR_READ] and the ORD of an enhanced frame.
    public static int ordWord(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + ORD);
    }

    /// Writes a frame; answers with its length. The two words are written when `flags` has [#ENHANCED].
    public static int write(
            MemorySegment segment,
            long offset,
            boolean isReply,
            int flags,
            int revision,
            int irdWord,
            int ordWord,
            MemorySegment privateData) {
        boolean enhanced = (flags & ENHANCED) != 0;
        int words = enhanced ? ENHANCED_BYTES : 0;
        int data = (int) privateData.byteSize();
        MemorySegment.copy(MemorySegment.ofArray(isReply ? REPLY_KEY : REQUEST_KEY), 0, segment, offset, KEY_BYTES);
        BigEndian.put8(segment, offset + FLAGS, flags);
        BigEndian.put8(segment, offset + REVISION, revision);
        BigEndian.put16(segment, offset + PRIVATE_DATA_LENGTH, words + data);
        if (enhanced) {
            BigEndian.put16(segment, offset + IRD, irdWord);
            BigEndian.put16(segment, offset + ORD, ordWord);
        }
        MemorySegment.copy(privateData, 0, segment, offset + HEADER_BYTES + words, data);
        return HEADER_BYTES + words + data;
    }
}

package verbena.wire.psp;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.wire.BigEndian;

/// The header of PSP, which stands between UDP and what it protects, and the form of a whole packet:
///
/// | octets | |
/// |---|---|
/// | 0 | next header, a number of a protocol of IP |
/// | 1 | length of the header in units of 8, without the first 8 |
/// | 2 | two reserved bits; crypt offset in units of 4, counted from octet 16 |
/// | 3 | sample, drop, four bits of version, whether there is a cookie, and a one |
/// | 4 to 7 | SPI |
/// | 8 to 15 | IV |
/// | 16 to 23 | the virtualization cookie, where octet 3 says so |
/// | ... | further octets, where octet 1 says so; then the text, and an ICV of 16 octets |
///
/// Octets 4 to 15 are the nonce. All from octet 0 to the end of the text is authenticated; from 16 and the crypt
/// offset on it is encrypted.
public final class PspHeader {
    /// The UDP port that IANA has given to PSP.
    public static final int UDP_PORT = 1000;
    /// Bytes of a header without cookie.
    public static final int BYTES = 16;
    /// Bytes of the virtualization cookie.
    public static final int COOKIE_BYTES = 8;
    /// Bytes behind the text.
    public static final int ICV_BYTES = 16;
    /// One unit of the crypt offset, in bytes.
    public static final int OFFSET_UNIT = 4;
    /// The largest crypt offset.
    public static final int OFFSET_MAX = 63;
    /// The offset of the nonce.
    public static final int NONCE_AT = 4;

    public static final int NONCE_BYTES = 12;

    private static final int EXTENSION_UNIT = 8;
    private static final int SPI_AT = 4;
    private static final int IV_AT = 8;
    private static final int COOKIE_BIT = 2;
    private static final int ONE_BIT = 1;
    private static final int VERSION_SHIFT = 2;
    private static final int VERSION_MASK = 0xF;
    private static final int SPI_MASK = 0x7FFF_FFFF;

    private PspHeader() {}

    public static int nextHeader(MemorySegment packet, long at) {
        return BigEndian.u8(packet, at);
    }

    /// Returns the number of bytes from the header's first byte to the text.
    public static int bytes(MemorySegment packet, long at) {
        return EXTENSION_UNIT * (1 + BigEndian.u8(packet, at + 1));
    }

    /// Returns the crypt offset in units of [#OFFSET_UNIT].
    public static int cryptOffset(MemorySegment packet, long at) {
        return BigEndian.u8(packet, at + 2) & OFFSET_MAX;
    }

    /// Returns the version; null when it is reserved.
    public static @Nullable PspVersion version(MemorySegment packet, long at) {
        return PspVersion.of(BigEndian.u8(packet, at + 3) >>> VERSION_SHIFT & VERSION_MASK);
    }

    public static boolean hasCookie(MemorySegment packet, long at) {
        return (BigEndian.u8(packet, at + 3) & COOKIE_BIT) != 0;
    }

    public static int spi(MemorySegment packet, long at) {
        return BigEndian.i32(packet, at + SPI_AT);
    }

    public static long iv(MemorySegment packet, long at) {
        return BigEndian.i64(packet, at + IV_AT);
    }

    /// Returns the virtualization cookie. It is valid where [#hasCookie], and where it is not encrypted, or not any
    /// more.
    public static long cookie(MemorySegment packet, long at) {
        return BigEndian.i64(packet, at + BYTES);
    }

    /// Returns the number of the receiver's master key to which an SPI belongs, 0 or 1.
    public static int masterKey(int spi) {
        return spi >>> 31;
    }

    /// Writes a header without cookie.
    ///
    /// @param cryptOffset in units of [#OFFSET_UNIT], [#OFFSET_MAX] at most
    public static void write(
            MemorySegment packet, long at, int nextHeader, int cryptOffset, PspVersion version, int spi, long iv) {
        BigEndian.put8(packet, at, nextHeader);
        BigEndian.put8(packet, at + 1, BYTES / EXTENSION_UNIT - 1);
        BigEndian.put8(packet, at + 2, cryptOffset);
        BigEndian.put8(packet, at + 3, version.number() << VERSION_SHIFT | ONE_BIT);
        BigEndian.put32(packet, at + SPI_AT, spi);
        BigEndian.put64(packet, at + IV_AT, iv);
    }

    /// Judges the form of a packet: [PspVerdict#LENGTH], [PspVerdict#BAD], or [PspVerdict#ACCEPTED] so far.
    ///
    /// @param bytes from its header through its ICV
    public static PspVerdict check(MemorySegment packet, long at, int bytes) {
        int behind = bytes - ICV_BYTES;
        if (behind < BYTES) {
            return PspVerdict.LENGTH;
        }
        int header = bytes(packet, at);
        if (header < BYTES
                || header > behind
                || (hasCookie(packet, at) && header < BYTES + COOKIE_BYTES)
                || clearBytesByOffset(packet, at) > behind) {
            return PspVerdict.LENGTH;
        }
        boolean hasOne = (BigEndian.u8(packet, at + 3) & ONE_BIT) != 0;
        return !hasOne || !isSpi(spi(packet, at)) || version(packet, at) == null ? PspVerdict.BAD : PspVerdict.ACCEPTED;
    }

    /// Returns whether a number is an SPI: the 31 low bits are not all zero.
    public static boolean isSpi(int spi) {
        return (spi & SPI_MASK) != 0;
    }

    /// Counts the bytes that are authenticated but not encrypted, from the header's first byte on, in a packet of a
    /// right form.
    ///
    /// @param bytes from its header through its ICV
    static int clearBytes(MemorySegment packet, long at, int bytes, PspVersion version) {
        return version.encrypts() ? clearBytesByOffset(packet, at) : bytes - ICV_BYTES;
    }

    private static int clearBytesByOffset(MemorySegment packet, long at) {
        return BYTES + OFFSET_UNIT * cryptOffset(packet, at);
    }
}

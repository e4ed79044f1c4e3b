package verbena.wire.psp;

import java.lang.foreign.MemorySegment;

/// The sending end of one direction: it seals packets under one SPI, each with an IV of its own. A sender that
/// begins anew needs another SPI, because the IVs would begin anew too. One owner.
public final class PspSealer {
    private final int spi;
    private final PspVersion version;
    private final PspCipher cipher;
    private final int cryptOffset;
    private long nextIv;

    /// @param cipher with the key of the SPI for this version
    /// @param cryptOffset how much of a text is only authenticated, in units of [PspHeader#OFFSET_UNIT]
    /// @param firstIv the IV of the first packet; each has the next one, modulo 2^64
    /// @throws IllegalArgumentException when the SPI is reserved, or the offset is out of range
    public PspSealer(int spi, PspVersion version, PspCipher cipher, int cryptOffset, long firstIv) {
        if (!PspHeader.isSpi(spi)) {
            throw new IllegalArgumentException("spi: the low 31 bits of an SPI are not all zero");
        }
        if (cryptOffset < 0 || cryptOffset > PspHeader.OFFSET_MAX) {
            throw new IllegalArgumentException("cryptOffset: 0 to " + PspHeader.OFFSET_MAX + ", got " + cryptOffset);
        }
        this.spi = spi;
        this.version = version;
        this.cipher = cipher;
        this.cryptOffset = version.encrypts() ? cryptOffset : 0;
        nextIv = firstIv;
    }

    /// Writes the header before a text, seals it where it lies, and writes the ICV behind. The text begins
    /// [PspHeader#BYTES] behind the header's beginning. Otherwise as the other method.
    public int seal(MemorySegment packet, long at, int nextHeader, int textBytes) {
        return seal(packet, at + PspHeader.BYTES, textBytes, packet, at, nextHeader);
    }

    /// Writes a packet that protects a text. Returns the bytes from the header through the ICV. Of a text that is
    /// shorter than the crypt offset nothing is encrypted.
    ///
    /// @param at where the packet's header goes
    /// @param nextHeader the protocol of the text's first header, by its number in IP
    public int seal(MemorySegment text, long textAt, int textBytes, MemorySegment packet, long at, int nextHeader) {
        int offset = Math.min(cryptOffset, textBytes / PspHeader.OFFSET_UNIT);
        PspHeader.write(packet, at, nextHeader, offset, version, spi, nextIv++);
        int bytes = PspHeader.BYTES + textBytes + PspHeader.ICV_BYTES;
        int clear = PspHeader.clearBytes(packet, at, bytes, version);
        int clearText = clear - PspHeader.BYTES;
        if (clearText > 0) {
            MemorySegment.copy(text, textAt, packet, at + PspHeader.BYTES, clearText);
        }
        cipher.seal(text, textAt + clearText, packet, at, clear, textBytes - clearText);
        return bytes;
    }
}

package verbena.wire.psp;

import java.lang.foreign.MemorySegment;

/// The receiving end of one direction: the packets of one SPI are opened here, each once. One owner.
public final class PspOpener {
    private final PspVersion version;
    private final PspCipher cipher;
    private final ReplayWindow window = new ReplayWindow();

    /// @param cipher with the key of the SPI for this version
    public PspOpener(PspVersion version, PspCipher cipher) {
        this.version = version;
        this.cipher = cipher;
    }

    /// Opens a packet where it lies, for a cipher that can do that. Otherwise as the other method.
    public PspVerdict open(MemorySegment packet, long at, int bytes) {
        return open(packet, at, bytes, packet, at + PspHeader.BYTES);
    }

    /// Opens a packet into other memory. Unless it is [PspVerdict#ACCEPTED], nothing has changed: no byte of the
    /// packet, and no state here.
    ///
    /// @param bytes from its header through its ICV, whose form [PspHeader#check] has accepted
    /// @param text takes what is behind the first [PspHeader#BYTES], without the ICV
    public PspVerdict open(MemorySegment packet, long at, int bytes, MemorySegment text, long textAt) {
        if (PspHeader.version(packet, at) != version) {
            return PspVerdict.BAD;
        }
        long iv = PspHeader.iv(packet, at);
        PspVerdict isNew = window.check(iv);
        if (isNew != PspVerdict.ACCEPTED) {
            return isNew;
        }
        int clear = PspHeader.clearBytes(packet, at, bytes, version);
        int clearText = clear - PspHeader.BYTES;
        int secretText = bytes - PspHeader.ICV_BYTES - clear;
        if (!cipher.open(packet, at, clear, secretText, text, textAt + clearText)) {
            return PspVerdict.FORGED;
        }
        if (clearText > 0) {
            MemorySegment.copy(packet, at + PspHeader.BYTES, text, textAt, clearText);
        }
        window.accept(iv);
        return PspVerdict.ACCEPTED;
    }
}

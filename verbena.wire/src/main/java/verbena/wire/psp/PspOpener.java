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

    /// Opens a packet where it lies. Unless it is [PspVerdict#ACCEPTED], nothing has changed: no byte of the
    /// packet, and no state here.
    ///
    /// @param bytes from its header through its ICV, whose form [PspHeader#check] has accepted
    public PspVerdict open(MemorySegment packet, long at, int bytes) {
        if (PspHeader.version(packet, at) != version) {
            return PspVerdict.BAD;
        }
        long iv = PspHeader.iv(packet, at);
        PspVerdict isNew = window.check(iv);
        if (isNew != PspVerdict.ACCEPTED) {
            return isNew;
        }
        int clear = PspHeader.clearBytes(packet, at, bytes, version);
        if (!cipher.open(packet, at, clear, bytes - PspHeader.ICV_BYTES - clear)) {
            return PspVerdict.FORGED;
        }
        window.accept(iv);
        return PspVerdict.ACCEPTED;
    }
}

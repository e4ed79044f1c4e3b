package verbena.wire.pcap;

import java.io.IOException;

/// A capture file that is damaged, cut short, or no capture at all: the one failure that bytes of any kind can
/// cause.
public final class CaptureException extends IOException {
    private final long position;

    CaptureException(long position, String what) {
        super("capture, byte " + position + ": " + what);
        this.position = position;
    }

    /// Returns the position in the file, in bytes, of the record or block that cannot be read.
    public long position() {
        return position;
    }
}

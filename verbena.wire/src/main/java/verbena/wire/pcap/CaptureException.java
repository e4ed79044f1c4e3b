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

    /// Where in the file the record or block begins that cannot be read, in bytes.
    public long position() {
        return position;
    }
}

package verbena.nic.capture;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import verbena.wire.notation.ByteSize;

/// A file for a device's packets, as the option `capture=FILE[,max:SIZE][,packet:BYTES]` names it.
///
/// @param file `%p` in its name stands for the number of the process
/// @param bytesMax the size at which the capture ends, approximately
/// @param packetBytesMax the most bytes kept of a packet of RoCE, from its BTH on; streams of iWARP are kept whole
public record CaptureFile(Path file, long bytesMax, int packetBytesMax) {
    /// The most bytes that the headers of a packet need.
    public static final int PACKET_BYTES_MIN = 64;
    /// The value of `packetBytesMax` that keeps packets whole.
    public static final int WHOLE_PACKETS = Integer.MAX_VALUE;

    private static final long BYTES_MAX_DEFAULT = 1L << 30;
    private static final long BYTES_MIN = 1 << 16;

    /// Returns a file that may grow to 1 GiB.
    public static CaptureFile of(Path file) {
        return new CaptureFile(file, BYTES_MAX_DEFAULT, WHOLE_PACKETS);
    }

    /// Parses the text after `capture=`.
    ///
    /// @throws IllegalArgumentException when the text is invalid
    public static CaptureFile parse(String text) {
        String[] parts = text.split(",", -1);
        if (parts[0].isBlank()) {
            throw new IllegalArgumentException("the name of a file, got \"" + text + "\"");
        }
        long most = BYTES_MAX_DEFAULT;
        int packet = WHOLE_PACKETS;
        for (int i = 1; i < parts.length; i++) {
            if (parts[i].startsWith("max:")) {
                most = bytes(parts[i].substring("max:".length()));
            } else if (parts[i].startsWith("packet:")) {
                packet = packetBytes(parts[i].substring("packet:".length()));
            } else {
                throw new IllegalArgumentException("after the file, max:SIZE and packet:BYTES only, got \"" + parts[i]
                        + "\" (a file's name has no comma)");
            }
        }
        return new CaptureFile(
                Path.of(parts[0].replace(
                        "%p", Long.toString(ProcessHandle.current().pid()))),
                most,
                packet);
    }

    private static int packetBytes(String text) {
        Long bytes = number(text);
        if (bytes == null || bytes < PACKET_BYTES_MIN || bytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("packet: at least " + PACKET_BYTES_MIN + " bytes, got \"" + text + "\"");
        }
        return bytes.intValue();
    }

    /// Parses a size of a capture, see [ByteSize].
    ///
    /// @throws IllegalArgumentException when the text is not a size, or the size is too small for a capture
    public static long bytes(String text) {
        try {
            long bytes = ByteSize.parse(text);
            if (bytes >= BYTES_MIN) {
                return bytes;
            }
        } catch (IllegalArgumentException _) {
            // As one that is too small.
        }
        throw new IllegalArgumentException("size: at least 64K, for example 100M or 2G, got \"" + text + "\"");
    }

    private static @Nullable Long number(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException _) {
            return null;
        }
    }
}

package verbena.wire.notation;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import verbena.wire.pcap.PspUnwrapper;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspVerdict;
import verbena.wire.psp.PspVersion;

/// The text of a packet of PSP: its header, and the verdict about it. See docs/notation.md.
public final class PspText {
    private PspText() {}

    /// Prints a packet in a line.
    public static String format(PspUnwrapper.Found found) {
        String head = found.at() < 0
                        || found.memory().byteSize() < found.at() + PspHeader.BYTES
                        || found.bytes() < PspHeader.BYTES
                ? "PSP"
                : header(found);
        return head + "  " + verdict(found.verdict(), found.clear() != null);
    }

    private static String header(PspUnwrapper.Found found) {
        var memory = found.memory();
        long at = found.at();
        PspVersion version = PspHeader.version(memory, at);
        int behind = found.bytes() - PspHeader.bytes(memory, at) - PspHeader.ICV_BYTES;
        boolean isOpen = found.clear() != null;
        return "PSP spi 0x%08x  iv %s  %s  offset %d%s  | %d"
                .formatted(
                        PspHeader.spi(memory, at),
                        Long.toUnsignedString(PspHeader.iv(memory, at)),
                        version == null
                                ? "reserved version"
                                : version.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                        PspHeader.cryptOffset(memory, at),
                        isOpen && PspHeader.hasCookie(memory, at)
                                ? "  vc 0x%x".formatted(PspHeader.cookie(memory, at))
                                : "",
                        Math.max(behind, 0));
    }

    private static String verdict(@Nullable PspVerdict verdict, boolean isOpen) {
        if (verdict == null) {
            return "cut short by the capture";
        }
        return switch (verdict) {
            case ACCEPTED -> "opened";
            case REPEATED -> isOpen ? "opened: repeated" : "repeated";
            case OLD -> isOpen ? "opened: old" : "old";
            case LENGTH -> "malformed length";
            case BAD -> "malformed header";
            case UNKNOWN -> "no key";
            case FORGED -> "wrong ICV";
            case UNEXPECTED -> "unexpected text";
        };
    }
}

package verbena.tools.decode;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.wire.pcap.PspUnwrapper;

/// The number of packets of PSP, and their outcome.
final class PspSummary {
    private long opened;
    private long repeated;
    private long withoutKey;
    private long wrong;
    private long malformed;
    private long cutShort;

    void add(PspUnwrapper.Found found) {
        boolean isOpened = found.clear() != null;
        if (isOpened) {
            opened++;
        }
        if (found.verdict() == null) {
            cutShort++;
            return;
        }
        switch (found.verdict()) {
            case ACCEPTED -> {}
            case REPEATED, OLD -> repeated++;
            case UNKNOWN -> withoutKey++;
            case FORGED -> wrong++;
            case LENGTH, BAD, UNEXPECTED -> malformed++;
        }
    }

    /// Returns whether a receiver would have counted a packet as an error.
    boolean hasErrors() {
        return wrong + malformed > 0;
    }

    /// Returns the line for people; null when there were no packets of PSP.
    @Nullable
    String line() {
        var parts = new ArrayList<String>();
        part(parts, opened, "opened");
        part(parts, repeated, "repeated or old");
        part(parts, withoutKey, "without a key");
        part(parts, wrong, "with a wrong ICV");
        part(parts, malformed, "malformed");
        part(parts, cutShort, "cut short by the capture");
        return parts.isEmpty() ? null : "of PSP: " + String.join(", ", parts);
    }

    private static void part(List<String> parts, long count, String what) {
        if (count > 0) {
            parts.add(count + " " + what);
        }
    }
}

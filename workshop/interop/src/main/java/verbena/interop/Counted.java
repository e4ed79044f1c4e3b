package verbena.interop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The bytes by RDMA and by TCP, from the counters of all processes with the agent (`verbena.nio.summary`).
///
/// @param rdma bytes by RDMA, those that arrived and those that left
/// @param tcp the same by TCP
record Counted(long rdma, long tcp) {
    private static final Pattern COUNT = Pattern.compile("\\b(rdma|tcp)-(?:in|out)=(\\d+)");

    /// @param summary has a line for each process; a file that is missing is none
    static Counted in(Path summary) throws IOException {
        return Files.exists(summary) ? of(Files.readString(summary)) : new Counted(0, 0);
    }

    static Counted of(String summary) {
        long rdma = 0;
        long tcp = 0;
        Matcher each = COUNT.matcher(summary);
        while (each.find()) {
            long bytes = Long.parseLong(each.group(2));
            if (each.group(1).equals("rdma")) {
                rdma += bytes;
            } else {
                tcp += bytes;
            }
        }
        return new Counted(rdma, tcp);
    }

    /// Returns the share of bytes by RDMA, from 0 to 1.
    double share() {
        return rdma == 0 ? 0 : (double) rdma / (rdma + tcp);
    }

    /// Returns the share as text, rounded down: 100 % means all bytes.
    @Override
    public String toString() {
        double percent = Math.floor(share() * 1_000) / 10;
        return String.format(Locale.ROOT, "%.1f %% of %.1f MB by RDMA", percent, (rdma + tcp) / 1e6);
    }
}

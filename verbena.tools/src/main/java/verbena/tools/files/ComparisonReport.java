package verbena.tools.files;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import verbena.tools.report.Json;

/// The results of a comparison, with sentences about them; its components are those of its JSON.
public record ComparisonReport(String title, Map<String, String> facts, long bytes, List<Row> rows) {
    /// Median, least and most of the rounds.
    public record Spread(double median, double least, double most) {
        static <T> Spread of(List<T> runs, ToDoubleFunction<T> figure) {
            double[] sorted = runs.stream().mapToDouble(figure).sorted().toArray();
            int middle = sorted.length / 2;
            double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
            return new Spread(median, sorted[0], sorted[sorted.length - 1]);
        }
    }

    /// A way's figures.
    ///
    /// @param readsAndWrites system calls that `/proc` counts, of both ends
    /// @param systemCalls all of both ends, in a run of its own; null where they cannot be counted
    /// @param sourceCachedMiB what the file has in the page cache afterwards; null where the system does not tell
    /// @param copies see [Way]
    public record Row(
            String way,
            boolean isRdma,
            Spread seconds,
            Spread mibPerSecond,
            Spread senderUser,
            Spread senderSystem,
            Spread receiverUser,
            Spread receiverSystem,
            Spread voluntarySwitches,
            Spread involuntarySwitches,
            Spread readsAndWrites,
            @Nullable Long systemCalls,
            @Nullable Double sourceCachedMiB,
            @Nullable Double copyCachedMiB,
            int copies,
            String path,
            String switches) {
        double user() {
            return senderUser.median + receiverUser.median;
        }

        double system() {
            return senderSystem.median + receiverSystem.median;
        }
    }

    private static final String HEAD = "%-24s %7s %15s %8s %7s %7s %9s %9s %9s %9s %7s %7s%n";

    String json() {
        return Json.format(this);
    }

    /// Returns one page that needs no other file.
    public String html() {
        try (InputStream in = ComparisonReport.class.getResourceAsStream("compare.html")) {
            if (in == null) {
                throw new IllegalStateException("not in the build: compare.html");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .replace("/*WORDS*/", Json.format(words()))
                    .replace("/*REPORT*/", json());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the table for a terminal.
    String table() {
        var text = new StringBuilder(title).append("\n");
        facts.forEach((name, fact) -> text.append("  %-8s %s%n".formatted(name, fact)));
        text.append("\n");
        text.append(HEAD.formatted(
                "method",
                "MiB/s",
                "least - most",
                "seconds",
                "user s",
                "sys s",
                "vol.sw.",
                "invol.",
                "r/w calls",
                "all calls",
                "src MiB",
                "dst MiB"));
        for (Row row : rows) {
            text.append(HEAD.formatted(
                    row.way,
                    "%.0f".formatted(row.mibPerSecond.median),
                    "%.0f - %.0f".formatted(row.mibPerSecond.least, row.mibPerSecond.most),
                    "%.2f".formatted(row.seconds.median),
                    "%.2f".formatted(row.user()),
                    "%.2f".formatted(row.system()),
                    "%.0f".formatted(row.voluntarySwitches.median),
                    "%.0f".formatted(row.involuntarySwitches.median),
                    "%.0f".formatted(row.readsAndWrites.median),
                    row.systemCalls == null ? "-" : row.systemCalls.toString(),
                    row.sourceCachedMiB == null ? "-" : "%.0f".formatted(row.sourceCachedMiB),
                    row.copyCachedMiB == null ? "-" : "%.0f".formatted(row.copyCachedMiB)));
        }
        text.append("\nWhat each implies for a MiB, reasoned, not measured (copies by a processor, both ends and the"
                + " kernel):\n");
        for (Row row : rows) {
            text.append("  %-24s %d copies: %s%n".formatted(row.way, row.copies, row.path));
            text.append("  %-24s into the kernel: %s%n".formatted("", row.switches));
        }
        text.append("\n");
        words().forEach(word -> text.append(word).append("\n"));
        return text.toString();
    }

    /// Returns sentences on what the figures show, and what they do not.
    private List<String> words() {
        var words = new ArrayList<String>();
        Row best = best(false);
        Row rdma = best(true);
        if (best != null && rdma != null) {
            double ratio = rdma.mibPerSecond.median / best.mibPerSecond.median;
            double cpu = (rdma.user() + rdma.system()) / Math.max(0.01, best.user() + best.system());
            words.add(("The fastest RDMA (%s) moves %.2f times what the fastest socket method (%s) does, and takes %.1f"
                            + " times its processor time.")
                    .formatted(rdma.way, ratio, best.way, cpu));
        }
        if (rows.stream().anyMatch(row -> row.isRdma && row.copies > 2)) {
            words.add("Where a software device loses, it is because it does in processes what a card does beside them."
                    + " Each byte is copied out of the sender's slot into a packet, by the kernel into the socket"
                    + " and out of it, and into the receiver's slot, with a CRC over it at both ends, and every"
                    + " row of packets is a system call. sendfile does none of that at the sender: the socket"
                    + " takes pages of the page cache by reference.");
            words.add("A card reads the one slot and writes the other by DMA and computes the CRC on its way: of the"
                    + " copies only those between page cache and slot are left, and with --direct none, and of the"
                    + " system calls only the disk's.");
        }
        words.add("Both RDMA ways also do what the socket ways here do not: a CRC32C of each chunk at both ends, a"
                + " digest of the file, a journal to resume by, a name only for a complete file.");
        words.add("User and system seconds are of both processes, in steps of 10 ms; the kernel's work for loopback is"
                + " done in the process that sends. \"r/w calls\" are what /proc/PID/io counts: read, write,"
                + " sendfile and their kin, not sendmsg and recvmsg, with which the devices work, nor waiting and"
                + " waking. \"all calls\" are strace's, in a run of its own, which it slows down. Switches are of"
                + " threads that lived to the end of the run.");
        return words;
    }

    private @Nullable Row best(boolean isRdma) {
        return rows.stream()
                .filter(row -> row.isRdma == isRdma)
                .max(java.util.Comparator.comparingDouble(row -> row.mibPerSecond.median))
                .orElse(null);
    }
}

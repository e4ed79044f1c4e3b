package verbena.tools.explain;

import java.util.List;
import java.util.Locale;

/// The ways through the kernel by which the bytes of a file reach a peer over TCP, in the time of cores. Its costs are
/// assumed; they show what grows with the bytes, and not what a machine measures.
record KernelWays(int bytes) {
    private static final double CALL_NANOS = 200;
    /// A core copies 10 GB/s.
    private static final double COPY_NANOS = 0.1;

    private static final double FAULT_NANOS = 250;
    private static final int PAGE_BYTES = 4096;
    private static final double SEGMENT_NANOS = 2_000;
    private static final int SEGMENT_BYTES = 65_536;
    private static final double INTERRUPT_NANOS = 5_000;

    /// A way.
    private record Way(String name, int calls, int copies, boolean faults, String note) {}

    private static final List<Way> WAYS = List.of(
            new Way("read and write", 2, 2, false, "from the page cache to the program, and to the socket"),
            new Way("mmap and write", 1, 1, true, "the program sees the page cache; a fault for each new page"),
            new Way("sendfile", 1, 0, false, "the card reads the page cache itself"),
            new Way(
                    "direct I/O and write",
                    2,
                    1,
                    false,
                    "the disk writes to the program's pages, and its time comes on top"));

    /// Returns a line for each way.
    List<String> lines() {
        return WAYS.stream().map(this::line).toList();
    }

    private String line(Way way) {
        // The peer's kernel is interrupted, runs TCP, and copies into the program that has called read.
        double segments = Math.ceil(bytes / (double) SEGMENT_BYTES);
        double sender = way.calls * CALL_NANOS
                + way.copies * bytes * COPY_NANOS
                + (way.faults ? Math.ceil(bytes / (double) PAGE_BYTES) * FAULT_NANOS : 0)
                + segments * SEGMENT_NANOS;
        double receiver = INTERRUPT_NANOS + segments * SEGMENT_NANOS + CALL_NANOS + bytes * COPY_NANOS;
        return String.format(
                Locale.ROOT,
                "%s: system calls %d, copies by cores %d, interrupts 1, %.1f µs of cores besides the wire: %s.",
                way.name,
                way.calls + 1,
                way.copies + 1,
                (sender + receiver) / 1000,
                way.note);
    }
}

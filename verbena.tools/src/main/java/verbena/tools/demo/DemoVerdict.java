package verbena.tools.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Sentences about the figures of the demo: no more than was measured. All ratios are of Verbena to the TCP socket,
/// and over 1 where Verbena is better.
///
/// @param device its name tells what carries the packets
/// @param cores that this process may use
/// @param write of the throughputs
/// @param kernel the kernel's share of the processor time of both processes during the WRITEs; null when unknown
/// @param polled of the latencies
/// @param awaited of the latencies
/// @param sleeps how often threads slept for one message; null when unknown
record DemoVerdict(
        String device,
        int cores,
        double write,
        @Nullable Double kernel,
        double polled,
        double awaited,
        @Nullable Sleeps sleeps) {
    /// The distance of a ratio from 1 below which neither is faster.
    private static final double EQUAL = 0.05;

    /// The number of times that threads slept for one message.
    record Sleeps(double polled, double awaited, double tcp) {}

    /// Returns lines of one or two sentences.
    List<String> lines() {
        var lines = new ArrayList<String>();
        writes(lines);
        lines.add("A polled message is " + compared(polled) + (sleeps == null ? "." : slept(sleeps.polled)));
        if (isWorse(polled)) {
            lines.add("  Both ends poll without a pause, and need a core each; " + cores + " can be used here.");
        }
        lines.add("An awaited message is " + compared(awaited) + (sleeps == null ? "." : slept(sleeps.awaited)));
        if (sleeps != null) {
            lines.add("  For a message of the socket they slept " + often(sleeps.tcp) + ".");
            if (isWorse(awaited) && sleeps.awaited > sleeps.tcp * (1 + EQUAL)) {
                lines.add("  The kernel wakes an application after each sleep, and Verbena's engine as well.");
            }
        }
        return lines;
    }

    private void writes(List<String> lines) {
        lines.add("WRITE moves " + amount(write) + (kernel == null ? "." : "; " + share(kernel)));
        if (!isWorse(write)) {
            return;
        }
        if (device.startsWith("rocev")) {
            lines.add(
                    "  Each packet of at most 4 KiB passes the kernel by itself, where TCP hands over 64 KiB at a time;");
            lines.add("  and each has a checksum by the processor. A card does both without the kernel.");
        } else if (device.startsWith("iwarp")) {
            lines.add("  It is TCP as well, with frames and their CRC on top (the device's option crc=off omits it).");
        }
    }

    private static boolean isWorse(double ratio) {
        return ratio < 1 - EQUAL;
    }

    private static boolean isBetter(double ratio) {
        return ratio > 1 + EQUAL;
    }

    private static String amount(double ratio) {
        if (!isBetter(ratio) && !isWorse(ratio)) {
            return "as much as the TCP socket";
        }
        return (isBetter(ratio) ? "more" : "less") + " than the TCP socket, " + digits(ratio) + " x";
    }

    private static String compared(double ratio) {
        if (!isBetter(ratio) && !isWorse(ratio)) {
            return "as fast as the TCP socket's";
        }
        return (isBetter(ratio) ? "faster" : "slower") + " than the TCP socket's, " + digits(ratio) + " x";
    }

    private static String share(double kernel) {
        return String.format(Locale.ROOT, "%.0f %% of the processor time of both ends was the kernel's.", kernel * 100);
    }

    private static String slept(double sleeps) {
        return "; threads slept " + often(sleeps) + " for it.";
    }

    private static String often(double times) {
        return times < 0.01 ? "hardly ever" : digits(times) + " times";
    }

    /// Returns a number with two significant digits: `0.23`, `6.7`, `14`.
    static String digits(double value) {
        return significant(value, 2);
    }

    /// Returns a number with so many significant digits, never fewer: a small figure does not become 0.
    static String significant(double value, int digits) {
        if (value == 0 || !Double.isFinite(value)) {
            return value == 0 ? "0" : "-";
        }
        int before = (int) Math.floor(Math.log10(Math.abs(value))) + 1;
        return String.format(Locale.ROOT, "%,." + Math.max(0, digits - before) + "f", value);
    }
}

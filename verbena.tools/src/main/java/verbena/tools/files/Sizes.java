package verbena.tools.files;

import java.time.Duration;

/// Numbers of bytes, for people.
final class Sizes {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

    private Sizes() {}

    static String bytes(long bytes) {
        return bytes((double) bytes);
    }

    static String bytes(double bytes) {
        int unit = 0;
        double value = bytes;
        while (value >= 1024 && unit < UNITS.length - 1) {
            value /= 1024;
            unit++;
        }
        return unit == 0 ? "%.0f B".formatted(value) : "%.1f %s".formatted(value, UNITS[unit]);
    }

    static String seconds(Duration duration) {
        return seconds(duration.toMillis() / 1000.0);
    }

    static String seconds(double seconds) {
        if (seconds < 60) {
            return "%.1f s".formatted(seconds);
        }
        long whole = (long) seconds;
        return whole < 3600
                ? "%d:%02d".formatted(whole / 60, whole % 60)
                : "%d:%02d:%02d".formatted(whole / 3600, whole / 60 % 60, whole % 60);
    }
}

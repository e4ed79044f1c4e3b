package verbena.bench;

import java.util.Locale;

/// Figures as text.
final class Table {
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB"};

    private Table() {}

    static String size(long bytes) {
        int unit = 0;
        long size = bytes;
        while (size >= 1_024 && size % 1_024 == 0 && unit < UNITS.length - 1) {
            size /= 1_024;
            unit++;
        }
        return size + " " + UNITS[unit];
    }

    /// With three digits or more.
    static String number(double value) {
        double positive = Math.abs(value);
        String format =
                positive >= 100 || positive == 0 ? "%,.0f" : positive >= 10 ? "%.1f" : positive >= 1 ? "%.2f" : "%.3f";
        return String.format(Locale.ROOT, format, value);
    }
}

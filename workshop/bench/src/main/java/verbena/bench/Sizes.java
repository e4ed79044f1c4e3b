package verbena.bench;

/// The sizes of messages that goals are about.
final class Sizes {
    static final int SMALL = 8;
    static final int LARGE = 64 << 10;
    static final int HUGE = 1 << 20;

    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB"};

    private Sizes() {}

    static String text(long bytes) {
        int unit = 0;
        long size = bytes;
        while (size >= 1_024 && size % 1_024 == 0 && unit < UNITS.length - 1) {
            size /= 1_024;
            unit++;
        }
        return size + " " + UNITS[unit];
    }
}

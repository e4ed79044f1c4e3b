package verbena.tools.demo;

import java.util.List;
import verbena.tools.report.Spread;

/// The unit that a figure is shown in.
record DemoUnit(double size, String name) {
    private static final int DIGITS = 3;
    private static final List<DemoUnit> BYTES_PER_SECOND =
            List.of(new DemoUnit(1e9, "GB/s"), new DemoUnit(1e6, "MB/s"), new DemoUnit(1e3, "kB/s"));
    private static final List<DemoUnit> NANOS = List.of(new DemoUnit(1e6, "ms"), new DemoUnit(1e3, "us"));

    static DemoUnit ofBytesPerSecond(double value) {
        return of(value, BYTES_PER_SECOND);
    }

    static DemoUnit ofNanos(double value) {
        return of(value, NANOS);
    }

    // The largest that is not larger than the value, else the smallest.
    private static DemoUnit of(double value, List<DemoUnit> units) {
        return units.stream().filter(unit -> unit.size <= value).findFirst().orElse(units.getLast());
    }

    String format(double value) {
        return DemoVerdict.significant(value / size, DIGITS) + " " + name;
    }

    String range(Spread spread) {
        return DemoVerdict.significant(spread.least() / size, DIGITS) + " - "
                + DemoVerdict.significant(spread.most() / size, DIGITS);
    }

    static String micros(double nanos) {
        return ofNanos(nanos).format(nanos);
    }
}

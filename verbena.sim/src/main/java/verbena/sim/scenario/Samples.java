package verbena.sim.scenario;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleSupplier;
import verbena.sim.ethernet.EthernetNetwork;

/// A sampler of gauges at equal distances of virtual time, for a plot.
final class Samples {
    private final List<Double> times = new ArrayList<>();
    private final Map<String, List<Double>> values = new LinkedHashMap<>();
    private final Map<String, DoubleSupplier> gauges = new LinkedHashMap<>();

    /// Begins to read, every so often.
    Samples(EthernetNetwork network, long periodNanos) {
        network.every(periodNanos, now -> {
            times.add(now / 1e6);
            gauges.forEach((name, gauge) -> valuesOf(name).add(gauge.getAsDouble()));
        });
    }

    /// Adds a gauge. One that comes later has no value before.
    void gauge(String name, DoubleSupplier gauge) {
        gauges.put(name, gauge);
        values.put(name, new ArrayList<>(Collections.nCopies(times.size(), Double.NaN)));
    }

    private List<Double> valuesOf(String name) {
        return Objects.requireNonNull(values.get(name), name);
    }

    Outcome.Plot plot(String title, String unit) {
        return new Outcome.Plot(title, "ms", unit, times, values);
    }

    /// Returns the values that a gauge read, without some of the first.
    double[] of(String name, int skipped) {
        return valuesOf(name).stream()
                .skip(skipped)
                .mapToDouble(Double::doubleValue)
                .toArray();
    }

    /// Returns a value of which the share `part` is not greater.
    static double percentile(double[] values, double part) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int index = (int) Math.ceil(part * sorted.length) - 1;
        return sorted.length == 0 ? Double.NaN : sorted[Math.clamp(index, 0, sorted.length - 1)];
    }

    static double mean(double[] values) {
        return Arrays.stream(values).average().orElse(Double.NaN);
    }
}

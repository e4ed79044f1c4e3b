package verbena.sim.card;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import verbena.sim.scenario.Outcome;

/// The findings of an experiment beside what was published.
final class Beside {
    private static final long COUNT = 40_000;

    private final Outcome.Builder outcome = new Outcome.Builder();
    private final Consumer<String> progress;
    private final long seed;

    Beside(long seed, Consumer<String> progress) {
        this.seed = seed;
        this.progress = progress;
    }

    /// Runs a workload on a card.
    Measured run(Card card, String load) {
        return run(card, load, COUNT);
    }

    /// @param count how many requests
    Measured run(Card card, String load, long count) {
        return CardRun.of(card, Load.of(load), seed, count);
    }

    /// Runs a workload on cards at the hosts of a network.
    CardRun.Networked over(String network, Card card, String load, long count) {
        return CardRun.over(card, Load.of(load), seed, count, network.lines().toList());
    }

    /// Notes a number of the model.
    void figure(String name, double value, String unit) {
        outcome.figure(name, value, unit);
    }

    /// Compares a number with a published one.
    void number(String name, String unit, double published, double here) {
        outcome.figure(name + ", published", published, unit).figure(name + ", here", here, unit);
        outcome.atMost(name + ": difference from what was published", Math.abs(here / published - 1), 0.2);
    }

    /// A measurement at a point of a curve.
    interface Point {
        double at(double x);
    }

    /// Compares a curve with a published one. At each point the difference has to be 20 % or less.
    void curve(String name, String xUnit, String yUnit, double[] xs, double[] published, Point here) {
        List<Double> x = new ArrayList<>();
        List<Double> theirs = new ArrayList<>();
        List<Double> ours = new ArrayList<>();
        double worst = 0;
        for (int i = 0; i < xs.length; i++) {
            progress.accept(String.format(Locale.ROOT, "%s, %.0f %s", name, xs[i], xUnit));
            double value = here.at(xs[i]);
            String at = String.format(Locale.ROOT, "%s, %.0f %s", name, xs[i], xUnit);
            outcome.figure(at + ", published", published[i], yUnit).figure(at + ", here", value, yUnit);
            worst = Math.max(worst, Math.abs(value / published[i] - 1));
            x.add(xs[i]);
            theirs.add(published[i]);
            ours.add(value);
        }
        Map<String, List<Double>> curves = new LinkedHashMap<>();
        curves.put("published", theirs);
        curves.put("here", ours);
        outcome.plot(new Outcome.Plot(name, xUnit, yUnit, x, curves));
        outcome.atMost(name + ": largest difference from what was published", worst, 0.2);
    }

    /// Draws curves that nothing was published beside.
    void shape(String name, String xUnit, String yUnit, double[] xs, Map<String, Point> points) {
        Map<String, List<Double>> curves = new LinkedHashMap<>();
        points.forEach((curve, point) -> {
            List<Double> values = new ArrayList<>();
            for (double x : xs) {
                progress.accept(String.format(Locale.ROOT, "%s, %.0f %s", curve, x, xUnit));
                double value = point.at(x);
                outcome.figure(String.format(Locale.ROOT, "%s, %.0f %s", curve, x, xUnit), value, yUnit);
                values.add(value);
            }
            curves.put(curve, values);
        });
        List<Double> x = new ArrayList<>();
        for (double each : xs) {
            x.add(each);
        }
        outcome.plot(new Outcome.Plot(name, xUnit, yUnit, x, curves));
    }

    void atLeast(String text, double value, double low) {
        outcome.atLeast(text, value, low);
    }

    void atMost(String text, double value, double high) {
        outcome.atMost(text, value, high);
    }

    Outcome done() {
        return outcome.done();
    }
}

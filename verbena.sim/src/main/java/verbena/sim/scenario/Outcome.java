package verbena.sim.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The result of an experiment.
///
/// @param figures in the order of their table
/// @param claims  what has to hold
/// @param plots   courses in time, or distributions
public record Outcome(List<Figure> figures, List<Claim> claims, List<Plot> plots) {
    public Outcome {
        figures = List.copyOf(figures);
        claims = List.copyOf(claims);
        plots = List.copyOf(plots);
    }

    /// Returns whether all claims hold.
    public boolean holds() {
        return claims.stream().allMatch(Claim::holds);
    }

    /// A number.
    ///
    /// @param unit may be empty
    public record Figure(String name, double value, String unit) {}

    /// Something that has to hold: a number that is not on the wrong side of a limit.
    ///
    /// @param text   what the number is
    /// @param atMost whether it may not exceed the limit, else it may not fall below
    public record Claim(String text, double value, double limit, boolean atMost) {
        public boolean holds() {
            return atMost ? value <= limit : value >= limit;
        }
    }

    /// Curves over one axis.
    ///
    /// @param x      the axis, and its unit
    /// @param curves by name, each with a value for each `x`
    public record Plot(String title, String xUnit, String yUnit, List<Double> x, Map<String, List<Double>> curves) {}

    /// A builder that collects the findings of an experiment.
    public static final class Builder {
        private final List<Figure> figures = new ArrayList<>();
        private final List<Claim> claims = new ArrayList<>();
        private final List<Plot> plots = new ArrayList<>();

        public Builder figure(String name, double value, String unit) {
            figures.add(new Figure(name, value, unit));
            return this;
        }

        public Builder figure(String name, long value, String unit) {
            return figure(name, (double) value, unit);
        }

        public Builder atLeast(String text, double value, double low) {
            return claim(new Claim(text, value, low, false));
        }

        public Builder atMost(String text, double value, double high) {
            return claim(new Claim(text, value, high, true));
        }

        public Builder atLeast(String text, long value, long low) {
            return atLeast(text, (double) value, (double) low);
        }

        public Builder atMost(String text, long value, long high) {
            return atMost(text, (double) value, (double) high);
        }

        private Builder claim(Claim claim) {
            claims.add(claim);
            return this;
        }

        public Builder plot(Plot plot) {
            plots.add(plot);
            return this;
        }

        public Outcome done() {
            return new Outcome(figures, claims, plots);
        }
    }
}

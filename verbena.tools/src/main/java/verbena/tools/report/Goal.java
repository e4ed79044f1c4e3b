package verbena.tools.report;

/// A figure that a number is set for.
///
/// @param name what it is
/// @param unit of the figure; `x` for a ratio
/// @param value the figure: the median of the repetitions
/// @param low the least of the repetitions
/// @param high the greatest of the repetitions
/// @param limit what it has to reach
/// @param atMost whether it may not exceed the limit, else it may not fall below
/// @param reached whether it does
public record Goal(
        String name,
        String unit,
        double value,
        double low,
        double high,
        double limit,
        boolean atMost,
        boolean reached) {}

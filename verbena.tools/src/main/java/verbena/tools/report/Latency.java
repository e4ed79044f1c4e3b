package verbena.tools.report;

/// The time of an operation, in microseconds: least, median, percentiles, most.
///
/// @param p999 what 99.9 % do not exceed
public record Latency(double min, double p50, double p99, double p999, double max) {}

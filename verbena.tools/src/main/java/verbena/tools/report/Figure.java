package verbena.tools.report;

/// A number by its name.
///
/// @param unit may be empty
public record Figure(String name, double value, String unit) {}

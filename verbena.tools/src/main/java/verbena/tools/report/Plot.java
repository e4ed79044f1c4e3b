package verbena.tools.report;

import java.util.List;
import java.util.Map;

/// Curves over one axis.
///
/// @param xUnit  the unit of `x`
/// @param yUnit  the unit of all curves
/// @param x      the axis
/// @param curves by name, each with a value for each `x`; one that is not finite is left out
public record Plot(String title, String xUnit, String yUnit, List<Double> x, Map<String, List<Double>> curves) {}

package verbena.bench;

import java.util.ArrayList;
import java.util.List;

/// Costs of Verbena beside time.
///
/// @param allocated bytes for each WRITE, by both ends
/// @param idle percents of a core for idle connections
/// @param bytes of memory for each idle connection
record Costs(List<Double> allocated, List<Double> idle, List<Double> bytes) {
    Costs() {
        this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }
}

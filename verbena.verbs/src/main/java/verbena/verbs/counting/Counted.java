package verbena.verbs.counting;

import java.util.Map;

/// Something that counts, from its opening to its close. Any thread may ask it at any time, also just after its
/// close.
public interface Counted {
    /// Returns the counters, by name. They only grow.
    Map<String, Long> counters();

    /// Returns how much there is now, by name.
    default Map<String, Long> gauges() {
        return Map.of();
    }
}

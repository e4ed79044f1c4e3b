package verbena.sim.traffic;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;

/// The number of times that each [Feature] has happened in a world.
final class Tally {
    private final long[] counts = new long[Feature.values().length];

    void count(Feature feature) {
        add(feature, 1);
    }

    void add(Feature feature, long times) {
        counts[feature.ordinal()] += times;
    }

    long of(Feature feature) {
        return counts[feature.ordinal()];
    }

    Map<Feature, Long> all() {
        var all = new EnumMap<Feature, Long>(Feature.class);
        for (Feature feature : Feature.values()) {
            all.put(feature, of(feature));
        }
        return Collections.unmodifiableMap(all);
    }
}

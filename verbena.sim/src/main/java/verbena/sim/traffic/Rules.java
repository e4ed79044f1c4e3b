package verbena.sim.traffic;

import java.util.Set;

/// The rules of a world's reliable connections, apart from posting requests.
///
/// @param features what programs use; what every world has, or comes from the network, need not be named
/// @param tally counts what happens
/// @param mayBreak whether the network may break a connection
record Rules(Hazards hazards, Set<Feature> features, Tally tally, boolean mayBreak) {
    boolean have(Feature feature) {
        return features.contains(feature);
    }
}

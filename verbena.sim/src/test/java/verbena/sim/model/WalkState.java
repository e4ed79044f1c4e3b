package verbena.sim.model;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/// Where a [RandomWalk] is.
final class WalkState {
    final long seed;
    /// Packets get lost. So there are only reliable connections, which hide it.
    final boolean faulty;
    /// Devices may reach each other's memory without packets.
    final boolean shared;
    final Lockstep lockstep;
    final List<WalkPlace> places = new ArrayList<>();
    /// Of the present step.
    SplittableRandom random;

    WalkState(long seed, boolean faulty, boolean shared, Lockstep lockstep) {
        this.seed = seed;
        this.faulty = faulty;
        this.shared = shared;
        this.lockstep = lockstep;
        this.random = new SplittableRandom(seed);
        lockstep.pairs.forEach(pair -> places.add(new WalkPlace(pair)));
    }
}

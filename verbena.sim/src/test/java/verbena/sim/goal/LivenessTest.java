package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.sim.traffic.Account;
import verbena.sim.traffic.Profile;
import verbena.sim.traffic.Simulation;

/// Goal N3: when the network heals, everything outstanding finishes within 5 s of virtual time, each request once.
/// The seed draws faults and hazards, services and requests.
class LivenessTest {
    private static final long SEEDS = Goal.size(75, 10_000);
    private static final int OPERATIONS = 600;

    @Test
    void everythingDrainsWhenTheNetworkHeals() {
        long start = System.nanoTime();
        long drainMax = 0;
        long worst = 0;
        long packets = 0;
        long requests = 0;
        long broke = 0;
        for (long seed = Goal.seed(); seed < Goal.seed() + SEEDS; seed++) {
            Account account = new Simulation(seed, Profile.ANY, OPERATIONS).run(Goal.captures());
            packets += account.packets();
            requests += account.completed() + account.failed();
            broke += account.broke();
            if (account.drainNanos() > drainMax) {
                drainMax = account.drainNanos();
                worst = seed;
            }
        }
        assertThat(drainMax).isLessThanOrEqualTo(Simulation.DRAIN_NANOS);
        assertThat(broke).as("some connections broke before").isPositive();
        Goal.report(
                "N3",
                start,
                "%,d seeds drained within %.0f ms of virtual time, the slowest being seed %d; %,d requests, %,d packets, %,d broken connections"
                        .formatted(SEEDS, drainMax / 1e6, worst, requests, packets, broke));
    }
}

package verbena.sim;

import java.util.SplittableRandom;

/// Lets black holes, silences and pauses begin now and then, each at a device drawn by chance: the times between them
/// are distributed exponentially.
final class FaultSchedule {
    private static final double NANOS_PER_SECOND = 1e9;

    private interface Outage {
        void begin(SimDevice device, long nanos);
    }

    private final World world;
    private final SplittableRandom random;
    /// Counts the changes of faults, so that what was planned under earlier ones does not happen.
    private int age;

    FaultSchedule(World world, SplittableRandom random) {
        this.world = world;
        this.random = random;
    }

    /// From now on the outages of these faults, and none of those before.
    void plan(NetworkFaults faults) {
        age++;
        for (SimDevice device : world.devices()) {
            device.blackHole(0);
            device.mute(0);
            device.pause(0);
        }
        plan(faults.blackHoles(), (device, nanos) -> {
            device.note("sends into a black hole for " + nanos + " ns");
            device.blackHole(nanos);
        });
        plan(faults.mutes(), (device, nanos) -> {
            device.note("does not answer for " + nanos + " ns");
            device.mute(nanos);
        });
        plan(faults.pauses(), (device, nanos) -> {
            device.note("pauses for " + nanos + " ns");
            device.pause(nanos);
        });
    }

    private void plan(NetworkFaults.Outages outages, Outage spell) {
        if (outages.perSecond() == 0) {
            return;
        }
        int planned = age;
        long after = (long) (-StrictMath.log(1 - random.nextDouble()) / outages.perSecond() * NANOS_PER_SECOND);
        world.after(after, () -> {
            if (planned == age) {
                int victim = random.nextInt(world.devices().size());
                spell.begin(world.devices().get(victim), random.nextLong(outages.nanosMax()));
                plan(outages, spell);
            }
        });
    }
}

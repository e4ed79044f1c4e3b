package verbena.sim;

import java.util.List;
import java.util.SplittableRandom;

/// A schedule of black holes, silences and pauses that begin now and then, each at a device drawn by chance: the
/// times between them are distributed exponentially.
final class FaultSchedule {
    private static final double NANOS_PER_SECOND = 1e9;

    /// A scheduler of actions after a time.
    interface Later {
        void after(long nanos, Runnable action);
    }

    private interface Outage {
        void begin(SimDevice device, long nanos);
    }

    /// The devices that there are by now.
    private final List<SimDevice> devices;
    private final Later later;
    private final SplittableRandom random;
    /// The number of changes of faults, so that what was planned under earlier ones does not happen.
    private int age;

    FaultSchedule(List<SimDevice> devices, Later later, SplittableRandom random) {
        this.devices = devices;
        this.later = later;
        this.random = random;
    }

    /// Replaces the outages of earlier faults by those of these faults.
    void plan(NetworkFaults faults) {
        age++;
        for (SimDevice device : devices) {
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
        later.after(after, () -> {
            if (planned == age) {
                int victim = random.nextInt(devices.size());
                spell.begin(devices.get(victim), random.nextLong(outages.nanosMax()));
                plan(outages, spell);
            }
        });
    }
}

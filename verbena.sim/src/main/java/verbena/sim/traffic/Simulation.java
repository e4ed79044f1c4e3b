package verbena.sim.traffic;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import verbena.nic.link.Link;
import verbena.sim.Faults;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.wire.Frame;

/// One world from one seed, from the first packet to the last check: the seed draws devices, connections and requests;
/// while requests are posted the profile's faults strike; then the network heals, and everything that is outstanding
/// has to finish within [#DRAIN_NANOS].
public final class Simulation {
    /// So long, in virtual time, may it take to finish what is outstanding when the network has healed.
    public static final long DRAIN_NANOS = 5_000_000_000L;

    /// Faults strike for so long at most: a bad network takes much virtual time, and little of ours.
    private static final long FAULTY_NANOS = 600_000_000_000L;

    private static final int TRAFFICS_MAX = 3;

    private final World world;
    private final Profile profile;
    private final long operations;
    private final String repeat;
    private final List<Traffic> traffics = new ArrayList<>();

    /// @param operations requests that are posted in all
    public Simulation(long seed, Profile profile, long operations) {
        this(seed, profile, operations, link -> link);
    }

    /// With something around each device's link.
    Simulation(long seed, Profile profile, long operations, UnaryOperator<Link> wrap) {
        world = new World(seed);
        this.profile = profile.in(world.random());
        this.operations = operations;
        repeat = "./verbena sim --seed " + seed + " --profile " + profile.name() + " --operations " + operations;
        int devices = 2 + world.random().nextInt(2);
        for (int i = 0; i < devices; i++) {
            world.addDevice(Frame.PACKET_MAX, wrap);
        }
    }

    /// Runs it to the end.
    ///
    /// @param captures folder for the capture of a failure
    /// @throws SimulationFailure when something is wrong
    public Account run(Path captures) {
        try {
            world.faults(profile.faults());
            connect();
            boolean isLive = drive(FAULTY_NANOS, () -> traffics.stream().allMatch(traffic -> traffic.toPost() == 0));
            check(isLive || world.nowNanos() >= FAULTY_NANOS, "nothing happens any more");
            world.faults(Faults.NONE);
            traffics.forEach(Traffic::stop);
            long healed = world.nowNanos();
            check(
                    drive(DRAIN_NANOS, () -> traffics.stream().allMatch(Traffic::isDone)),
                    "not drained 5 s after the network has healed");
            traffics.forEach(Traffic::checkMemory);
            return Account.of(world, profile, traffics, world.nowNanos() - healed);
        } catch (RuntimeException | AssertionError e) {
            throw SimulationFailure.of(world, e, repeat, captures);
        }
    }

    private void connect() {
        List<SimDevice> devices = world.devices();
        int n = 1 + world.random().nextInt(TRAFFICS_MAX);
        boolean mayBreak = !profile.faults().equals(Faults.NONE);
        for (int i = 0; i < n; i++) {
            int one = world.random().nextInt(devices.size());
            int other = (one + 1 + world.random().nextInt(devices.size() - 1)) % devices.size();
            traffics.add(new RcTraffic(
                    world, devices.get(one), devices.get(other), profile.hazards(), operations / n, mayBreak));
        }
    }

    private interface Condition {
        boolean holds();
    }

    private boolean drive(long nanos, Condition done) {
        return world.runUntil(
                () -> {
                    traffics.forEach(Traffic::turn);
                    return done.holds();
                },
                nanos);
    }

    private void check(boolean holds, String what) {
        if (!holds) {
            throw new Broken(what + ": " + traffics);
        }
    }
}

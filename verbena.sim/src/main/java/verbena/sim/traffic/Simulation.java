package verbena.sim.traffic;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import verbena.nic.link.Link;
import verbena.sim.Faults;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.verbs.QpType;
import verbena.wire.Frame;

/// One world from one seed, from the first packet to the last check: the seed draws devices, connections and requests;
/// while requests are posted the profile's faults strike; then the network heals, and everything that is outstanding
/// has to finish within [#DRAIN_NANOS].
public final class Simulation {
    /// So long, in virtual time, may it take to finish what is outstanding when the network has healed.
    public static final long DRAIN_NANOS = 5_000_000_000L;

    /// Faults strike for so long at most: a bad network takes much virtual time, and little of ours.
    private static final long FAULTY_NANOS = 600_000_000_000L;

    private static final int TRAFFICS_MORE = 3;

    private final World world;
    private final Profile profile;
    private final long operations;
    private final String repeat;
    private final List<Traffic> traffics = new ArrayList<>();

    /// Which kinds of queue pairs there are.
    private enum Service {
        RELIABLE,
        CONNECTED,
        DATAGRAM
    }

    /// As `./verbena sim` does.
    ///
    /// @param operations requests that are posted in all
    public Simulation(long seed, Profile profile, long operations) {
        this(
                seed,
                profile,
                operations,
                "./verbena sim --seed " + seed + " --profile " + profile.name() + " --operations " + operations,
                link -> link);
    }

    /// @param repeat the command that does the same again
    /// @param wrap puts something around each device's link
    public Simulation(long seed, Profile profile, long operations, String repeat, UnaryOperator<Link> wrap) {
        world = new World(seed);
        this.profile = profile.in(world.random());
        this.operations = operations;
        this.repeat = repeat;
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
            traffics.forEach(Traffic::checkEnd);
            return Account.of(world, profile, traffics, world.nowNanos() - healed);
        } catch (RuntimeException | AssertionError e) {
            throw SimulationFailure.of(world, e, repeat, captures);
        }
    }

    /// One of each kind in any case, because each finds bugs of its own; some more by chance.
    private void connect() {
        int n = Service.values().length + world.random().nextInt(TRAFFICS_MORE);
        for (int i = 0; i < n; i++) {
            traffics.add(traffic(Service.values()[i % Service.values().length], operations / n));
        }
    }

    private Traffic traffic(Service service, long share) {
        List<SimDevice> devices = new ArrayList<>(world.devices());
        SimDevice one = devices.remove(world.random().nextInt(devices.size()));
        SimDevice other = devices.get(world.random().nextInt(devices.size()));
        boolean mayBreak = !profile.faults().equals(Faults.NONE);
        return switch (service) {
            case RELIABLE -> new RcTraffic(world, one, other, profile.hazards(), share, mayBreak);
            case CONNECTED -> new UnreliableTraffic(world, List.of(one, other), QpType.UC, profile.hazards(), share);
            case DATAGRAM -> new UnreliableTraffic(world, world.devices(), QpType.UD, profile.hazards(), share);
        };
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

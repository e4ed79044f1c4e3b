package verbena.sim.traffic;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import verbena.nic.link.Link;
import verbena.sim.NetworkFaults;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.transport.Counter;
import verbena.transport.Protocol;
import verbena.transport.congestion.CongestionRule;
import verbena.verbs.AsyncEvent;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.verbs.QpType;
import verbena.wire.Frame;

/// One world from one seed, from the first packet to the last check. The seed draws devices, connections and
/// requests. While requests are posted the profile's faults strike. Then the network heals, and everything that is
/// outstanding has to finish within [#DRAIN_NANOS].
public final class Simulation {
    /// The virtual time that outstanding requests may take to finish when the network has healed.
    public static final long DRAIN_NANOS = 5_000_000_000L;

    /// Faults strike for so long at most: a bad network takes much virtual time, and little of ours.
    private static final long FAULTY_NANOS = 600_000_000_000L;

    private static final int TRAFFICS_MORE = 3;
    /// Connections that are to fill the window to a peer.
    private static final int CROWD_MIN = 5;
    private static final int CROWD_MORE = 8;
    /// More connections where receive queues are shared.
    private static final int SHARERS = 3;
    private static final int SHARED_INBOXES = 2;
    /// And where every other one is an extended one.
    private static final int EXTENDED_SHARERS = 6;
    /// A device has fewer than this and two engines.
    private static final int ENGINES_MORE = 2;
    /// The window is looked at after so many steps, until it was full so often.
    private static final int LOOK_EVERY = 8;
    private static final int LOOKS_ENOUGH = 100;

    private final World world;
    private final Profile profile;
    private final long operations;
    private final String repeat;
    private final List<Traffic> traffics = new ArrayList<>();
    private final Tally tally = new Tally();
    private final Rules rules;
    private final List<Inbox> inboxes = new ArrayList<>();
    private int reliable;
    /// The MTU of all reliable connections, in a world with shared receive queues.
    private Optional<Mtu> commonMtu = Optional.empty();
    private long steps;

    /// The kinds of queue pairs.
    private enum Service {
        RELIABLE,
        CONNECTED,
        DATAGRAM
    }

    /// Makes a world as `./verbena sim` does.
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
        var later = new SplittableRandom(~seed);
        this.profile = profile.in(world.random(), later);
        this.operations = operations;
        this.repeat = repeat;
        rules = new Rules(
                this.profile.hazards(),
                this.profile.features(),
                tally,
                !this.profile.faults().equals(NetworkFaults.NONE));
        int devices = 2 + world.random().nextInt(2);
        UnaryOperator<Link> watched =
                rules.have(Feature.READ_PIECES) ? link -> new PieceWatch(wrap.apply(link), tally) : wrap;
        for (int i = 0; i < devices; i++) {
            int engines = rules.have(Feature.ENGINES) ? 2 + world.random().nextInt(ENGINES_MORE) : 1;
            CongestionRule rule = rules.have(Feature.MARKS) ? congestion(i, later) : CongestionRule.NONE;
            world.addDevice(
                    Frame.PACKET_MAX,
                    watched,
                    new SimDevice.Options(engines, rule, rules.have(Feature.SELECTIVE_REPEAT)));
        }
    }

    /// Returns the congestion rule of device `i`. Each device declares that its packets may be marked, and the
    /// first heeds marks.
    private static CongestionRule congestion(int i, SplittableRandom random) {
        boolean heedsMarks = i == 0 || random.nextBoolean();
        String rule = heedsMarks
                ? "dcqcn,rpg_min_rate:" + (random.nextBoolean() ? 10 : 1_000)
                : "swift,target:" + (random.nextBoolean() ? 20 : 500);
        return CongestionRule.parse(rule).withMarks(true);
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
            check(isLive || world.nextNanos() != Protocol.NEVER, "nothing happens any more");
            world.faults(NetworkFaults.NONE);
            traffics.forEach(Traffic::stop);
            long healed = world.nowNanos();
            check(
                    drive(DRAIN_NANOS, () -> traffics.stream().allMatch(Traffic::isDone)),
                    "not drained 5 s after the network has healed");
            traffics.forEach(Traffic::checkEnd);
            long drained = world.nowNanos() - healed;
            count();
            Account account = Account.of(world, profile, traffics, drained, tally.all());
            close();
            return account;
        } catch (RuntimeException | AssertionError e) {
            throw SimulationFailure.of(world, e, repeat, captures);
        }
    }

    /// Connects one of each kind in any case, because each finds bugs of its own. Chance adds more, and more that
    /// are reliable where they are to share something.
    private void connect() {
        int n = Service.values().length + world.random().nextInt(TRAFFICS_MORE);
        int more = rules.have(Feature.SHARED_WINDOW)
                ? CROWD_MIN + world.random().nextInt(CROWD_MORE)
                : rules.have(Feature.XRC) ? EXTENDED_SHARERS : rules.have(Feature.SRQ) ? SHARERS : 0;
        for (int i = 0; i < n + more; i++) {
            Service service = i < n ? Service.values()[i % Service.values().length] : Service.RELIABLE;
            traffics.add(traffic(service, operations / (n + more)));
        }
    }

    private Traffic traffic(Service service, long share) {
        List<SimDevice> devices = new ArrayList<>(world.devices());
        SimDevice one = devices.remove(world.random().nextInt(devices.size()));
        SimDevice other = devices.get(world.random().nextInt(devices.size()));
        return switch (service) {
            case RELIABLE -> {
                if (rules.have(Feature.SHARED_WINDOW)) {
                    one = world.devices().getFirst();
                    other = world.devices().getLast();
                }
                Mtu mtu = mtu();
                Inbox.Kind kind = rules.have(Feature.XRC) && reliable++ % 2 == 1
                        ? Inbox.Kind.EXTENDED
                        : rules.have(Feature.SRQ) ? Inbox.Kind.SHARED : Inbox.Kind.OWN;
                yield new RcTraffic(world, inbox(one, mtu, kind), inbox(other, mtu, kind), mtu, rules, share);
            }
            case CONNECTED -> new UnreliableTraffic(world, List.of(one, other), QpType.UC, profile.hazards(), share);
            case DATAGRAM -> new UnreliableTraffic(world, world.devices(), QpType.UD, profile.hazards(), share);
        };
    }

    private Mtu mtu() {
        if (commonMtu.isPresent()) {
            return commonMtu.get();
        }
        int smallest = Math.min(world.random().nextInt(5), world.random().nextInt(5)); // small ones more often
        // The data of a READ of several pieces is at most half a tape.
        Mtu mtu = Mtu.values()[rules.have(Feature.READ_PIECES) ? Math.min(smallest, 1) : smallest];
        if (rules.have(Feature.SRQ) || rules.have(Feature.XRC)) {
            commonMtu = Optional.of(mtu);
        }
        return mtu;
    }

    /// Returns the inbox of another end of this device. There are two shared inboxes, because all that share one
    /// live on one engine.
    private Inbox inbox(SimDevice device, Mtu mtu, Inbox.Kind kind) {
        List<Inbox> alike = inboxes.stream()
                .filter(inbox -> inbox.device == device && inbox.kind == kind)
                .toList();
        if (kind != Inbox.Kind.OWN && alike.size() == SHARED_INBOXES) {
            return alike.get(world.random().nextInt(SHARED_INBOXES));
        }
        var inbox = new Inbox(world, device, mtu.bytes(), kind);
        inboxes.add(inbox);
        return inbox;
    }

    /// Counts the features that devices and links know of.
    private void count() {
        for (SimDevice device : world.devices()) {
            Map<String, Long> counters = device.context().counters();
            tally.add(Feature.KEEP_ALIVE, counters.getOrDefault(Counter.KEEP_ALIVES.label(), 0L));
            tally.add(Feature.RNR, counters.getOrDefault(Counter.RECEIVED_NAK_RNR.label(), 0L));
            tally.add(Feature.RETRIES, counters.getOrDefault(Counter.RETRANSMITTED_PACKETS.label(), 0L));
            tally.add(Feature.SELECTIVE_REPEAT, counters.getOrDefault(Counter.EARLY_ANSWERS.label(), 0L));
            tally.add(Feature.SELECTIVE_REPEAT, counters.getOrDefault(Counter.EARLY_REQUESTS.label(), 0L));
            tally.add(Feature.MARKS, counters.getOrDefault(Counter.HANDLED_NOTIFICATIONS.label(), 0L));
            tally.add(Feature.PROBES, counters.getOrDefault(Counter.PROBES.label(), 0L));
            if (rules.have(Feature.ENGINES) && device.enginesUsed() > 1) {
                tally.count(Feature.ENGINES);
            }
        }
    }

    /// Closes all objects: an object in use refuses to end.
    private void close() {
        traffics.forEach(Traffic::close);
        inboxes.forEach(Inbox::close);
        world.devices().forEach(device -> device.context().close());
    }

    /// Counts when the window from one device to another has no room now.
    private void lookAtWindow() {
        if (tally.of(Feature.SHARED_WINDOW) > LOOKS_ENOUGH || ++steps % LOOK_EVERY != 0) {
            return;
        }
        SimDevice from = world.devices().getFirst();
        for (GidEntry peer : world.devices().getLast().context().gids(1)) {
            if (from.context().roomTo(peer.gid()) <= 0) {
                tally.count(Feature.SHARED_WINDOW);
            }
        }
    }

    private void tellEvents() {
        for (SimDevice device : world.devices()) {
            Optional<AsyncEvent> event = device.context().pollAsyncEvent();
            while (event.isPresent()) {
                AsyncEvent told = event.get();
                traffics.forEach(traffic -> traffic.onEvent(told));
                event = device.context().pollAsyncEvent();
            }
        }
    }

    private interface Condition {
        boolean holds();
    }

    private boolean drive(long nanos, Condition done) {
        return world.runUntil(
                () -> {
                    if (rules.have(Feature.SHARED_WINDOW)) {
                        lookAtWindow();
                    }
                    traffics.forEach(Traffic::turn);
                    if (rules.have(Feature.SQD)) {
                        tellEvents();
                    }
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

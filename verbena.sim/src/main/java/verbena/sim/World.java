package verbena.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import verbena.nic.link.Link;
import verbena.nic.roce.LinkDevice;
import verbena.transport.Protocol;
import verbena.transport.congestion.CongestionRule;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Gid;
import verbena.verbs.Preview;
import verbena.verbs.QueuePair;
import verbena.wire.Frame;
import verbena.wire.ib.Psn;

/// A world in virtual time, made from one seed: real devices on a simulated [Network], scheduled actions ([#after]),
/// and random numbers ([#random()]). The same seed and the same program give the same world to the last bit, which
/// its [Trace] proves.
///
/// ```
/// var world = new World(seed);
/// SimDevice a = world.addDevice();          // program it through a.context(), with the verbs API
/// SimDevice b = world.addDevice();
/// world.connect(qpOfA, qpOfB, EndpointOptions.defaults());
/// world.faults(NetworkFaults.of(0.05, 0, 0));
/// while (world.step()) { ... poll, check, post ... }
/// ```
///
/// Time stands still while a program posts and polls, and passes in [#step()] only. One thread uses a world and all
/// that belongs to it. It holds no thread and no socket, and is not closed.
///
/// @since 0.1
@Preview
public final class World {
    private static final int NEAR_WRAP = 64;

    private record Action(long nanos, long number, Runnable run) {}

    private final long seed;
    private final SplittableRandom root;
    private final SplittableRandom random;
    private final Trace trace = new Trace();
    private final Network network;
    private final FaultSchedule schedule;
    private final List<SimDevice> devices = new ArrayList<>();
    private final PriorityQueue<Action> actions = new PriorityQueue<>(
            (x, y) -> x.nanos != y.nanos ? Long.compare(x.nanos, y.nanos) : Long.compare(x.number, y.number));
    private long actionNumber;
    private long now;
    private int stepsAtOnce;

    /// Returns a world without devices and faults.
    public World(long seed) {
        this.seed = seed;
        root = new SplittableRandom(seed);
        random = root.split();
        schedule = new FaultSchedule(devices, this::after, root.split());
        network = new Network(() -> now, root.split(), trace);
    }

    // ---- what it is made of

    /// Returns the seed of this world.
    public long seed() {
        return seed;
    }

    /// Returns the virtual time since the world began.
    public long nowNanos() {
        return now;
    }

    /// Returns the random numbers of programs; devices and network have their own.
    public SplittableRandom random() {
        return random;
    }

    /// Returns the network between the devices.
    public Network network() {
        return network;
    }

    /// Returns the record of this world's events.
    public Trace trace() {
        return trace;
    }

    /// Returns the devices in the order in which they were added.
    public List<SimDevice> devices() {
        return List.copyOf(devices);
    }

    /// Adds a device with one IPv4 and one IPv6 address, and room for every path MTU.
    public SimDevice addDevice() {
        return addDevice(Frame.PACKET_MAX, link -> link);
    }

    /// Adds a device whose link is wrapped, and has room for packets of `packetMax` bytes.
    public SimDevice addDevice(int packetMax, UnaryOperator<Link> wrap) {
        return addDevice(packetMax, wrap, SimDevice.Options.DEFAULT);
    }

    /// Adds a device as the other methods do, with options.
    public SimDevice addDevice(int packetMax, UnaryOperator<Link> wrap, SimDevice.Options options) {
        return addDevice(packetMax, wrap, options, Network.addresses(devices.size()));
    }

    /// Adds a device as the other methods do, with addresses that no other device has.
    public SimDevice addDevice(
            int packetMax, UnaryOperator<Link> wrap, SimDevice.Options options, List<Gid> addresses) {
        int engines = options.engines();
        String name = String.valueOf((char) ('a' + devices.size()));
        List<SimLink> links = IntStream.range(0, engines)
                .mapToObj(i ->
                        network.attach(name, devices.size(), addresses, packetMax, engines == 1 ? Link.NO_SLOT : i))
                .toList();
        List<Link> wrapped = links.stream().<Link>map(wrap).toList();
        CongestionRule onLink = options.congestion().onLink(Network.BITS_PER_SECOND);
        var context = LinkDevice.open(
                "sim-" + name,
                wrapped,
                () -> now,
                root.split(),
                onLink,
                options.repeatsSelectively(),
                options.weakness());
        var device = new SimDevice(network, trace, this::nowNanos, links, context);
        devices.add(device);
        return device;
    }

    /// Connects two queue pairs of type RC or UC that are in RESET, over IPv4 or IPv6, with first PSNs half of
    /// which are within 64 of the wrap.
    public void connect(QueuePair one, QueuePair other, EndpointOptions options) {
        boolean ipv6 = random.nextBoolean();
        Connecting.connect(one, firstPsn(), other, firstPsn(), ipv6, options);
    }

    /// Connects two queue pairs that have the same first PSN.
    public void connect(QueuePair one, QueuePair other, int firstPsn, EndpointOptions options) {
        Connecting.connect(one, firstPsn, other, firstPsn, random.nextBoolean(), options);
    }

    /// Returns a random first PSN. In half of the cases the PSN soon wraps.
    public int firstPsn() {
        return random.nextBoolean() ? -random.nextInt(NEAR_WRAP) & Psn.MASK : random.nextInt() & Psn.MASK;
    }

    // ---- what happens

    /// Runs `action` once, when that time has passed.
    public void after(long nanos, Runnable action) {
        actions.add(new Action(now + nanos, actionNumber++, action));
    }

    /// Adds a step after that time, even if nothing else happens then.
    public void stepAfter(long nanos) {
        after(nanos, () -> {});
    }

    /// Sets the faults from now on; [NetworkFaults#NONE] heals the world.
    public void faults(NetworkFaults faults) {
        network.faults(faults);
        schedule.plan(faults);
    }

    // ---- time

    /// Returns the time of the next event; [Protocol#NEVER] when nothing will happen.
    public long nextNanos() {
        long next = network.nextNanos();
        if (!actions.isEmpty()) {
            next = Math.min(next, actions.peek().nanos);
        }
        for (int i = 0; i < devices.size(); i++) {
            next = Math.min(next, devices.get(i).dueNanos());
        }
        return next;
    }

    /// Advances to the next event, runs it, and drives every device until it has nothing to do at that time.
    ///
    /// @return false when no event will ever come
    /// @throws IllegalStateException when a device has met an internal error, or time no longer passes
    public boolean step() {
        long next = nextNanos();
        if (next == Protocol.NEVER) {
            return false;
        }
        stepsAtOnce = next > now ? 0 : stepsAtOnce + 1;
        if (stepsAtOnce > SimDevice.PIECES_MAX) {
            throw new IllegalStateException("time stands still at " + now + " ns");
        }
        now = Math.max(now, next);
        while (!actions.isEmpty() && actions.peek().nanos <= now) {
            actions.remove().run.run();
        }
        network.deliver(now);
        for (int i = 0; i < devices.size(); i++) {
            devices.get(i).drive(now);
        }
        return true;
    }

    /// Steps until `done` is true, no event will come, or `nanos` have passed.
    ///
    /// @return the value of `done`
    public boolean runUntil(BooleanSupplier done, long nanos) {
        long end = now + nanos;
        while (!done.getAsBoolean()) {
            if (nextNanos() > end || !step()) {
                return false;
            }
        }
        return true;
    }
}

package verbena.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import verbena.nic.SoftContext;
import verbena.nic.link.Link;
import verbena.transport.Protocol;
import verbena.verbs.AddressVector;
import verbena.verbs.ConnectOptions;
import verbena.verbs.Context;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.Transition;
import verbena.wire.Frame;

/// A world in virtual time, made from one seed: real devices on a simulated [Network], things that are to happen
/// ([#after]), and chance ([#random()]). The same seed, and the same program, give the same world to the last bit; its
/// [Trace] tells.
///
/// ```
/// var world = new World(seed);
/// SimDevice a = world.addDevice();          // program it through a.context(), with the verbs API
/// SimDevice b = world.addDevice();
/// world.connect(qpOfA, qpOfB, ConnectOptions.defaults());
/// world.faults(Faults.of(0.05, 0, 0));
/// while (world.step()) { ... poll, check, post ... }
/// ```
///
/// Time stands still while a program posts and polls, and goes on in [#step()] only.
public final class World {
    /// Pieces of work that a device may find to do at one moment, and steps that may follow one another at one moment.
    static final int PIECES_MAX = 1_000_000;

    private static final int PSN_MASK = 0xFF_FFFF;
    private static final int NEAR_WRAP = 64;
    private static final double NANOS_PER_SECOND = 1e9;

    private record Action(long nanos, long number, Runnable run) {}

    private final long seed;
    private final SplittableRandom root;
    private final SplittableRandom random;
    private final SplittableRandom chaos;
    private final Trace trace = new Trace();
    private final Network network;
    private final List<SimDevice> devices = new ArrayList<>();
    private final PriorityQueue<Action> actions = new PriorityQueue<>(
            (x, y) -> x.nanos != y.nanos ? Long.compare(x.nanos, y.nanos) : Long.compare(x.number, y.number));
    private long actionNumber;
    private long now;
    private int stepsAtOnce;
    /// Counts the changes of faults, so that what was planned under earlier ones does not happen.
    private int faultsAge;

    /// A world without devices and faults.
    public World(long seed) {
        this.seed = seed;
        root = new SplittableRandom(seed);
        random = root.split();
        chaos = root.split();
        network = new Network(() -> now, root.split(), trace);
    }

    // ---- what it is made of

    /// What it was made from.
    public long seed() {
        return seed;
    }

    /// Virtual time since the world began.
    public long nowNanos() {
        return now;
    }

    /// Chance for programs; devices and network have their own.
    public SplittableRandom random() {
        return random;
    }

    public Network network() {
        return network;
    }

    public Trace trace() {
        return trace;
    }

    /// In the order in which they were added.
    public List<SimDevice> devices() {
        return List.copyOf(devices);
    }

    /// A device with one IPv4 and one IPv6 address, and room for every path MTU.
    public SimDevice addDevice() {
        return addDevice(Frame.PACKET_MAX, link -> link);
    }

    /// A device whose link is wrapped, and has room for packets of `packetMax` bytes.
    public SimDevice addDevice(int packetMax, UnaryOperator<Link> wrap) {
        String name = String.valueOf((char) ('a' + devices.size()));
        SimLink link = network.attach(name, packetMax);
        var device = new SimDevice(
                this, link, SoftContext.open("sim-" + name, wrap.apply(link), () -> now, root.split(), false));
        devices.add(device);
        return device;
    }

    /// Connects two queue pairs of type RC or UC that are in RESET, over IPv4 or IPv6, with first PSNs half of which
    /// are within 64 of the wrap.
    public void connect(QueuePair one, QueuePair other, ConnectOptions options) {
        boolean ipv6 = random.nextBoolean();
        int psnOfOne = firstPsn();
        int psnOfOther = firstPsn();
        connect(one, other, options, ipv6, psnOfOne, psnOfOther);
        connect(other, one, options, ipv6, psnOfOther, psnOfOne);
    }

    /// Half of them so that the PSN soon wraps.
    public int firstPsn() {
        return random.nextBoolean() ? -random.nextInt(NEAR_WRAP) & PSN_MASK : random.nextInt() & PSN_MASK;
    }

    private static void connect(
            QueuePair own, QueuePair peer, ConnectOptions options, boolean ipv6, int ownPsn, int peerPsn) {
        GidEntry from = gid(own, ipv6);
        AddressVector path = AddressVector.to(gid(peer, ipv6).gid(), from.index());
        Mtu mtu = options.mtu().orElse(context(own).port(1).activeMtu());
        own.modify(new Transition.ToInit(options.access()));
        if (own.type() == QpType.UC) {
            own.modify(new Transition.ToRtrUc(path, mtu, peer.qpn(), peerPsn));
            own.modify(new Transition.ToRtsUnreliable(ownPsn));
        } else {
            own.modify(new Transition.ToRtr(
                    path, mtu, peer.qpn(), peerPsn, options.maxReadAtomic(), options.minRnrTimer()));
            own.modify(new Transition.ToRts(
                    ownPsn, options.ackTimeout(), options.retryCount(), options.rnrRetry(), options.maxReadAtomic()));
        }
    }

    private static GidEntry gid(QueuePair qp, boolean ipv6) {
        return context(qp).gid(1, ipv6 ? 1 : 0);
    }

    private static Context context(QueuePair qp) {
        return qp.protectionDomain().context();
    }

    // ---- what happens

    /// Lets `action` happen in that time, once.
    public void after(long nanos, Runnable action) {
        actions.add(new Action(now + nanos, actionNumber++, action));
    }

    /// From now on these faults strike; [Faults#NONE] heals the world.
    public void faults(Faults faults) {
        faultsAge++;
        network.faults(faults);
        spells(faults.blackHoles(), (device, nanos) -> {
            device.note("sends into a black hole for " + nanos + " ns");
            network.blackHole(device.link(), nanos);
        });
        spells(faults.pauses(), (device, nanos) -> {
            device.note("pauses for " + nanos + " ns");
            device.pause(nanos);
        });
        if (faults.equals(Faults.NONE)) {
            for (SimDevice device : devices) {
                network.blackHole(device.link(), 0);
                device.pause(0);
            }
        }
    }

    private interface Spell {
        void begin(SimDevice device, long nanos);
    }

    private void spells(Faults.Spells spells, Spell spell) {
        if (spells.perSecond() == 0) {
            return;
        }
        int age = faultsAge;
        long pause = (long) (-StrictMath.log(1 - chaos.nextDouble()) / spells.perSecond() * NANOS_PER_SECOND);
        after(pause, () -> {
            if (age == faultsAge) {
                spell.begin(devices.get(chaos.nextInt(devices.size())), chaos.nextLong(spells.nanosMax()));
                spells(spells, spell);
            }
        });
    }

    // ---- time

    /// When something happens next; [Protocol#NEVER] when nothing will.
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

    /// Goes to the next moment at which something happens, lets it happen, and drives every device until it has
    /// nothing to do then; false when nothing will ever happen.
    public boolean step() {
        long next = nextNanos();
        if (next == Protocol.NEVER) {
            return false;
        }
        stepsAtOnce = next > now ? 0 : stepsAtOnce + 1;
        if (stepsAtOnce > PIECES_MAX) {
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

    /// Steps until `done`, or until nothing happens any more, or `nanos` have passed; whether it is done.
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

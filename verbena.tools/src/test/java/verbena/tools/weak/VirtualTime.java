package verbena.tools.weak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Faults;
import verbena.nic.link.FaultyLink;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Link;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.transport.weak.Weakness;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.TransportType;
import verbena.wire.Frame;

/// Devices in a [World], for programs that know nothing of it. Their virtual threads run one after the other
/// ([OneByOne]). When none can run, the world takes a step, which wakes those that wait for a device or have polled
/// in vain. So time passes only while all wait, however busy the machine is, and a seed gives the same run. Only those
/// threads use it.
final class VirtualTime {
    /// The UDP port of RoCE v2. A program that connects looks whether an address has a device.
    private static final int PORT = 4791;
    /// The time in which no thread of a program can see a change and act.
    private static final long REACTION_NANOS = 1_000;

    /// The longest time between a poll in vain and the thread's next step.
    private static final long POLL_NANOS = 100_000;

    private static final Pattern NAME = Pattern.compile("rocev2(@(?<address>[^,]+))?(,faults=(?<faults>.+))?");

    private final World world;
    private final Weakness weakness;
    /// The threads that wait for the next step.
    private final Queue<Thread> waiting = new ArrayDeque<>();
    /// Whether one of them has polled in vain, and may have something else to do.
    private boolean hasPolled;

    private int addresses;
    private @Nullable RuntimeException failure;

    VirtualTime(Weakness weakness) {
        this.world = new World(weakness.seed());
        this.weakness = weakness;
    }

    long nowNanos() {
        return world.nowNanos();
    }

    /// Lets happen what comes next, and what comes soon after that.
    ///
    /// @param limit the time at which a thread goes on anyway
    /// @return false when nothing comes
    boolean step(long limit) {
        boolean isMoved = false;
        try {
            long now = world.nowNanos();
            long until = hasPolled ? Math.min(limit, now + POLL_NANOS) : limit;
            if (until < world.nextNanos()) {
                world.stepAfter(Math.max(0, until - now));
            }
            long end = failure == null ? world.nextNanos() : Long.MIN_VALUE;
            while (world.nextNanos() <= end && world.step()) {
                end = isMoved ? end : Math.min(world.nowNanos() + REACTION_NANOS, limit);
                isMoved = true;
            }
        } catch (RuntimeException e) {
            failure = e;
        }
        hasPolled = false;
        for (int left = waiting.size(); left > 0; left--) {
            LockSupport.unpark(waiting.remove());
        }
        return isMoved;
    }

    /// Waits for the next step, or for so much time.
    private void pass(long nanos) {
        long now = world.nowNanos();
        if (nanos >= 0 && nanos < Long.MAX_VALUE - now && world.nextNanos() > now + nanos) {
            world.stepAfter(nanos);
        }
        pass();
    }

    /// Waits for the next step, or for a short time, because a thread has polled in vain.
    void passPolled() {
        hasPolled = true;
        pass();
    }

    private void pass() {
        waiting.add(Thread.currentThread());
        LockSupport.park(this);
        if (failure != null) {
            throw new IllegalStateException("the world has ended", failure);
        }
    }

    /// Returns the device of a name, `rocev2`, `rocev2@ADDRESS` or `rocev2,faults=FAULTS`.
    Device device(String name, Device instead) {
        return new OfWorld(name, instead);
    }

    private Context open(InetAddress address, Faults faults, Runnable onClose) {
        return world.addDevice(
                        Frame.PACKET_MAX,
                        link -> faulty(new Waiting(link, onClose), faults),
                        SimDevice.Options.DEFAULT.with(weakness),
                        List.of(Gid.of(address)))
                .context();
    }

    private Link faulty(Link link, Faults faults) {
        return faults.equals(Faults.NONE) ? link : new FaultyLink(link, faults, world::nowNanos);
    }

    private final class Waiting extends ForwardingLink {
        private final Runnable onClose;

        Waiting(Link link, Runnable onClose) {
            super(link);
            this.onClose = onClose;
        }

        @Override
        public void await(long timeoutNanos) {
            pass(timeoutNanos);
        }

        @Override
        public void close() {
            super.close();
            onClose.run();
        }
    }

    private final class OfWorld implements Device {
        private final String name;
        private final Device instead;

        OfWorld(String name, Device instead) {
            this.name = name;
            this.instead = instead;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public TransportType transportType() {
            return TransportType.INFINIBAND;
        }

        @Override
        public long nodeGuid() {
            return instead.nodeGuid();
        }

        @Override
        public List<GidEntry> gids() {
            return instead.gids();
        }

        @Override
        public Context open() {
            Matcher parts = NAME.matcher(name);
            if (!parts.matches()) {
                throw new DeviceException("open " + name + ": there is no such device in virtual time");
            }
            String its = parts.group("address");
            Faults faults = parts.group("faults") == null ? Faults.NONE : Faults.parse(parts.group("faults"));
            try {
                if (its != null) {
                    return VirtualTime.this.open(InetAddress.ofLiteral(its), faults, () -> {});
                }
                while (true) {
                    int number = ++addresses;
                    var address = InetAddress.ofLiteral("127.77." + number / 250 + "." + (1 + number % 250));
                    DatagramChannel claim = DatagramChannel.open();
                    try {
                        claim.bind(new InetSocketAddress(address, PORT));
                        return VirtualTime.this.open(address, faults, () -> close(claim));
                    } catch (BindException e) {
                        claim.close(); // another process has it
                    }
                }
            } catch (IOException e) {
                throw new DeviceException("open " + name + ": " + e.getMessage(), e);
            }
        }

        private static void close(DatagramChannel claim) {
            try {
                claim.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}

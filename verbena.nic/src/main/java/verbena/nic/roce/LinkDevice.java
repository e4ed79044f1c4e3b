package verbena.nic.roce;

import java.util.List;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.nic.SoftContext;
import verbena.nic.device.DeviceContext;
import verbena.nic.kind.NodeGuid;
import verbena.nic.link.Link;
import verbena.transport.congestion.CongestionRule;
import verbena.transport.weak.Weakness;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.verbs.TransportType;

/// A device that is nothing but a link that the caller has brought.
public record LinkDevice(String name, Link link) implements Device {
    /// The bytes of headers and ICRC around the payload of a WRITE with immediate: no other full payload has more.
    private static final int AROUND_PAYLOAD_BYTES = 12 + 16 + 4 + 4;

    /// Returns the largest path MTU that the link has room for.
    static Mtu largestMtu(Link link) {
        Mtu largest = Mtu.MTU_256;
        for (Mtu mtu : Mtu.values()) {
            if (mtu.bytes() + AROUND_PAYLOAD_BYTES <= link.packetMax()) {
                largest = mtu;
            }
        }
        return largest;
    }

    @Override
    public TransportType transportType() {
        return TransportType.INFINIBAND;
    }

    @Override
    public long nodeGuid() {
        return NodeGuid.of(name);
    }

    @Override
    public List<GidEntry> gids() {
        return link.gids();
    }

    @Override
    public Context open() {
        throw new DeviceException("open " + name + ": its link serves one context, which is open already");
    }

    /// Opens a device that is nothing but `link`: how a simulator, a test, or a program with a wire of its own
    /// gets one. The largest path MTU is what the link's packets have room for.
    ///
    /// @param name how messages and the thread call it
    /// @param link closed with the context
    /// @param clock nanoseconds, monotonic; `System::nanoTime`, or a simulator's
    /// @param random unpredictable to peers ([SoftContext#secureRandom()]); in a simulation, seeded
    /// @param ownThread whether the engine has a thread; without one, [SoftContext#drive()] has to be called
    public static SoftContext open(
            String name, Link link, LongSupplier clock, RandomGenerator random, boolean ownThread) {
        var context = (DeviceContext) open(name, List.of(link), clock, random, CongestionRule.NONE, false, null);
        if (ownThread) {
            context.start();
        }
        return context;
    }

    /// Opens a device that is nothing but `links`, with an engine for each and no thread: [SoftContext#drive()]
    /// has to be called. How a simulator gets a device with several engines.
    ///
    /// @param name how messages call it
    /// @param links at the same addresses, each with a slot of its own ([Link#slot()]); closed with the context
    /// @param clock nanoseconds, monotonic
    /// @param random unpredictable to peers; in a simulation, seeded
    /// @param congestion what its reliable connections do about congestion
    /// @param repeatsSelectively whether all peers know selective repeat, however they are connected
    /// @param weakness the freedoms that it takes, with one engine; null for none
    public static SoftContext open(
            String name,
            List<? extends Link> links,
            LongSupplier clock,
            RandomGenerator random,
            CongestionRule congestion,
            boolean repeatsSelectively,
            @Nullable Weakness weakness) {
        if (weakness != null && links.size() > 1) {
            throw new IllegalArgumentException("links: a weak device has one, got " + links.size());
        }
        Link first = links.getFirst();
        return DeviceContext.open(
                new LinkDevice(name, first),
                links,
                host -> new RoceKind(host, congestion, repeatsSelectively, weakness),
                largestMtu(first),
                clock,
                random);
    }

    @Override
    public String toString() {
        return name;
    }
}

package verbena.conformance.rig;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.CompletionChannel;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.DeviceException;
import verbena.verbs.GidEntry;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpType;
import verbena.verbs.TransportType;
import verbena.verbs.cm.PortSpace;

/// What one case works with: the device, opened twice where that can be had, and everything that was made on it,
/// which is closed with the rig. Made for each case anew, so cases do not meet. The case's thread makes and closes
/// things; what was made may be used by any thread.
public final class Rig implements AutoCloseable {
    /// How long anything may take that has to happen: generous, because machines are busy, and no test waits for it
    /// in vain but when something is broken.
    public static final Duration PATIENCE = Duration.ofSeconds(15);
    /// How long it may take where it is known not to happen.
    public static final Duration LITTLE_PATIENCE = Duration.ofMillis(300);

    private final Device device;
    private final boolean twice;
    private final Duration patience;
    private final Story story = new Story();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private @Nullable Context a;
    private @Nullable Context b;
    private @Nullable Meeting meeting;
    private int sides;

    /// @param twice whether the two ends open the device each; if not, they share a context
    public Rig(Device device, boolean twice, Duration patience) {
        this.device = device;
        this.twice = twice;
        this.patience = patience;
    }

    /// Whether the device can be opened a second time while it is open.
    public static boolean opensTwice(Device device) {
        try (Context first = device.open()) {
            try (Context second = device.open()) {
                return !second.equals(first);
            } catch (DeviceException e) {
                return false;
            }
        }
    }

    public Duration patience() {
        return patience;
    }

    public Device device() {
        return device;
    }

    public Story story() {
        return story;
    }

    public void tell(String line) {
        story.tell(line);
    }

    /// The context of the first end.
    public Context a() {
        if (a == null) {
            a = own(device.open());
        }
        return a;
    }

    /// The context of the second end; the first's where the device opens only once.
    public Context b() {
        if (b == null) {
            b = twice ? own(device.open()) : a();
        }
        return b;
    }

    public DeviceAttributes attributes() {
        return a().attributes();
    }

    public boolean has(Capability capability) {
        return attributes().has(capability);
    }

    /// Whether a WRITE or SEND completes when the peer has carried it out; over iWARP it does when it was sent.
    public boolean isAcknowledged() {
        return device.transportType() == TransportType.INFINIBAND;
    }

    /// Has something closed with the rig, before what was made earlier.
    public <T extends AutoCloseable> T own(T object) {
        opened.push(object);
        return object;
    }

    /// A domain, a completion queue and memory at the first end, without a queue pair.
    public Side side() {
        return side(a());
    }

    public Side side(Context context) {
        return side(context, Side.MEMORY_BYTES, Side.CQ_ENTRIES, Optional.empty());
    }

    /// One whose completion queue notifies `channel`.
    public Side side(Context context, CompletionChannel channel) {
        return side(context, Side.MEMORY_BYTES, Side.CQ_ENTRIES, Optional.of(channel));
    }

    Side side(Context context, long memoryBytes, int cqEntries, Optional<CompletionChannel> channel) {
        String name = sides == 0 ? "a" : sides == 1 ? "b" : "s" + sides;
        return new Side(this, name, context, memoryBytes, cqEntries, channel, sides++);
    }

    /// How to connect two queue pairs of this type.
    public Wiring wire(QpType type) {
        return new Wiring(this, type);
    }

    /// Where the two ends meet by the connection manager, made when it is first asked for.
    public Meeting meeting() {
        if (meeting == null) {
            meeting = new Meeting(this, PortSpace.TCP);
        }
        return meeting;
    }

    /// Two reliably connected queue pairs, in RTS, with the suite's defaults.
    public Pair rc() throws InterruptedException {
        return wire(QpType.RC).connect();
    }

    /// The GID that connections use: that of an IP address, and of IPv4 before others, because a port's first one
    /// may be link-local.
    static GidEntry gid(Context context) {
        List<GidEntry> all = context.gids(1);
        return all.stream()
                .filter(entry -> entry.gid().isIpv4())
                .findFirst()
                .or(() ->
                        all.stream().filter(entry -> !entry.gid().isLinkLocal()).findFirst())
                .orElse(all.getFirst());
    }

    /// An IP address of a device: its GID, or where GIDs are none an address of its network interface.
    public static InetAddress address(Context context) {
        GidEntry entry = gid(context);
        if (entry.gid().isIpv4()) {
            return entry.gid().address();
        }
        try {
            NetworkInterface at = NetworkInterface.getByName(entry.networkInterface());
            List<InetAddress> its = at == null ? List.of() : Collections.list(at.getInetAddresses());
            if (its.contains(entry.gid().address()) || its.isEmpty()) {
                return entry.gid().address();
            }
            return its.stream()
                    .filter(each -> !each.isLinkLocalAddress())
                    .findFirst()
                    .orElse(its.getFirst());
        } catch (SocketException e) {
            throw new DeviceException("address: the network interface of " + entry + " cannot be asked", e);
        }
    }

    /// Waits for an asynchronous event of these kinds at `at`; others are passed over.
    public AsyncEvent event(Context at, Set<AsyncEvent.Type> types) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            Optional<AsyncEvent> event = at.awaitAsyncEvent(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            if (event.isEmpty()) {
                throw new Mismatch("asynchronous event", types, "none within " + patience);
            }
            tell("event " + event.get().type());
            if (types.contains(event.get().type())) {
                return event.get();
            }
        }
    }

    /// Closes all that is left, the newest first. An object that refuses is told of when all is done.
    @Override
    public void close() {
        RuntimeException first = null;
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (RuntimeException e) {
                first = first == null ? e : first;
            } catch (Exception e) {
                first = first == null ? new InvalidStateException("close: " + e) : first;
            }
        }
        if (first != null) {
            throw first;
        }
    }
}

package verbena.spark.device;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.Secret;

/// A device of this executor. Peers come in and READ what is registered in [#outputs()]; this executor goes out
/// through it with memory of [#buffers()], which no peer can touch. Any thread may use it.
public final class Door implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Door.class);
    private static final Duration LOOK_AROUND = Duration.ofSeconds(10);
    /// A time-out with which a silent peer is given up after about a second, by seven retries.
    private static final AckTimeout ACK_TIMEOUT = AckTimeout.atLeast(Duration.ofMillis(100));

    private static final int READS = 16;
    /// READs of one connection that are posted at once; more than are under way, so that there is always a next
    /// one.
    public static final int DEPTH = 128;

    /// A connection to a peer.
    ///
    /// @param door of this executor
    /// @param entrance of the peer
    public record Way(Door door, Directory.Entrance entrance, Connection connection) {}

    private final Context context;
    private final String kind;
    private final InetAddress address;
    /// Whether peers prove that they know the secret.
    private final boolean isProven;

    private final ProtectionDomain outputs;
    private final ProtectionDomain incoming;
    private final ReadBuffers buffers;
    private final ConnectionListener listener;
    private final Thread porter;
    private volatile boolean closed;

    private Door(Context context, InetAddress address, Secret secret) {
        this.context = context;
        this.kind = kind(context);
        this.address = address;
        this.isProven = !secret.isNone();
        this.outputs = context.allocateProtectionDomain();
        this.incoming = context.allocateProtectionDomain();
        this.buffers = new ReadBuffers(incoming);
        try {
            this.listener = ConnectionListener.bind(new InetSocketAddress(address, 0), options(outputs, secret));
        } catch (VerbsException e) {
            incoming.close();
            outputs.close();
            throw e;
        }
        this.porter = Thread.ofPlatform()
                .daemon()
                .name("verbena-spark-" + context.device().name())
                .unstarted(this::letIn);
        porter.setContextClassLoader(Door.class.getClassLoader());
        porter.start();
    }

    /// Opens the devices that there are. One that cannot be opened is left out, and the log says why.
    ///
    /// @param host address of this executor, as Spark has it
    public static List<Door> open(Settings settings, InetAddress host, Secret secret) {
        var doors = new ArrayList<Door>();
        for (String name : settings.devices()) {
            Context context = null;
            try {
                context = device(name, host).open();
                doors.add(new Door(context, host, checked(settings, context, secret)));
            } catch (VerbsException | IllegalArgumentException e) {
                LOG.warn("{} is not used, so blocks do not go by it: {}", name, e.getMessage());
                if (context != null) {
                    context.close();
                }
            }
        }
        return List.copyOf(doors);
    }

    /// Returns the secret that peers at a device have to prove.
    ///
    /// @throws VerbsException when the settings forbid the device
    private static Secret checked(Settings settings, Context context, Secret secret) {
        boolean isOfHost = context.device().isOfHost();
        if (settings.isEncrypted() && !isOfHost) {
            throw new DeviceException("Spark's network traffic is to be encrypted, and READs are not; with "
                    + "spark.io.encryption.enabled map outputs are encrypted themselves");
        }
        if (context.attributes().has(Capability.CONNECTION_SECRETS)) {
            return secret;
        }
        if (settings.isProofRequired()) {
            throw new DeviceException("its connections cannot prove a secret, and " + Settings.PROOF + " is true");
        }
        return Secret.NONE;
    }

    private static Device device(String name, InetAddress host) {
        if (name.equals("auto")) {
            try {
                return Device.named("ibverbs@" + host.getHostAddress());
            } catch (DeviceException e) {
                return Device.named("rocev2@" + host.getHostAddress());
            }
        }
        int end = name.indexOf(',') < 0 ? name.length() : name.indexOf(',');
        String what = name.substring(0, end);
        boolean isKind = what.equals("rocev2") || what.equals("iwarp") || what.equals("ibverbs");
        return Device.named(isKind ? what + "@" + host.getHostAddress() + name.substring(end) : name);
    }

    /// Returns the kind of a device. Devices of one kind reach each other: a card of RoCE and this project's
    /// `rocev2`, too.
    private static String kind(Context context) {
        return context.device().isOfHost()
                ? "host"
                : context.device().transportType() + " "
                        + context.gids(1).getFirst().type();
    }

    private ConnectionOptions options(ProtectionDomain domain, Secret proof) {
        return ConnectionOptions.defaults()
                .withParameters(own -> own.withReads(READS, READS)
                        .withRetries(ACK_TIMEOUT, 7, 7)
                        .withKeepAlive(Duration.ofSeconds(10))
                        .withSecret(proof))
                .withSizes(new QueuePairOptions.Sizes(DEPTH, 1, 1, 1, 0))
                .withConnectTimeout(Duration.ofSeconds(5))
                .withDevice(context)
                .withProtectionDomain(domain);
    }

    /// Lets peers in, and ends the connections of those that have gone.
    private void letIn() {
        var guests = new ArrayList<Connection>();
        while (!closed) {
            try {
                Optional<Connection> next = listener.accept(LOOK_AROUND);
                next.ifPresent(guests::add);
                guests.removeIf(guest -> {
                    boolean hasGone = guest.queuePair().state() == QpState.ERR;
                    if (hasGone) {
                        guest.close();
                    }
                    return hasGone;
                });
            } catch (VerbsException e) {
                if (!closed) {
                    LOG.warn("{} lets no more peers in: {}", this, e.getMessage());
                }
                break;
            } catch (InterruptedException e) {
                break;
            }
        }
        guests.forEach(Connection::close);
    }

    /// Returns whether it can lead to an entrance of a peer.
    public boolean fits(Directory.Entrance to) {
        return kind.equals(to.kind()) && isProven == to.isProven();
    }

    /// Connects to an executor at an entrance that fits.
    public Connection connect(Directory.Entrance to, Secret secret) throws InterruptedException {
        Secret proof = isProven ? secret : Secret.NONE;
        return Connection.connect(
                new InetSocketAddress(InetAddress.ofLiteral(to.address()), to.port()), options(incoming, proof));
    }

    /// Registers memory that an output has already at another door, under the same address.
    public MemoryRegion register(MemoryRegion other) {
        return outputs.register(other.segment(), other.address(), Set.of(Access.REMOTE_READ));
    }

    public ProtectionDomain outputs() {
        return outputs;
    }

    public ReadBuffers buffers() {
        return buffers;
    }

    public boolean isOfHost() {
        return context.device().isOfHost();
    }

    public Directory.Entrance entrance(int index, MemoryRegion table) {
        return new Directory.Entrance(
                kind,
                isProven,
                index,
                address.getHostAddress(),
                listener.localAddress().getPort(),
                table.remote());
    }

    @Override
    public void close() {
        closed = true;
        listener.close();
        try {
            porter.join(Duration.ofSeconds(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        buffers.close();
        try {
            incoming.close();
            outputs.close();
            context.close();
        } catch (VerbsException e) {
            LOG.debug("{} stays open until the process ends: {}", this, e.getMessage());
        }
    }

    @Override
    public String toString() {
        return context.device().name();
    }
}

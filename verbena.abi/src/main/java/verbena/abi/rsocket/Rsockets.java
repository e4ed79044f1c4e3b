package verbena.abi.rsocket;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import verbena.abi.EventInbox;
import verbena.abi.Threads;
import verbena.abi.cm.EventChannelHandle;
import verbena.verbs.InvalidStateException;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// The rsockets that there are, by their file descriptors, and the thread that learns what becomes of their
/// connections. Looking up takes no lock.
public final class Rsockets {
    private static final ConcurrentHashMap<ConnectionId, Rsocket> BY_ID = new ConcurrentHashMap<>();
    private static volatile @Nullable AnyRsocket[] byDescriptor = new @Nullable AnyRsocket[64];

    private Rsockets() {}

    /// Made with the first rsocket.
    private static final class Channel {
        static final EventChannel CHANNEL = EventChannelHandle.openNearest();

        static {
            Threads.start("verbena-abi-rsockets", Channel::run);
        }

        private static void run() {
            while (true) {
                try {
                    CHANNEL.await(EventInbox.ALWAYS).ifPresent(Rsockets::onEvent);
                } catch (InterruptedException | InvalidStateException e) {
                    return; // the channel is closed, at the end of the process
                }
            }
        }
    }

    private static void onEvent(ConnectionEvent event) {
        ConnectionId id = event instanceof ConnectionEvent.ConnectRequest request ? request.listener() : event.id();
        Rsocket socket = BY_ID.get(id);
        if (socket != null) {
            socket.onEvent(event);
        } else if (event instanceof ConnectionEvent.ConnectRequest) {
            event.id().close(); // the listener is gone
        }
    }

    /// Answers the file descriptor of a new one.
    static int createStream(int domain, boolean isNonBlocking) {
        var made = new Rsocket(Channel.CHANNEL.createId(PortSpace.TCP), new RsocketOptions(domain), isNonBlocking);
        arrives(made);
        return open(made);
    }

    /// The same for datagrams.
    static int createDatagram(int domain, boolean isNonBlocking) {
        return open(new DatagramRsocket(domain, isNonBlocking));
    }

    /// A queue pair at an own address, from which datagrams are sent; empty when there is no device at that
    /// address.
    ///
    /// @param name own address and port of UDP
    static Optional<DatagramQueue> datagramQueue(InetSocketAddress name, InetSocketAddress to, RsocketOptions options) {
        ConnectionId id = Channel.CHANNEL.createId(PortSpace.UDP);
        id.resolveAddress(Optional.of(new InetSocketAddress(name.getAddress(), 0)), to);
        if (id.state() != ConnectionId.State.ADDRESS_RESOLVED) {
            id.close();
            return Optional.empty();
        }
        return Optional.of(new DatagramQueue(id, name, options));
    }

    /// Its events find it. It has no file descriptor yet.
    static void arrives(Rsocket socket) {
        BY_ID.put(socket.id, socket);
    }

    /// From now on it has a file descriptor, which this answers.
    static int open(AnyRsocket socket) {
        int fd = socket.open();
        put(fd, socket);
        return fd;
    }

    private static synchronized void put(int fd, AnyRsocket socket) {
        @Nullable
        AnyRsocket[] next = Arrays.copyOf(byDescriptor, Math.max(byDescriptor.length, Integer.highestOneBit(fd) * 2));
        next[fd] = socket;
        byDescriptor = next;
    }

    static void remove(Rsocket socket) {
        BY_ID.remove(socket.id);
        remove((AnyRsocket) socket);
    }

    static synchronized void remove(AnyRsocket socket) {
        @Nullable AnyRsocket[] next = byDescriptor.clone();
        Arrays.setAll(next, i -> next[i] == socket ? null : next[i]);
        byDescriptor = next;
    }

    /// Null when there is none.
    static @Nullable AnyRsocket find(long fd) {
        @Nullable AnyRsocket[] now = byDescriptor;
        return fd >= 0 && fd < now.length ? now[(int) fd] : null;
    }

    /// The process ends.
    public static void leave() {
        List.copyOf(BY_ID.values()).forEach(Rsocket::leave);
        Arrays.stream(byDescriptor)
                .filter(DatagramRsocket.class::isInstance)
                .map(DatagramRsocket.class::cast)
                .forEach(DatagramRsocket::leave);
    }
}

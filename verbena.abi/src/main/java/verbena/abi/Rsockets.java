package verbena.abi;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import verbena.verbs.InvalidStateException;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// The rsockets that there are, by their file descriptors, and the thread that learns what becomes of their
/// connections. Looking up takes no lock.
final class Rsockets {
    private static final ConcurrentHashMap<ConnectionId, Rsocket> BY_ID = new ConcurrentHashMap<>();
    private static volatile @Nullable Rsocket[] byDescriptor = new @Nullable Rsocket[64];

    private Rsockets() {}

    /// Made with the first rsocket.
    private static final class Channel {
        static final EventChannel CHANNEL = EventChannelHandle.open();

        static {
            Threads.start("verbena-abi-rsockets", Channel::run);
        }

        private static void run() {
            while (true) {
                try {
                    CHANNEL.await(EventPipe.ALWAYS).ifPresent(Rsockets::onEvent);
                } catch (InterruptedException | InvalidStateException e) {
                    return; // nobody does either
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

    static Rsocket create(boolean isNonBlocking) {
        var made = new Rsocket(Channel.CHANNEL.createId(PortSpace.TCP), new RsocketOptions(), isNonBlocking);
        put(made);
        return made;
    }

    static synchronized void put(Rsocket socket) {
        int fd = socket.fd();
        @Nullable
        Rsocket[] next = Arrays.copyOf(byDescriptor, Math.max(byDescriptor.length, Integer.highestOneBit(fd) * 2));
        next[fd] = socket;
        byDescriptor = next;
        BY_ID.put(socket.id, socket);
    }

    static synchronized void remove(Rsocket socket) {
        @Nullable Rsocket[] next = byDescriptor.clone();
        next[socket.fd()] = null;
        byDescriptor = next;
        BY_ID.remove(socket.id);
    }

    /// Null when there is none.
    static @Nullable Rsocket find(long fd) {
        @Nullable Rsocket[] now = byDescriptor;
        return fd >= 0 && fd < now.length ? now[(int) fd] : null;
    }

    /// The process ends.
    static void leave() {
        List<Rsocket> all = Arrays.stream(byDescriptor)
                .filter(Objects::nonNull)
                .map(Objects::requireNonNull)
                .toList();
        all.forEach(Rsocket::leave);
    }
}

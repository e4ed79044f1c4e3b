package verbena.abi;

import java.util.Arrays;
import java.util.List;
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

    /// Answers its file descriptor.
    static int create(int domain, boolean isNonBlocking) {
        var made = new Rsocket(Channel.CHANNEL.createId(PortSpace.TCP), new RsocketOptions(domain), isNonBlocking);
        arrives(made);
        return open(made);
    }

    /// Its events find it. It has no file descriptor yet.
    static void arrives(Rsocket socket) {
        BY_ID.put(socket.id, socket);
    }

    /// From now on it has a file descriptor, which this answers.
    static int open(Rsocket socket) {
        int fd = socket.open();
        put(fd, socket);
        return fd;
    }

    private static synchronized void put(int fd, Rsocket socket) {
        @Nullable
        Rsocket[] next = Arrays.copyOf(byDescriptor, Math.max(byDescriptor.length, Integer.highestOneBit(fd) * 2));
        next[fd] = socket;
        byDescriptor = next;
    }

    static synchronized void remove(Rsocket socket) {
        @Nullable Rsocket[] next = byDescriptor.clone();
        Arrays.setAll(next, i -> next[i] == socket ? null : next[i]);
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
        List.copyOf(BY_ID.values()).forEach(Rsocket::leave);
    }
}

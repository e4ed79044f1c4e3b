package verbena.abi.rsocket;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The rsockets that the program has, by their file descriptors. Looking up takes no lock.
public final class Rsockets {
    private static volatile @Nullable AnyRsocket[] byDescriptor = new @Nullable AnyRsocket[64];

    private Rsockets() {}

    /// Opens a file descriptor for a socket, and answers its number.
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

    static synchronized void remove(AnyRsocket socket) {
        @Nullable AnyRsocket[] next = byDescriptor.clone();
        Arrays.setAll(next, i -> next[i] == socket ? null : next[i]);
        byDescriptor = next;
    }

    /// Returns the rsocket of a descriptor; null when there is none.
    static @Nullable AnyRsocket find(long fd) {
        @Nullable AnyRsocket[] now = byDescriptor;
        return fd >= 0 && fd < now.length ? now[(int) fd] : null;
    }

    /// Lets all rsockets finish when the process ends.
    public static void leave() {
        Arrays.stream(byDescriptor).filter(Objects::nonNull).forEach(AnyRsocket::leave);
    }
}

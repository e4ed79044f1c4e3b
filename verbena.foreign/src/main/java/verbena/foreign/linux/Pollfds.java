package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import verbena.foreign.linux.LinuxAbi.Pollfd;

/// Entries of poll(2).
public final class Pollfds {
    private Pollfds() {}

    /// Lets the entry `i` wait for `events` of a descriptor.
    public static void watch(MemorySegment pollfds, int i, int fd, int events) {
        pollfds.set(JAVA_INT, (long) i * Pollfd.BYTES + Pollfd.FD, fd);
        pollfds.set(JAVA_SHORT, (long) i * Pollfd.BYTES + Pollfd.EVENTS, (short) events);
        pollfds.set(JAVA_SHORT, (long) i * Pollfd.BYTES + Pollfd.REVENTS, (short) 0);
    }

    /// Returns whether its descriptor is worth a look. Errors count: receiving takes them off a socket.
    public static boolean isReadable(MemorySegment pollfds, int i) {
        return (pollfds.get(JAVA_SHORT, (long) i * Pollfd.BYTES + Pollfd.REVENTS) & ~LinuxAbi.POLLOUT) != 0;
    }

    /// Returns whether poll(2) has found anything about its descriptor.
    public static boolean hasResult(MemorySegment pollfds, int i) {
        return pollfds.get(JAVA_SHORT, (long) i * Pollfd.BYTES + Pollfd.REVENTS) != 0;
    }
}

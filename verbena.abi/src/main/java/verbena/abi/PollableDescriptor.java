package verbena.abi;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import verbena.verbs.ResourceLimitException;

/// A file descriptor that poll(2), select(2) and epoll(7) find as ready as we say: one end of a pair of Unix
/// sockets whose other end is ours. A byte that waits makes it readable, a full send buffer makes it not
/// writable, and without our end it is hung up. A system call is made only when something changes. Not safe for
/// use by several threads.
final class PollableDescriptor {
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_CLOEXEC = 0x8_0000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_SNDBUF = 7;
    private static final int QUIETLY = 0x4040; // MSG_DONTWAIT, MSG_NOSIGNAL

    private static final MethodHandle SOCKETPAIR =
            Native.function("socketpair", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
    private static final MethodHandle SETSOCKOPT =
            Native.function("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle SEND = Native.function("send", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    private static final MethodHandle RECEIVE =
            Native.function("recv", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);

    /// What fills the buffer, and where it is emptied into: nobody looks at it.
    private static final MemorySegment FILLING = Arena.global().allocate(8_192);

    private final int fd;
    private final int ours;
    private boolean isReadable;
    private boolean isWritable = true;
    private boolean isHungUp;

    PollableDescriptor() {
        try (var arena = Arena.ofConfined()) {
            MemorySegment ends = arena.allocate(JAVA_INT, 2);
            int answer = (int) SOCKETPAIR.invokeExact(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
            if (answer != 0) {
                throw new ResourceLimitException("rsocket", "file descriptors", 0, "this process has no more");
            }
            fd = ends.getAtIndex(JAVA_INT, 0);
            ours = ends.getAtIndex(JAVA_INT, 1);
            MemorySegment least = arena.allocate(JAVA_INT); // the kernel makes as little of 0 as it can
            int ignored = (int) SETSOCKOPT.invokeExact(fd, SOL_SOCKET, SO_SNDBUF, least, Integer.BYTES);
        } catch (Throwable e) {
            throw Native.rethrown(e);
        }
    }

    /// The program's end.
    int fd() {
        return fd;
    }

    void readable(boolean wanted) {
        if (wanted != isReadable && !isHungUp) {
            isReadable = wanted;
            if (wanted) {
                send(ours, 1);
            } else {
                empty(fd);
            }
        }
    }

    void writable(boolean wanted) {
        if (wanted != isWritable && !isHungUp) {
            isWritable = wanted;
            if (wanted) {
                empty(ours);
            } else {
                while (send(fd, 2_048)) {
                    // until it is full
                }
            }
        }
    }

    /// From now on it is readable, writable and hung up.
    void hangUp() {
        if (!isHungUp) {
            isHungUp = true;
            empty(ours); // what waits there would be an error of its own
            Native.close(ours);
        }
    }

    void close() {
        hangUp();
        Native.close(fd);
    }

    private static boolean send(int end, long bytes) {
        try {
            return (long) SEND.invokeExact(end, FILLING, bytes, QUIETLY) > 0;
        } catch (Throwable e) {
            throw Native.rethrown(e);
        }
    }

    private static void empty(int end) {
        try {
            long n;
            do {
                n = (long) RECEIVE.invokeExact(end, FILLING, FILLING.byteSize(), QUIETLY);
            } while (n > 0);
        } catch (Throwable e) {
            throw Native.rethrown(e);
        }
    }
}

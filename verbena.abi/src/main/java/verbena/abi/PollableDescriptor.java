package verbena.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.foreign.SystemFunction;
import verbena.verbs.ResourceLimitException;

/// A file descriptor that poll(2), select(2) and epoll(7) find as ready as we say: one end of a pair of Unix
/// sockets whose other end is ours. A byte that waits makes it readable, a full send buffer makes it not
/// writable, and without our end it is hung up. A system call is made only when something changes. Not safe for
/// use by several threads.
public final class PollableDescriptor {
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM = 1;
    private static final int SOCK_CLOEXEC = 0x8_0000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_SNDBUF = 7;
    private static final int QUIETLY = 0x4040; // MSG_DONTWAIT, MSG_NOSIGNAL

    private static final SystemFunction SOCKETPAIR = SystemFunction.named("socketpair");
    private static final SystemFunction SETSOCKOPT = SystemFunction.named("setsockopt");
    private static final SystemFunction SEND = SystemFunction.named("send");
    private static final SystemFunction RECEIVE = SystemFunction.named("recv");

    /// The buffer that fills a pipe, and into which it is emptied: no thread looks at it.
    private static final MemorySegment FILLING = Arena.global().allocate(8_192);

    private final int fd;
    private final int ours;
    /// Bytes that wait in it.
    private int readable;
    private boolean isWritable = true;
    private boolean isHungUp;

    public PollableDescriptor() {
        try (var arena = Arena.ofConfined()) {
            MemorySegment ends = arena.allocate(JAVA_INT, 2);
            if ((int) SOCKETPAIR.call(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.address()) != 0) {
                throw new ResourceLimitException("rsocket", "file descriptors", 0, "this process has no more");
            }
            fd = ends.getAtIndex(JAVA_INT, 0);
            ours = ends.getAtIndex(JAVA_INT, 1);
            MemorySegment least = arena.allocate(JAVA_INT); // the kernel makes as little of 0 as it can
            long _ = SETSOCKOPT.call(fd, SOL_SOCKET, SO_SNDBUF, least.address(), Integer.BYTES, 0);
        }
    }

    /// Returns the program's end.
    public int fd() {
        return fd;
    }

    public void readable(boolean wanted) {
        if (!isHungUp) {
            events(wanted ? 1 : 0);
        }
    }

    /// Makes it readable for so many events. Each that is added wakes those who poll, as epoll(7) does by edges,
    /// as long as the socket has room. The program must not read it, but may look (`MSG_PEEK`).
    public void events(int wanted) {
        while (readable < wanted && !isHungUp && send(ours, 1)) {
            readable++;
        }
        while (readable > wanted) {
            readable--;
            long _ = receive(fd, 1);
        }
    }

    public void writable(boolean wanted) {
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

    /// Makes it readable, writable and hung up from now on.
    public void hangUp() {
        if (!isHungUp) {
            isHungUp = true;
            empty(ours); // what waits there would be an error of its own
            Native.close(ours);
        }
    }

    public void close() {
        hangUp();
        readable = 0;
        Native.close(fd);
    }

    private static boolean send(int end, long bytes) {
        return SEND.call(end, FILLING.address(), bytes, QUIETLY) > 0;
    }

    private static long receive(int end, long bytes) {
        return RECEIVE.call(end, FILLING.address(), bytes, QUIETLY);
    }

    private static void empty(int end) {
        long n;
        do {
            n = receive(end, FILLING.byteSize());
        } while (n > 0);
    }
}

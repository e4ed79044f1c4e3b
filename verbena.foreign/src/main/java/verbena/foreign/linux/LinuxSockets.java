package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static verbena.foreign.linux.LinuxAbi.SOCK_CLOEXEC;
import static verbena.foreign.linux.LinuxAbi.SOCK_DGRAM;
import static verbena.foreign.linux.LinuxAbi.SOCK_NONBLOCK;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/// Every Linux system call of this module.
///
/// The methods of an instance answer with a negated errno when they fail, as the kernel does. The instance holds
/// the memory through which errno comes back and belongs to one thread at a time. The static methods know no
/// errno: the JDK makes a new slice of that memory at each call (25 does, unless the compiler sees through it),
/// and nothing is to be allocated on the packet path.
///
/// None is declared critical. That would save the thread's state transition, some nanoseconds a call, and stop the
/// garbage collector for as long as the call runs; a batch of 64 packets over loopback runs for 100 µs and more.
@SuppressWarnings("restricted") // FFM: this is the class that native access is granted for
public final class LinuxSockets {
    private static final AddressLayout POINTER = ValueLayout.ADDRESS;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final long ERRNO = Linker.Option.captureStateLayout().byteOffset(PathElement.groupElement("errno"));

    private static final MethodHandle SOCKET = call("socket", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle BIND = call("bind", JAVA_INT, POINTER, JAVA_INT);
    private static final MethodHandle SETSOCKOPT = call("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, POINTER, JAVA_INT);
    private static final MethodHandle GETSOCKOPT = call("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, POINTER, POINTER);
    private static final MethodHandle SENDMMSG = quiet("sendmmsg", JAVA_INT, JAVA_INT, POINTER, JAVA_INT, JAVA_INT);
    private static final MethodHandle SENDMMSG_ERRNO = call("sendmmsg", JAVA_INT, POINTER, JAVA_INT, JAVA_INT);
    private static final MethodHandle RECVMMSG =
            quiet("recvmmsg", JAVA_INT, JAVA_INT, POINTER, JAVA_INT, JAVA_INT, POINTER);
    private static final MethodHandle PPOLL = quiet("ppoll", JAVA_INT, POINTER, JAVA_LONG, POINTER, POINTER);
    private static final MethodHandle LISTEN = call("listen", JAVA_INT, JAVA_INT);
    private static final MethodHandle CONNECT = call("connect", JAVA_INT, POINTER, JAVA_INT);
    private static final MethodHandle ACCEPT4 = quiet("accept4", JAVA_INT, JAVA_INT, POINTER, POINTER, JAVA_INT);
    private static final MethodHandle SEND = quiet("send", JAVA_LONG, JAVA_INT, POINTER, JAVA_LONG, JAVA_INT);
    private static final MethodHandle EPOLL_CREATE1 = call("epoll_create1", JAVA_INT);
    private static final MethodHandle EPOLL_CTL = call("epoll_ctl", JAVA_INT, JAVA_INT, JAVA_INT, POINTER);
    private static final MethodHandle EPOLL_WAIT = quiet("epoll_wait", JAVA_INT, JAVA_INT, POINTER, JAVA_INT, JAVA_INT);
    private static final MethodHandle GETSOCKNAME = call("getsockname", JAVA_INT, POINTER, POINTER);
    private static final MethodHandle SHUTDOWN = call("shutdown", JAVA_INT, JAVA_INT);
    // Both with three more arguments than the function has, which the calling conventions of x86-64 and aarch64 pass
    // in registers that it does not look at: a segment that is passed stays alive until the call returns, and those
    // that an iovec names are not.
    private static final MethodHandle SENDMSG =
            quiet("sendmsg", JAVA_LONG, JAVA_INT, POINTER, JAVA_INT, POINTER, POINTER, POINTER);
    private static final MethodHandle READV = quiet("readv", JAVA_LONG, JAVA_INT, POINTER, JAVA_INT, POINTER);
    private static final MethodHandle SENDMSG_ERRNO = LINKER.downcallHandle(
            symbol("sendmsg"),
            FunctionDescriptor.of(JAVA_LONG, JAVA_INT, POINTER, JAVA_INT, POINTER, POINTER, POINTER),
            Linker.Option.captureCallState("errno"));
    private static final MethodHandle GETEUID = quiet("geteuid", JAVA_INT);
    private static final MethodHandle EVENTFD = call("eventfd", JAVA_INT, JAVA_INT);
    private static final MethodHandle TIMERFD_CREATE = call("timerfd_create", JAVA_INT, JAVA_INT);
    private static final MethodHandle TIMERFD_SETTIME =
            quiet("timerfd_settime", JAVA_INT, JAVA_INT, JAVA_INT, POINTER, POINTER);
    private static final MethodHandle CLOSE = quiet("close", JAVA_INT, JAVA_INT);
    private static final MethodHandle READ = quiet("read", JAVA_LONG, JAVA_INT, POINTER, JAVA_LONG);
    private static final MethodHandle WRITE = quiet("write", JAVA_LONG, JAVA_INT, POINTER, JAVA_LONG);

    private final MemorySegment state;
    private final MemorySegment option;
    private final MemorySegment optionLength;
    private final MemorySegment credentials;

    public LinuxSockets(Arena arena) {
        state = arena.allocate(Linker.Option.captureStateLayout());
        option = arena.allocate(JAVA_INT);
        optionLength = arena.allocate(JAVA_INT);
        credentials = arena.allocate(LinuxAbi.Ucred.BYTES, 4);
    }

    private static MemorySegment symbol(String name) {
        return LINKER.defaultLookup().findOrThrow(name);
    }

    // Without errno.
    private static MethodHandle quiet(String name, ValueLayout result, ValueLayout... arguments) {
        return LINKER.downcallHandle(symbol(name), FunctionDescriptor.of(result, arguments));
    }

    private static MethodHandle call(String name, ValueLayout... arguments) {
        return LINKER.downcallHandle(
                symbol(name), FunctionDescriptor.of(JAVA_INT, arguments), Linker.Option.captureCallState("errno"));
    }

    /// A non-blocking UDP socket.
    public int socket(int family) {
        try {
            return result((int) SOCKET.invokeExact(state, family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// A non-blocking socket for news of the host's network (rtnetlink(7)).
    public int netlinkSocket() {
        try {
            return result((int) SOCKET.invokeExact(
                    state,
                    LinuxAbi.AF_NETLINK,
                    LinuxAbi.SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    LinuxAbi.NETLINK_ROUTE));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// A non-blocking socket of this host (unix(7)) that connects, and keeps messages apart.
    public int localSocket() {
        try {
            return result((int) SOCKET.invokeExact(
                    state, LinuxAbi.AF_UNIX, LinuxAbi.SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    public int listen(int fd, int backlog) {
        try {
            return result((int) LISTEN.invokeExact(state, fd, backlog));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    public int connect(int fd, MemorySegment address) {
        try {
            return result((int) CONNECT.invokeExact(state, fd, address, (int) address.byteSize()));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// A non-blocking socket; -1 when nobody has connected.
    public static int accept(int fd) {
        try {
            return (int) ACCEPT4.invokeExact(fd, MemorySegment.NULL, MemorySegment.NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// A non-blocking TCP socket.
    public int streamSocket(int family) {
        try {
            return result(
                    (int) SOCKET.invokeExact(state, family, LinuxAbi.SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// A non-blocking socket, and who has connected; -1 when nobody has, or there is no descriptor for it.
    public static int accept(int fd, MemorySegment address, MemorySegment length) {
        try {
            return (int) ACCEPT4.invokeExact(fd, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// Where a socket is bound.
    public int name(int fd, MemorySegment address, MemorySegment length) {
        try {
            return result((int) GETSOCKNAME.invokeExact(state, fd, address, length));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    public int shutdown(int fd, int how) {
        try {
            return result((int) SHUTDOWN.invokeExact(state, fd, how));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// How many bytes of what a `struct msghdr` gathers were taken. The three segments stay alive meanwhile.
    public long sendGathered(int fd, MemorySegment msghdr, MemorySegment a, MemorySegment b, MemorySegment c) {
        try {
            long sent = (long) SENDMSG.invokeExact(fd, msghdr, LinuxAbi.MSG_NOSIGNAL, a, b, c);
            if (sent >= 0) {
                return sent;
            }
            // Nothing was sent: asking again, this time for the reason, does no harm, also when it now succeeds.
            long again = (long) SENDMSG_ERRNO.invokeExact(state, fd, msghdr, LinuxAbi.MSG_NOSIGNAL, a, b, c);
            return again >= 0 ? again : -state.get(JAVA_INT, ERRNO);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// How many bytes were read into what the iovecs name; 0 at the end of a stream, -1 when there was nothing, or
    /// an error. `alive` stays alive meanwhile.
    public static long readScattered(int fd, MemorySegment iovecs, int count, MemorySegment alive) {
        try {
            return (long) READV.invokeExact(fd, iovecs, count, alive);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// Whether it was taken.
    public static boolean send(int fd, MemorySegment message) {
        try {
            return (long) SEND.invokeExact(fd, message, message.byteSize(), LinuxAbi.MSG_NOSIGNAL) >= 0;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// The effective user who is at the other end of a connected [#localSocket()], or listened there; negative
    /// when nobody is.
    public int peerUser(int fd) {
        try {
            optionLength.set(JAVA_INT, 0, LinuxAbi.Ucred.BYTES);
            int result = result((int) GETSOCKOPT.invokeExact(
                    state, fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_PEERCRED, credentials, optionLength));
            return result < 0 ? result : credentials.get(JAVA_INT, LinuxAbi.Ucred.UID);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// The effective user of this process.
    public static int effectiveUser() {
        try {
            return (int) GETEUID.invokeExact();
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// A set of descriptors to watch; itself one that can be polled (epoll(7)).
    public int watcher() {
        try {
            return result((int) EPOLL_CREATE1.invokeExact(state, LinuxAbi.EPOLL_CLOEXEC));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// Adds a descriptor with what is to be told of it; it leaves the set when it is closed.
    public int watch(int watcher, int fd, MemorySegment event) {
        try {
            return result((int) EPOLL_CTL.invokeExact(state, watcher, LinuxAbi.EPOLL_CTL_ADD, fd, event));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// What is to be told of a descriptor of the set from now on.
    public int rewatch(int watcher, int fd, MemorySegment event) {
        try {
            return result((int) EPOLL_CTL.invokeExact(state, watcher, LinuxAbi.EPOLL_CTL_MOD, fd, event));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// How many of a set are ready now; what was to be told of them is in `events`.
    public static int ready(int watcher, MemorySegment events, int count) {
        try {
            return (int) EPOLL_WAIT.invokeExact(watcher, events, count, 0);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    public int bind(int fd, MemorySegment address) {
        try {
            return result((int) BIND.invokeExact(state, fd, address, (int) address.byteSize()));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    public int setOption(int fd, int level, int name, int value) {
        option.set(JAVA_INT, 0, value);
        return setOption(fd, level, name, option);
    }

    public int setOption(int fd, int level, int name, MemorySegment value) {
        try {
            return result((int) SETSOCKOPT.invokeExact(state, fd, level, name, value, (int) value.byteSize()));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// The value, which is none below zero for the options asked for here.
    public int option(int fd, int level, int name) {
        try {
            optionLength.set(JAVA_INT, 0, (int) JAVA_INT.byteSize());
            int result = result((int) GETSOCKOPT.invokeExact(state, fd, level, name, option, optionLength));
            return result < 0 ? result : option.get(JAVA_INT, 0);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// How many messages were sent; an error only when it is the first that failed. A single one goes by sendmsg,
    /// which is some 150 ns quicker.
    public int sendMessages(int fd, MemorySegment mmsghdrs, int count) {
        try {
            int sent = count == 1
                    ? sendMessage(fd, mmsghdrs)
                    : (int) SENDMMSG.invokeExact(fd, mmsghdrs, count, LinuxAbi.MSG_NOSIGNAL);
            // Nothing was sent: asking again, this time for the reason, does no harm, also when it now succeeds.
            return sent >= 0
                    ? sent
                    : result((int) SENDMMSG_ERRNO.invokeExact(state, fd, mmsghdrs, count, LinuxAbi.MSG_NOSIGNAL));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// One by itself, which is some hundredths of it faster so. A `struct mmsghdr` begins with its `struct msghdr`.
    private static int sendMessage(int fd, MemorySegment msghdr) throws Throwable {
        MemorySegment none = MemorySegment.NULL;
        return (long) SENDMSG.invokeExact(fd, msghdr, LinuxAbi.MSG_NOSIGNAL, none, none, none) < 0 ? -1 : 1;
    }

    /// How many messages were received; -1 when there was nothing, or an error, which the call has taken off the
    /// socket.
    public static int receiveMessages(int fd, MemorySegment mmsghdrs, int count) {
        try {
            return (int) RECVMMSG.invokeExact(fd, mmsghdrs, count, 0, MemorySegment.NULL);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// How many of the descriptors are ready; -1 when a signal interrupted. `timeout` is a `struct timespec`,
    /// [MemorySegment#NULL] for no limit.
    public static int poll(MemorySegment pollfds, int count, MemorySegment timeout) {
        try {
            return (int) PPOLL.invokeExact(pollfds, (long) count, timeout, MemorySegment.NULL);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// A non-blocking event counter.
    public int eventCounter() {
        try {
            return result((int) EVENTFD.invokeExact(state, 0, LinuxAbi.EFD_NONBLOCK | LinuxAbi.EFD_CLOEXEC));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// Adds the number at `value`; can fail only when the counter is near 2^64, and then it is readable anyway.
    public static void addToEventCounter(int fd, MemorySegment value) {
        try {
            long _ = (long) WRITE.invokeExact(fd, value, JAVA_LONG.byteSize());
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// Sets it to zero; that it is zero already is no failure.
    public static void clearEventCounter(int fd, MemorySegment scratch) {
        try {
            long _ = (long) READ.invokeExact(fd, scratch, JAVA_LONG.byteSize());
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// A timer that can be polled.
    public int timer() {
        try {
            return result((int) TIMERFD_CREATE.invokeExact(
                    state, LinuxAbi.CLOCK_MONOTONIC, LinuxAbi.TFD_NONBLOCK | LinuxAbi.TFD_CLOEXEC));
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// `time` is a `struct itimerspec`, from now; fails only when it is none.
    public static void setTimer(int fd, MemorySegment time) {
        try {
            int _ = (int) TIMERFD_SETTIME.invokeExact(fd, 0, time, MemorySegment.NULL);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// How many bytes were read; -1 when there was nothing, or an error.
    public static long read(int fd, MemorySegment into) {
        try {
            return (long) READ.invokeExact(fd, into, into.byteSize());
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    public static void close(int fd) {
        try {
            int _ = (int) CLOSE.invokeExact(fd);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    private int result(int returned) {
        return returned >= 0 ? returned : -state.get(JAVA_INT, ERRNO);
    }

    // A downcall itself throws only when its arguments do not fit: a mistake in this class, or a closed arena.
    private static RuntimeException impossible(Throwable e) {
        return switch (e) {
            case RuntimeException runtime -> runtime;
            case Error error -> throw error;
            default -> throw new AssertionError(e);
        };
    }

    /// The C library's words for an errno.
    public static String message(int errno) {
        try {
            MethodHandle strerror = LINKER.downcallHandle(symbol("strerror"), FunctionDescriptor.of(POINTER, JAVA_INT));
            var text = (MemorySegment) strerror.invokeExact(errno);
            return text.reinterpret(256).getString(0) + ", errno " + errno;
        } catch (Throwable e) {
            throw impossible(e);
        }
    }
}

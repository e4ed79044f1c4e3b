package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
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
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import verbena.foreign.SystemFunction;

/// Every Linux system call of this module.
///
/// The methods of an instance answer with a negated errno when they fail, as the kernel does. The instance holds
/// the memory through which errno comes back and belongs to one thread at a time. The static methods know no
/// errno: the JDK makes a new slice of that memory at each call (25 does, unless the compiler sees through it),
/// and nothing is to be allocated on the packet path. All but those of the packet path are called in the one
/// shape of [SystemFunction].
///
/// None is declared critical. That would save the thread's state transition, some nanoseconds a call, and stop
/// the garbage collector for as long as the call runs; a batch of 64 packets over loopback runs for 100 µs and
/// more.
///
/// C gets memory by its address. So a method whose caller may have no other use for the memory keeps it reachable: the
/// garbage collector frees memory of [Arena#ofAuto()] while the kernel reads it.
@SuppressWarnings("restricted") // FFM: this is the class that native access is granted for
public final class LinuxSockets {
    private static final AddressLayout POINTER = ValueLayout.ADDRESS;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final long ERRNO = Linker.Option.captureStateLayout().byteOffset(PathElement.groupElement("errno"));

    private static final SystemFunction SOCKET = SystemFunction.named("socket");
    private static final SystemFunction BIND = SystemFunction.named("bind");
    private static final SystemFunction SETSOCKOPT = SystemFunction.named("setsockopt");
    private static final SystemFunction GETSOCKOPT = SystemFunction.named("getsockopt");
    private static final SystemFunction LISTEN = SystemFunction.named("listen");
    private static final SystemFunction CONNECT = SystemFunction.named("connect");
    private static final SystemFunction ACCEPT4 = SystemFunction.named("accept4");
    private static final SystemFunction SEND = SystemFunction.named("send");
    private static final SystemFunction GETSOCKNAME = SystemFunction.named("getsockname");
    private static final SystemFunction SHUTDOWN = SystemFunction.named("shutdown");
    private static final SystemFunction EPOLL_CREATE1 = SystemFunction.named("epoll_create1");
    private static final SystemFunction EPOLL_CTL = SystemFunction.named("epoll_ctl");
    private static final SystemFunction GETEUID = SystemFunction.named("geteuid");
    private static final SystemFunction EVENTFD = SystemFunction.named("eventfd");
    private static final SystemFunction TIMERFD_CREATE = SystemFunction.named("timerfd_create");
    private static final SystemFunction TIMERFD_SETTIME = SystemFunction.named("timerfd_settime");
    private static final SystemFunction FCNTL = SystemFunction.named("fcntl");
    private static final SystemFunction CLOSE = SystemFunction.named("close");
    private static final SystemFunction READ = SystemFunction.named("read");
    private static final SystemFunction WRITE = SystemFunction.named("write");
    private static final SystemFunction OPEN = SystemFunction.named("open");
    private static final SystemFunction IOCTL = SystemFunction.named("ioctl");
    private static final SystemFunction SENDMMSG_ERRNO = SystemFunction.named("sendmmsg");

    // Those of the packet path keep the segments alive that they are passed. Each is linked when it is first needed.
    // That takes 5 to 10 ms in a cold virtual machine, and a program that only asks for devices needs none of them.
    // Their addresses are looked up before: a program may hold the loader's lock later, in what dlclose(3) runs.
    private static final MemorySegment SENDMMSG = symbol("sendmmsg");
    private static final MemorySegment RECVMSG = symbol("recvmsg");
    private static final MemorySegment RECVMMSG = symbol("recvmmsg");
    private static final MemorySegment PPOLL = symbol("ppoll");
    private static final MemorySegment EPOLL_WAIT = symbol("epoll_wait");
    private static final MemorySegment SENDMSG = symbol("sendmsg");
    private static final MemorySegment READV = symbol("readv");

    private static final FunctionDescriptor SENDMSG_SHAPE =
            FunctionDescriptor.of(JAVA_LONG, JAVA_INT, POINTER, JAVA_INT, POINTER, POINTER, POINTER);

    private static final class OfDatagrams {
        static final MethodHandle SENDMMSG =
                linked(LinuxSockets.SENDMMSG, JAVA_INT, JAVA_INT, POINTER, JAVA_INT, JAVA_INT);
        static final MethodHandle RECVMSG = linked(LinuxSockets.RECVMSG, JAVA_LONG, JAVA_INT, POINTER, JAVA_INT);
        static final MethodHandle RECVMMSG =
                linked(LinuxSockets.RECVMMSG, JAVA_INT, JAVA_INT, POINTER, JAVA_INT, JAVA_INT, POINTER);
    }

    private static final class OfSleep {
        static final MethodHandle PPOLL = linked(LinuxSockets.PPOLL, JAVA_INT, POINTER, JAVA_LONG, POINTER, POINTER);
    }

    private static final class OfEvents {
        static final MethodHandle EPOLL_WAIT =
                linked(LinuxSockets.EPOLL_WAIT, JAVA_INT, JAVA_INT, POINTER, JAVA_INT, JAVA_INT);
    }

    private static final class OfMessages {
        // With three more arguments than the function has, which the calling conventions of x86-64 and aarch64 pass
        // in registers that it does not look at: a segment that is passed stays alive until the call returns, and those
        // that an iovec names are not.
        static final MethodHandle SENDMSG = LINKER.downcallHandle(LinuxSockets.SENDMSG, SENDMSG_SHAPE);
    }

    /// The functions that streams need as well. READV has one more argument, as SENDMSG has.
    private static final class OfStreams {
        static final MethodHandle READV = linked(LinuxSockets.READV, JAVA_LONG, JAVA_INT, POINTER, JAVA_INT, POINTER);
        static final MethodHandle SENDMSG_ERRNO =
                LINKER.downcallHandle(LinuxSockets.SENDMSG, SENDMSG_SHAPE, Linker.Option.captureCallState("errno"));
    }

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

    private static MethodHandle linked(MemorySegment address, ValueLayout result, ValueLayout... arguments) {
        return LINKER.downcallHandle(address, FunctionDescriptor.of(result, arguments));
    }

    /// Opens a non-blocking UDP socket.
    public int socket(int family) {
        return SOCKET.tryCall(state, family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }

    /// Opens a non-blocking socket to ask the kernel (netlink(7)).
    ///
    /// @param family such as [LinuxAbi#NETLINK_ROUTE]
    public int netlinkSocket(int family) {
        return SOCKET.tryCall(state, LinuxAbi.AF_NETLINK, LinuxAbi.SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, family);
    }

    /// Opens a non-blocking socket for whole frames of an interface (packet(7)); it receives nothing before it is
    /// bound.
    public int packetSocket() {
        return SOCKET.tryCall(state, LinuxAbi.AF_PACKET, LinuxAbi.SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }

    /// Opens a socket for whole frames of an interface in memory that it shares with the kernel (AF_XDP).
    public int xdpSocket() {
        return SOCKET.tryCall(state, LinuxAbi.AF_XDP, LinuxAbi.SOCK_RAW | SOCK_CLOEXEC, 0);
    }

    /// Opens a non-blocking socket of this host (unix(7)) that connects, and keeps messages apart.
    public int localSocket() {
        return SOCKET.tryCall(state, LinuxAbi.AF_UNIX, LinuxAbi.SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }

    public int listen(int fd, int backlog) {
        return LISTEN.tryCall(state, fd, backlog, 0);
    }

    public int connect(int fd, MemorySegment address) {
        try {
            return CONNECT.tryCall(state, fd, address.address(), address.byteSize());
        } finally {
            Reference.reachabilityFence(address);
        }
    }

    /// Accepts a peer, and returns its non-blocking socket; -1 when no peer has connected.
    public static int accept(int fd) {
        return (int) ACCEPT4.call(fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
    }

    /// Opens a non-blocking TCP socket.
    public int streamSocket(int family) {
        return SOCKET.tryCall(state, family, LinuxAbi.SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }

    /// Accepts a peer, writes its address, and returns its non-blocking socket. The result is -1 when no peer has
    /// connected, or there is no descriptor for it.
    public static int accept(int fd, MemorySegment address, MemorySegment length) {
        return (int) ACCEPT4.call(fd, address.address(), length.address(), SOCK_NONBLOCK | SOCK_CLOEXEC);
    }

    /// Writes the address to which a socket is bound.
    public int name(int fd, MemorySegment address, MemorySegment length) {
        return GETSOCKNAME.tryCall(state, fd, address.address(), length.address());
    }

    public int shutdown(int fd, int how) {
        return SHUTDOWN.tryCall(state, fd, how, 0);
    }

    /// Sends the bytes that a `struct msghdr` gathers, and returns how many were taken. The three segments stay
    /// alive meanwhile.
    public long sendGathered(int fd, MemorySegment msghdr, MemorySegment a, MemorySegment b, MemorySegment c) {
        try {
            long sent = (long) OfMessages.SENDMSG.invokeExact(fd, msghdr, LinuxAbi.MSG_NOSIGNAL, a, b, c);
            if (sent >= 0) {
                return sent;
            }
            // Nothing was sent: asking again, this time for the reason, does no harm, also when it now succeeds.
            long again = (long) OfStreams.SENDMSG_ERRNO.invokeExact(state, fd, msghdr, LinuxAbi.MSG_NOSIGNAL, a, b, c);
            return again >= 0 ? again : -state.get(JAVA_INT, ERRNO);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// Reads into the memory of iovecs, and returns the number of bytes. 0 is the end of a stream; -1 is nothing to
    /// read, or an error. `alive` stays alive meanwhile.
    public static long readScattered(int fd, MemorySegment iovecs, int count, MemorySegment alive) {
        try {
            return (long) OfStreams.READV.invokeExact(fd, iovecs, count, alive);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// Sends a message; returns whether it was taken.
    public static boolean send(int fd, MemorySegment message) {
        try {
            return SEND.call(fd, message.address(), message.byteSize(), LinuxAbi.MSG_NOSIGNAL) >= 0;
        } finally {
            Reference.reachabilityFence(message);
        }
    }

    /// Returns the effective user at the other end of a connected [#localSocket()], or of its listener; negative
    /// when there is none.
    public int peerUser(int fd) {
        optionLength.set(JAVA_INT, 0, LinuxAbi.Ucred.BYTES);
        int result = GETSOCKOPT.tryCall(
                state, fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_PEERCRED, credentials.address(), optionLength.address());
        return result < 0 ? result : credentials.get(JAVA_INT, LinuxAbi.Ucred.UID);
    }

    /// Returns the process that has connected the socket at the other end, or listened there. It is 0 when this
    /// process cannot see the other, which is in another PID namespace; else the negative error.
    public int peerProcess(int fd) {
        int result = peerUser(fd);
        return result < 0 ? result : credentials.get(JAVA_INT, LinuxAbi.Ucred.PID);
    }

    /// Returns the effective user of this process.
    public static int effectiveUser() {
        return (int) GETEUID.call(0);
    }

    /// Makes a set of descriptors to watch, which can itself be polled (epoll(7)).
    public int watcher() {
        return EPOLL_CREATE1.tryCall(state, LinuxAbi.EPOLL_CLOEXEC, 0, 0);
    }

    /// Adds a descriptor with what is to be told of it; it leaves the set when it is closed.
    public int watch(int watcher, int fd, MemorySegment event) {
        return EPOLL_CTL.tryCall(state, watcher, LinuxAbi.EPOLL_CTL_ADD, fd, event.address(), 0);
    }

    /// Changes the events that are reported of a descriptor of the set from now on.
    public int rewatch(int watcher, int fd, MemorySegment event) {
        return EPOLL_CTL.tryCall(state, watcher, LinuxAbi.EPOLL_CTL_MOD, fd, event.address(), 0);
    }

    /// Returns how many descriptors of a set are ready now; `events` then has their events.
    public static int ready(int watcher, MemorySegment events, int count) {
        try {
            return (int) OfEvents.EPOLL_WAIT.invokeExact(watcher, events, count, 0);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    public int bind(int fd, MemorySegment address) {
        try {
            return BIND.tryCall(state, fd, address.address(), address.byteSize());
        } finally {
            Reference.reachabilityFence(address);
        }
    }

    public int setOption(int fd, int level, int name, int value) {
        option.set(JAVA_INT, 0, value);
        return setOption(fd, level, name, option);
    }

    public int setOption(int fd, int level, int name, MemorySegment value) {
        try {
            return SETSOCKOPT.tryCall(state, fd, level, name, value.address(), value.byteSize());
        } finally {
            Reference.reachabilityFence(value);
        }
    }

    /// Returns the value of an option, which is never below zero for the options asked for here.
    public int option(int fd, int level, int name) {
        optionLength.set(JAVA_INT, 0, (int) JAVA_INT.byteSize());
        int result = GETSOCKOPT.tryCall(state, fd, level, name, option.address(), optionLength.address());
        return result < 0 ? result : option.get(JAVA_INT, 0);
    }

    /// Returns the value of an option that is a struct; the negative error when there is none.
    public int option(int fd, int level, int name, MemorySegment into) {
        optionLength.set(JAVA_INT, 0, (int) into.byteSize());
        return GETSOCKOPT.tryCall(state, fd, level, name, into.address(), optionLength.address());
    }

    /// Sends messages, and returns how many were sent; an error only when it is the first that failed. A single
    /// message goes by sendmsg, which is some 150 ns quicker.
    public int sendMessages(int fd, MemorySegment mmsghdrs, int count) {
        try {
            int sent = count == 1
                    ? sendMessage(fd, mmsghdrs)
                    : (int) OfDatagrams.SENDMMSG.invokeExact(fd, mmsghdrs, count, LinuxAbi.MSG_NOSIGNAL);
            // Nothing was sent: asking again, this time for the reason, does no harm, also when it now succeeds.
            return sent >= 0
                    ? sent
                    : SENDMMSG_ERRNO.tryCall(state, fd, mmsghdrs.address(), count, LinuxAbi.MSG_NOSIGNAL, 0);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// Sends one, which is faster by some hundredths. A `struct mmsghdr` begins with its `struct msghdr`.
    private static int sendMessage(int fd, MemorySegment msghdr) throws Throwable {
        MemorySegment none = MemorySegment.NULL;
        return (long) OfMessages.SENDMSG.invokeExact(fd, msghdr, LinuxAbi.MSG_NOSIGNAL, none, none, none) < 0 ? -1 : 1;
    }

    /// Receives messages, and returns how many. It is -1 when there was nothing, or an error, which the call has
    /// taken off the socket. A single message is asked for by recvmsg, which is some 50 ns quicker.
    public static int receiveMessages(int fd, MemorySegment mmsghdrs, int count) {
        return receive(fd, mmsghdrs, count, 0);
    }

    /// Receives messages that the system gives back to their sender, with all their headers (recv(2),
    /// MSG_ERRQUEUE).
    public static int receiveReturned(int fd, MemorySegment mmsghdrs, int count) {
        return receive(fd, mmsghdrs, count, LinuxAbi.MSG_ERRQUEUE);
    }

    private static int receive(int fd, MemorySegment mmsghdrs, int count, int flags) {
        try {
            if (count == 1) {
                long length = (long) OfDatagrams.RECVMSG.invokeExact(fd, mmsghdrs, flags);
                mmsghdrs.set(JAVA_INT, LinuxAbi.Mmsghdr.MSG_LEN, (int) length);
                return length < 0 ? -1 : 1;
            }
            return (int) OfDatagrams.RECVMMSG.invokeExact(fd, mmsghdrs, count, flags, MemorySegment.NULL);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// Polls descriptors, and returns how many are ready; -1 when a signal interrupted. `timeout` is a `struct
    /// timespec`, [MemorySegment#NULL] for no limit.
    public static int poll(MemorySegment pollfds, int count, MemorySegment timeout) {
        try {
            return (int) OfSleep.PPOLL.invokeExact(pollfds, (long) count, timeout, MemorySegment.NULL);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// Opens a non-blocking event counter.
    public int eventCounter() {
        return EVENTFD.tryCall(state, 0, LinuxAbi.EFD_NONBLOCK | LinuxAbi.EFD_CLOEXEC, 0);
    }

    /// Adds the number at `value`; can fail only when the counter is near 2^64, and then it is readable anyway.
    public static void addToEventCounter(int fd, MemorySegment value) {
        long _ = WRITE.call(fd, value.address(), JAVA_LONG.byteSize());
    }

    /// Sets it to zero; that it is zero already is no failure.
    public static void clearEventCounter(int fd, MemorySegment scratch) {
        long _ = READ.call(fd, scratch.address(), JAVA_LONG.byteSize());
    }

    /// Opens a timer that can be polled.
    public int timer() {
        return TIMERFD_CREATE.tryCall(state, LinuxAbi.CLOCK_MONOTONIC, LinuxAbi.TFD_NONBLOCK | LinuxAbi.TFD_CLOEXEC, 0);
    }

    /// Sets a timer. `time` is a `struct itimerspec`, from now; the call fails only when it is none.
    public static void setTimer(int fd, MemorySegment time) {
        int _ = (int) TIMERFD_SETTIME.call(fd, 0, time.address(), 0);
    }

    /// Makes an Ethernet interface whose frames are read from and written to the descriptor that is returned (the
    /// kernel's TUN/TAP driver). The interface goes with the descriptor.
    ///
    /// @param name shorter than [LinuxAbi#IFNAMSIZ]
    public int tap(String name, Arena scratch) {
        MemorySegment path = scratch.allocateFrom("/dev/net/tun");
        int fd = OPEN.tryCall(state, path.address(), LinuxAbi.O_RDWR | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            return fd;
        }
        MemorySegment request = scratch.allocate(LinuxAbi.Ifreq.BYTES, 8);
        request.setString(LinuxAbi.Ifreq.IFR_NAME, name, StandardCharsets.US_ASCII);
        request.set(JAVA_SHORT, LinuxAbi.Ifreq.IFR_FLAGS, (short) (LinuxAbi.IFF_TAP | LinuxAbi.IFF_NO_PI));
        int result = IOCTL.tryCall(state, fd, LinuxAbi.TUNSETIFF, request.address());
        if (result < 0) {
            close(fd);
            return result;
        }
        return fd;
    }

    /// Writes bytes, and returns how many; -1 when there was no room, or an error.
    public static long write(int fd, MemorySegment from, long length) {
        try {
            return WRITE.call(fd, from.address(), length);
        } finally {
            Reference.reachabilityFence(from);
        }
    }

    /// Reads bytes, and returns how many; -1 when there was nothing, or an error.
    public static long read(int fd, MemorySegment into) {
        try {
            return READ.call(fd, into.address(), into.byteSize());
        } finally {
            Reference.reachabilityFence(into);
        }
    }

    /// Makes a descriptor of a peer one that no call waits for. The peer could change that again.
    public static void unblock(int fd) {
        int _ = (int) FCNTL.call(fd, LinuxAbi.F_SETFL, SOCK_NONBLOCK);
    }

    public static void close(int fd) {
        int _ = (int) CLOSE.call(fd);
    }

    // A downcall itself throws only when its arguments do not fit: a mistake in this class, or a closed arena.
    private static RuntimeException impossible(Throwable e) {
        return switch (e) {
            case RuntimeException runtime -> runtime;
            case Error error -> throw error;
            default -> throw new AssertionError(e);
        };
    }

    /// Returns the C library's text for an errno.
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

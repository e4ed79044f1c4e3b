package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.LinuxAbi.EpollEvent;
import verbena.nic.link.LinuxAbi.Iovec;
import verbena.nic.link.LinuxAbi.Linger;
import verbena.nic.link.LinuxAbi.Msghdr;
import verbena.nic.link.LinuxAbi.Pollfd;
import verbena.nic.link.LinuxAbi.SockaddrIn;
import verbena.nic.link.LinuxAbi.SockaddrIn6;
import verbena.nic.link.LinuxAbi.Timespec;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.transport.iwarp.StreamTarget;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.BigEndian;

/// TCP through Linux system calls: one epoll(7) set for all sockets, written to straight from registered memory
/// and read from straight into it, nothing allocated for what moves.
public final class LinuxTcpLink extends TcpLink {
    private static final int NANOS_PER_SECOND = 1_000_000_000;
    /// Sockets that are looked at in one piece of work; the others come first the next time (epoll_wait(2)).
    private static final int EVENTS_MAX = 64;
    /// Streams accepted from one port in one piece of work.
    private static final int ACCEPTS_MAX = 64;
    /// Connections that the system holds for a port before we have seen them.
    private static final int LISTEN_BACKLOG = 1_024;
    /// How long the closer gives the sleeper to get out before it rings again.
    private static final long CLOSE_RETRY_NANOS = 20_000;

    private final LinuxSockets linux = new LinuxSockets(arena);
    private final int epoll;
    private final EventCounter bell = new EventCounter(linux, arena);
    private volatile boolean isSleeping;
    private volatile boolean closed;

    /// By the number that epoll tells. A number is used again, so each use of it has a stamp.
    private final List<@Nullable Watched> watched = new ArrayList<>();
    private final ArrayDeque<Integer> freeNumbers = new ArrayDeque<>();
    private int stamps;
    /// Those that could not even begin: told of in the next piece of work.
    private final ArrayDeque<Socket> stillborn = new ArrayDeque<>();
    /// Given up for a moment to accept, and refuse, when there is no other descriptor.
    private int spareFd;

    private final MemorySegment event = arena.allocate(EpollEvent.BYTES, 8);
    private final MemorySegment events = arena.allocate((long) EVENTS_MAX * EpollEvent.BYTES, 8);
    private final MemorySegment name = arena.allocate(SockaddrIn6.BYTES, 8);
    private final MemorySegment nameLength = arena.allocate(JAVA_INT);
    private final MemorySegment linger = arena.allocate(Linger.BYTES, 8);
    private final MemorySegment message = arena.allocate(Msghdr.BYTES, 8);
    private final MemorySegment vectors = arena.allocate((long) PIECES_MAX * Iovec.BYTES, 8);
    // The sleeper's own.
    private final MemorySegment sleepfds = arena.allocate(2L * Pollfd.BYTES, 8);
    private final MemorySegment timeout = arena.allocate(Timespec.BYTES, 8);

    /// A descriptor in the epoll set, and what it is: a socket or a port.
    private record Watched(
            int fd,
            int stamp,
            @Nullable Socket socket,
            @Nullable Port port) {}

    /// @throws LinkException when the system refuses
    LinuxTcpLink(List<GidEntry> addresses) {
        super(addresses);
        epoll = linux.watcher();
        spareFd = linux.eventCounter();
        int worst = Math.min(epoll, Math.min(bell.fd(), spareFd));
        if (worst < 0) {
            closeAll(epoll, spareFd);
            bell.close();
            arena.close();
            throw failed("epoll", -worst);
        }
    }

    private static void closeAll(int... fds) {
        for (int fd : fds) {
            if (fd >= 0) {
                LinuxSockets.close(fd);
            }
        }
    }

    // --- the set

    private int watch(int fd, @Nullable Socket socket, @Nullable Port port, int wanted) {
        Integer free = freeNumbers.poll();
        int number = free == null ? watched.size() : free;
        var entry = new Watched(fd, ++stamps, socket, port);
        if (free == null) {
            watched.add(entry);
        } else {
            watched.set(number, entry);
        }
        putEvent(number, wanted);
        int added = linux.watch(epoll, fd, event);
        if (added < 0) {
            unwatch(number);
            throw failed("epoll_ctl", -added);
        }
        return number;
    }

    private void rewatch(int number, int wanted) {
        Watched entry = watched.get(number);
        if (entry != null) {
            putEvent(number, wanted);
            int _ = linux.rewatch(epoll, entry.fd, event);
        }
    }

    private void putEvent(int number, int wanted) {
        Watched entry = watched.get(number);
        int stamp = entry == null ? 0 : entry.stamp;
        event.set(JAVA_INT, EpollEvent.EVENTS, wanted);
        event.set(JAVA_INT, EpollEvent.DATA, number);
        event.set(JAVA_INT, EpollEvent.DATA + 4L, stamp);
    }

    // The descriptor leaves the set when it is closed.
    private void unwatch(int number) {
        watched.set(number, null);
        freeNumbers.add(number);
    }

    // --- moving

    @Override
    public int move(long now) {
        if (closed) {
            return 0;
        }
        int done = 0;
        for (Socket socket = stillborn.poll(); socket != null; socket = stillborn.poll()) {
            try {
                socket.breakUp(socket.failedAtOnce, now);
            } catch (RuntimeException | Error e) {
                socket.contain(e, now);
            }
            done++;
        }
        int ready = LinuxSockets.ready(epoll, events, EVENTS_MAX);
        for (int i = 0; i < ready; i++) {
            long at = (long) i * EpollEvent.BYTES;
            Watched entry = watched.get(events.get(JAVA_INT, at + EpollEvent.DATA));
            if (entry == null || entry.stamp != events.get(JAVA_INT, at + EpollEvent.DATA + 4)) {
                continue; // closed by what came before it
            }
            done++;
            Socket socket = entry.socket;
            if (socket != null) {
                try {
                    socket.onEvents(events.get(JAVA_INT, at + EpollEvent.EVENTS), now);
                } catch (RuntimeException | Error e) {
                    socket.contain(e, now);
                }
            } else if (entry.port != null) {
                entry.port.accept(now);
            }
        }
        return done;
    }

    // --- streams

    @Override
    public TcpSocket connect(@Nullable TcpPort from, Gid local, Gid remote, int port, StreamHandler handler) {
        int fd = from instanceof Port own ? own.takeSocket() : openSocket(local);
        try {
            if (from == null) {
                // Otherwise a port would be taken that no other connection can have, whoever its peer is.
                int _ = linux.setOption(fd, LinuxAbi.IPPROTO_IP, LinuxAbi.IP_BIND_ADDRESS_NO_PORT, 1);
                requireBound(bindTo(fd, local, 0), local, 0);
            }
            tune(fd);
            int result = linux.connect(fd, address(remote, port, scopeOf(local)));
            var made = new Socket(fd, remote, port, false);
            made.handler(handler);
            if (result < 0 && result != -LinuxAbi.EINPROGRESS) {
                made.failedAtOnce = -result;
                stillborn.add(made);
                wakeup();
            } else {
                made.number = watch(fd, made, null, LinuxAbi.EPOLLOUT);
            }
            onConnecting(made);
            return made;
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    private int openSocket(Gid local) {
        int fd = linux.streamSocket(local.isIpv4() ? LinuxAbi.AF_INET : LinuxAbi.AF_INET6);
        if (fd < 0) {
            throw failed("socket", -fd);
        }
        if (!local.isIpv4()) {
            int _ = linux.setOption(fd, LinuxAbi.IPPROTO_IPV6, LinuxAbi.IPV6_V6ONLY, 1);
        }
        return fd;
    }

    private void tune(int fd) {
        // An FPDU that waits for a full segment waits for the peer's delayed acknowledgement.
        int _ = linux.setOption(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_NODELAY, 1);
        int _ = linux.setOption(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_USER_TIMEOUT, UNANSWERED_MILLIS_MAX);
    }

    private int bindTo(int fd, Gid local, int port) {
        return linux.bind(fd, address(local, port, scopeOf(local)));
    }

    private MemorySegment address(Gid gid, int port, int scopeId) {
        return name.asSlice(0, MessageBlock.putAddress(name, 0, gid.high(), gid.low(), port, scopeId));
    }

    // The interface of a link-local address.
    private int scopeOf(Gid local) {
        return local.isLinkLocal()
                ? gids().stream()
                        .filter(entry -> entry.gid().equals(local))
                        .mapToInt(GidEntry::interfaceIndex)
                        .findFirst()
                        .orElse(0)
                : 0;
    }

    private static void requireBound(int result, Gid local, int port) {
        if (result < 0) {
            throw new LinkException(
                    switch (-result) {
                        case LinuxAbi.EADDRINUSE -> LinkException.Kind.PORT_IN_USE;
                        case LinuxAbi.EADDRNOTAVAIL, LinuxAbi.EINVAL, LinuxAbi.ENODEV ->
                            LinkException.Kind.ADDRESS_NOT_LOCAL;
                        case LinuxAbi.EPERM, LinuxAbi.EACCES -> LinkException.Kind.NOT_PERMITTED;
                        case LinuxAbi.EAFNOSUPPORT -> LinkException.Kind.UNSUPPORTED;
                        default -> LinkException.Kind.FAILED;
                    },
                    "TCP port " + port + " at " + local + ": " + LinuxSockets.message(-result));
        }
    }

    private static LinkException failed(String what, int errno) {
        return new LinkException(LinkException.Kind.FAILED, what + ": " + LinuxSockets.message(errno));
    }

    @Override
    void forget(TcpSocket socket) {
        if (socket instanceof Socket ours) {
            stillborn.remove(ours);
        }
    }

    @Override
    List<Socket> sockets() {
        var all = new ArrayList<>(stillborn);
        for (Watched entry : watched) {
            if (entry != null && entry.socket != null) {
                all.add(entry.socket);
            }
        }
        return all;
    }

    final class Socket extends TcpSocket {
        private final int fd;
        /// In the set; -1 when it is not.
        private int number = -1;
        /// An end that is read from now on is none in order.
        private boolean wasBroken;
        /// Why it could not even begin.
        private int failedAtOnce;

        Socket(int fd, Gid remote, int remotePort, boolean isConnected) {
            super(LinuxTcpLink.this, remote, remotePort, isConnected);
            this.fd = fd;
        }

        private void onEvents(int seen, long now) {
            int error = (seen & LinuxAbi.EPOLLERR) == 0 ? 0 : linux.option(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_ERROR);
            if (!isConnected()) {
                if ((seen & (LinuxAbi.EPOLLERR | LinuxAbi.EPOLLHUP)) != 0) {
                    breakUp(error, now);
                    return;
                }
                rewatch(number, LinuxAbi.EPOLLIN);
                onConnected(now);
                return;
            }
            if ((seen & LinuxAbi.EPOLLOUT) != 0) {
                onRoom(now);
            }
            // What has come before the stream broke still counts: a TERMINATE, for instance.
            if (!isClosed() && (seen & ~LinuxAbi.EPOLLOUT) != 0) {
                wasBroken |= error != 0 || (!isEnding() && (seen & LinuxAbi.EPOLLHUP) != 0);
                onReadable(now);
            }
            if (!isClosed() && (seen & (LinuxAbi.EPOLLERR | LinuxAbi.EPOLLHUP)) != 0) {
                breakUp(error, now);
            }
        }

        private void breakUp(int error, long now) {
            String to = remote() + " port " + remotePort();
            switch (error) {
                case LinuxAbi.ECONNREFUSED -> break_(StreamHandler.Cause.REFUSED, "nobody listens at " + to, now);
                case LinuxAbi.ETIMEDOUT ->
                    break_(
                            isConnected() ? StreamHandler.Cause.RESET : StreamHandler.Cause.UNREACHABLE,
                            to + " does not answer any more",
                            now);
                case 0, LinuxAbi.ECONNRESET, LinuxAbi.EPIPE ->
                    break_(StreamHandler.Cause.RESET, to + " has broken the TCP connection off", now);
                default ->
                    break_(
                            isConnected() ? StreamHandler.Cause.RESET : StreamHandler.Cause.UNREACHABLE,
                            to + ": " + LinuxSockets.message(error),
                            now);
            }
        }

        @Override
        long read(StreamBuffer buffer, int from, int to) {
            vectors.set(JAVA_LONG, Iovec.IOV_BASE, buffer.segment.address() + from);
            vectors.set(JAVA_LONG, Iovec.IOV_LEN, to - from);
            return orBroken(LinuxSockets.readScattered(fd, vectors, 1, MemorySegment.NULL));
        }

        @Override
        long read(StreamTarget first, StreamBuffer then, int from, int to) {
            vectors.set(JAVA_LONG, Iovec.IOV_BASE, first.segment.address() + first.offset);
            vectors.set(JAVA_LONG, Iovec.IOV_LEN, first.bytes);
            vectors.set(JAVA_LONG, Iovec.BYTES + Iovec.IOV_BASE, then.segment.address() + from);
            vectors.set(JAVA_LONG, Iovec.BYTES + Iovec.IOV_LEN, to - from);
            return orBroken(LinuxSockets.readScattered(fd, vectors, 2, first.segment));
        }

        // The end that follows an error is not the end that the peer meant.
        private long orBroken(long n) {
            return n == 0 && wasBroken ? -1 : n;
        }

        @Override
        long send(StreamBuffer bytes, int from, int to) {
            putVector(0, bytes.segment, from, to - from);
            return sendVectors(1, MemorySegment.NULL, MemorySegment.NULL, MemorySegment.NULL);
        }

        /// At most three segments are kept alive by one call; what names more goes in several.
        @Override
        long send(StreamOutput output) {
            long sent = 0;
            for (int i = 0; i < output.count(); ) {
                MemorySegment a = MemorySegment.NULL;
                MemorySegment b = MemorySegment.NULL;
                MemorySegment c = MemorySegment.NULL;
                int n = 0;
                long bytes = 0;
                for (; i < output.count() && n < PIECES_MAX; i++) {
                    MemorySegment from = output.segment(i);
                    if (!from.equals(own.segment) && !from.equals(a) && !from.equals(b) && !from.equals(c)) {
                        if (a.equals(MemorySegment.NULL)) {
                            a = from;
                        } else if (b.equals(MemorySegment.NULL)) {
                            b = from;
                        } else if (c.equals(MemorySegment.NULL)) {
                            c = from;
                        } else {
                            break;
                        }
                    }
                    putVector(n++, from, output.offset(i), output.length(i));
                    bytes += output.length(i);
                }
                long taken = sendVectors(n, a, b, c);
                if (taken < bytes) {
                    return taken < 0 && sent == 0 ? taken : sent + Math.max(0, taken);
                }
                sent += taken;
            }
            return sent;
        }

        private void putVector(int i, MemorySegment segment, long offset, int bytes) {
            vectors.set(JAVA_LONG, (long) i * Iovec.BYTES + Iovec.IOV_BASE, segment.address() + offset);
            vectors.set(JAVA_LONG, (long) i * Iovec.BYTES + Iovec.IOV_LEN, bytes);
        }

        private long sendVectors(int count, MemorySegment a, MemorySegment b, MemorySegment c) {
            message.set(JAVA_LONG, Msghdr.MSG_IOV, vectors.address());
            message.set(JAVA_LONG, Msghdr.MSG_IOVLEN, count);
            long sent = linux.sendGathered(fd, message, a, b, c);
            if (sent >= 0) {
                return sent;
            }
            return switch ((int) -sent) {
                case LinuxAbi.EAGAIN, LinuxAbi.EINTR, LinuxAbi.ENOBUFS, LinuxAbi.ENOMEM -> 0;
                case LinuxAbi.EPIPE, LinuxAbi.ECONNRESET, LinuxAbi.ETIMEDOUT, LinuxAbi.EHOSTUNREACH -> -1;
                default -> throw failed("send", (int) -sent);
            };
        }

        @Override
        void watch(boolean arrivals, boolean room) {
            rewatch(number, (arrivals ? LinuxAbi.EPOLLIN : 0) | (room ? LinuxAbi.EPOLLOUT : 0));
        }

        @Override
        void endOutput() {
            int _ = linux.shutdown(fd, LinuxAbi.SHUT_WR);
        }

        @Override
        public InetSocketAddress localAddress() {
            findName(fd);
            return new InetSocketAddress(named().address(), BigEndian.u16(name, SockaddrIn.SIN_PORT));
        }

        @Override
        public int segmentBytes() {
            return linux.option(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_MAXSEG);
        }

        @Override
        public void keepAlive(int seconds) {
            int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_KEEPALIVE, seconds > 0 ? 1 : 0);
            if (seconds > 0) {
                int _ = linux.setOption(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_KEEPIDLE, seconds);
                int _ = linux.setOption(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_KEEPINTVL, 1);
                int _ = linux.setOption(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_KEEPCNT, KEEP_ALIVE_PROBES);
            }
        }

        @Override
        void release(boolean reset) {
            if (reset) {
                linger.set(JAVA_INT, Linger.L_ONOFF, 1);
                linger.set(JAVA_INT, Linger.L_LINGER, 0);
                int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_LINGER, linger);
            }
            if (number >= 0) {
                unwatch(number);
                number = -1;
            }
            LinuxSockets.close(fd);
            countClosed(reset);
        }
    }

    // --- ports

    @Override
    public TcpPort bind(Gid local, int port) {
        int fd = openSocket(local);
        try {
            // What is left of connections of before does not keep the port.
            int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_REUSEADDR, 1);
            requireBound(bindTo(fd, local, port), local, port);
            findName(fd);
            return new Port(fd, local, BigEndian.u16(name, SockaddrIn.SIN_PORT)); // for IPv6 at the same place
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    private void findName(int fd) {
        nameLength.set(JAVA_INT, 0, SockaddrIn6.BYTES);
        int named = linux.name(fd, name, nameLength);
        if (named < 0) {
            throw failed("getsockname", -named);
        }
    }

    final class Port extends TcpPort {
        /// -1 when a stream has it.
        private int fd;

        private int number = -1;

        Port(int fd, Gid local, int port) {
            super(local, port);
            this.fd = fd;
        }

        @Override
        void begin() {
            requireBound(linux.listen(fd, LISTEN_BACKLOG), local(), number());
            number = watch(fd, null, this, LinuxAbi.EPOLLIN);
        }

        private int takeSocket() {
            int taken = fd;
            fd = -1;
            return taken >= 0 ? taken : openSocket(local());
        }

        private void accept(long now) {
            for (int i = 0; i < ACCEPTS_MAX && fd >= 0; i++) {
                nameLength.set(JAVA_INT, 0, SockaddrIn6.BYTES);
                int accepted = LinuxSockets.accept(fd, name, nameLength);
                if (accepted < 0) {
                    if (i == 0) {
                        refuseOne();
                    }
                    return;
                }
                var from = named();
                var socket = new Socket(accepted, from, BigEndian.u16(name, SockaddrIn.SIN_PORT), true);
                onAccepted(socket);
                tune(accepted);
                try {
                    socket.number = watch(accepted, socket, null, LinuxAbi.EPOLLIN);
                } catch (LinkException e) {
                    socket.close(true);
                    return;
                }
                accepted(socket, now);
            }
        }

        /// Somebody waits, and this process has no descriptor left: without one the port would never be quiet
        /// again.
        private void refuseOne() {
            if (spareFd >= 0) {
                LinuxSockets.close(spareFd);
            }
            closeAll(LinuxSockets.accept(fd));
            spareFd = linux.eventCounter();
        }

        @Override
        public void close() {
            if (number >= 0) {
                unwatch(number);
                number = -1;
            }
            if (fd >= 0) {
                LinuxSockets.close(fd);
                fd = -1;
            }
        }
    }

    // The address that the system has put into `name`.
    private Gid named() {
        if (name.get(JAVA_SHORT, SockaddrIn.SIN_FAMILY) == LinuxAbi.AF_INET) {
            return new Gid(0, 0xFFFFL << 32 | BigEndian.u32(name, SockaddrIn.SIN_ADDR));
        }
        return new Gid(BigEndian.i64(name, SockaddrIn6.SIN6_ADDR), BigEndian.i64(name, SockaddrIn6.SIN6_ADDR + 8L));
    }

    // --- sleeping

    @Override
    public void await(long timeoutNanos) {
        isSleeping = true; // before closed is read: the closer writes that first and then reads this
        try {
            if (closed || !signal.sleep()) {
                return;
            }
            try {
                if (timeoutNanos != 0) {
                    sleep(timeoutNanos);
                }
            } finally {
                signal.awake();
            }
        } finally {
            isSleeping = false;
        }
    }

    private void sleep(long timeoutNanos) {
        MemorySegment limit = MemorySegment.NULL;
        if (timeoutNanos > 0) {
            limit = timeout;
            timeout.set(JAVA_LONG, Timespec.TV_SEC, timeoutNanos / NANOS_PER_SECOND);
            timeout.set(JAVA_LONG, Timespec.TV_NSEC, timeoutNanos % NANOS_PER_SECOND);
        }
        watchAsleep(0, epoll);
        watchAsleep(Pollfd.BYTES, bell.fd());
        if (LinuxSockets.poll(sleepfds, 2, limit) > 0 && sleepfds.get(JAVA_SHORT, Pollfd.BYTES + Pollfd.REVENTS) != 0) {
            bell.clear();
        }
    }

    private void watchAsleep(long at, int fd) {
        sleepfds.set(JAVA_INT, at + Pollfd.FD, fd);
        sleepfds.set(JAVA_SHORT, at + Pollfd.EVENTS, (short) LinuxAbi.POLLIN);
    }

    @Override
    public void wakeup() {
        if (signal.raise()) {
            bell.ring();
        }
    }

    /// As [Link#close()]; streams that are open are reset.
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        while (isSleeping) {
            bell.ring();
            LockSupport.parkNanos(CLOSE_RETRY_NANOS);
        }
        bell.close();
        for (Watched entry : watched.toArray(new Watched[0])) {
            if (entry != null && entry.socket != null) {
                entry.socket.closeAtLast();
            } else if (entry != null && entry.port != null) {
                entry.port.close();
            }
        }
        while (!stillborn.isEmpty()) {
            stillborn.peek().close(true);
        }
        closeAll(epoll, spareFd);
        arena.close();
    }
}

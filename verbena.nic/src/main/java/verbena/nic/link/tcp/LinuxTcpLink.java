package verbena.nic.link.tcp;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.EventCounter;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxAbi.Timespec;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.nic.link.EpollSet;
import verbena.nic.link.LinkException;
import verbena.nic.link.SocketFailure;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;

/// TCP through Linux system calls: one epoll(7) set for all sockets. The calls write straight from registered memory
/// and read straight into it; moving bytes allocates nothing.
public final class LinuxTcpLink extends TcpLink {
    private static final int NANOS_PER_SECOND = 1_000_000_000;
    /// The number of sockets that one piece of work serves; the others come first the next time.
    private static final int EVENTS_MAX = 64;

    /// The object that the kernel reports events of: a socket or a port.
    sealed interface Watched permits LinuxTcpSocket, LinuxTcpPort {
        /// Called when the kernel reports events.
        ///
        /// @param seen the events
        void onEvents(int seen, long now);
    }

    private final LinuxSockets linux = new LinuxSockets(arena);
    final LinuxTcpCalls calls = new LinuxTcpCalls(linux, arena);
    final EpollSet<Watched> watched = new EpollSet<>(linux, arena, EVENTS_MAX);
    private final EventCounter bell = new EventCounter(linux, arena);
    /// A spare descriptor, given up for a moment to accept and refuse a connection when no other descriptor is
    /// left.
    private int spareFd;

    // Used by the sleeping thread only.
    private final MemorySegment sleepfds = arena.allocate(2L * Pollfd.BYTES, 8);
    private final MemorySegment timeout = arena.allocate(Timespec.BYTES, 8);

    /// @throws LinkException when the system refuses
    LinuxTcpLink(List<GidEntry> addresses) {
        super(addresses);
        spareFd = linux.eventCounter();
        int worst = Math.min(watched.fd(), Math.min(bell.fd(), spareFd));
        if (worst < 0) {
            release();
            arena.close();
            throw SocketFailure.of("epoll", -worst);
        }
    }

    // --- moving

    @Override
    int moveWatched(long now) {
        int done = 0;
        int ready = watched.ready();
        for (int i = 0; i < ready; i++) {
            Watched one = watched.owner(i);
            if (one != null) { // null: an earlier event has closed it
                one.onEvents(watched.seen(i), now);
                done++;
            }
        }
        return done;
    }

    /// Adds a descriptor to the set; returns its number there.
    ///
    /// @throws LinkException when the system can watch no more descriptors
    int watch(int fd, Watched one, int wanted) {
        int number = watched.add(fd, one, wanted);
        if (number < 0) {
            throw SocketFailure.of("epoll_ctl", -number);
        }
        return number;
    }

    @Override
    List<LinuxTcpSocket> watchedSockets() {
        var all = new ArrayList<LinuxTcpSocket>();
        watched.forEach(one -> {
            if (one instanceof LinuxTcpSocket socket) {
                all.add(socket);
            }
        });
        return all;
    }

    @Override
    List<LinuxTcpPort> listeningPorts() {
        var all = new ArrayList<LinuxTcpPort>();
        watched.forEach(one -> {
            if (one instanceof LinuxTcpPort port) {
                all.add(port);
            }
        });
        return all;
    }

    // --- streams and ports

    @Override
    public TcpSocket connect(@Nullable TcpPort from, Gid local, Gid remote, int port, StreamHandler handler) {
        int fd = from instanceof LinuxTcpPort own ? own.takeSocket() : calls.open(local);
        try {
            if (from == null) {
                calls.bindToAddress(fd, local, scopeOf(local));
            }
            calls.tune(fd);
            int result = calls.connect(fd, remote, port, scopeOf(local));
            var made = new LinuxTcpSocket(this, fd, remote, port, false);
            made.handler(handler);
            boolean hasFailed = result < 0 && result != -LinuxAbi.EINPROGRESS;
            if (hasFailed) {
                made.failed(-result);
            } else {
                made.begin(LinuxAbi.EPOLLOUT);
            }
            onConnecting(made, hasFailed);
            return made;
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    @Override
    public TcpPort bind(Gid local, int port) {
        int fd = calls.open(local);
        try {
            calls.bindToPort(fd, local, port, scopeOf(local));
            return new LinuxTcpPort(this, fd, local, calls.name(fd).getPort());
        } catch (LinkException e) {
            LinuxSockets.close(fd);
            throw e;
        }
    }

    private int scopeOf(Gid local) {
        return local.isLinkLocal() ? interfaceOf(local) : 0;
    }

    /// Accepts a connection with the spare descriptor and breaks it off, because this process has no other
    /// descriptor. Otherwise the port would report the connection for ever.
    void refuseOne(int listening) {
        if (spareFd >= 0) {
            LinuxSockets.close(spareFd);
        }
        int refused = LinuxSockets.accept(listening);
        if (refused >= 0) {
            LinuxSockets.close(refused);
        }
        spareFd = linux.eventCounter();
    }

    // --- sleeping

    @Override
    void sleep(long timeoutNanos) {
        MemorySegment limit = MemorySegment.NULL;
        if (timeoutNanos > 0) {
            limit = timeout;
            timeout.set(JAVA_LONG, Timespec.TV_SEC, timeoutNanos / NANOS_PER_SECOND);
            timeout.set(JAVA_LONG, Timespec.TV_NSEC, timeoutNanos % NANOS_PER_SECOND);
        }
        Pollfds.watch(sleepfds, 0, watched.fd(), LinuxAbi.POLLIN);
        Pollfds.watch(sleepfds, 1, bell.fd(), LinuxAbi.POLLIN);
        if (LinuxSockets.poll(sleepfds, 2, limit) > 0 && Pollfds.isReadable(sleepfds, 1)) {
            bell.clear();
        }
    }

    @Override
    void ring() {
        bell.ring();
    }

    @Override
    void release() {
        bell.close();
        watched.close();
        if (spareFd >= 0) {
            LinuxSockets.close(spareFd);
        }
    }
}

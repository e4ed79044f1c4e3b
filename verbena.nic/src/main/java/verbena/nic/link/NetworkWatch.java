package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxAbi.SockaddrNl;
import verbena.foreign.linux.LinuxSockets;

/// Tells when this host's network changes: an interface goes up or down, an address comes or goes (rtnetlink(7)).
/// There is one thread for the whole process, asleep in the kernel; none while nothing watches. Where there are no
/// Linux system calls ([UdpLinks#whyPortable()]), or the system does not let this process listen, nothing is ever
/// told.
public final class NetworkWatch {
    private static final int BUFFER_BYTES = 1 << 15;

    private static final Object LOCK = new Object();
    private static final List<Runnable> WATCHERS = new CopyOnWriteArrayList<>();
    private static @Nullable Listener listener; // under the lock

    private NetworkWatch() {}

    /// Has `onChange` called after every change, on the watch's own thread, until [#remove(Runnable)].
    public static void add(Runnable onChange) {
        synchronized (LOCK) {
            WATCHERS.add(onChange);
            if (listener == null && UdpLinks.whyPortable() == null) {
                listener = Listener.start();
            }
        }
    }

    /// Ends that; a call under way may still come to its end.
    public static void remove(Runnable onChange) {
        synchronized (LOCK) {
            WATCHERS.remove(onChange);
            if (WATCHERS.isEmpty() && listener != null) {
                listener.stop();
                listener = null;
            }
        }
    }

    /// The socket and its thread. Linux only.
    private static final class Listener {
        private final Arena arena = Arena.ofShared();
        private final MemorySegment pollfds = arena.allocate(2L * Pollfd.BYTES, 8);
        private final MemorySegment buffer = arena.allocate(BUFFER_BYTES, 8);
        private final MemorySegment one = arena.allocate(JAVA_LONG);
        private final int socket;
        private final int bell;
        private volatile boolean stopping;

        private Listener(int socket, int bell) {
            this.socket = socket;
            this.bell = bell;
            one.set(JAVA_LONG, 0, 1);
            pollfds.set(JAVA_INT, Pollfd.FD, socket);
            pollfds.set(JAVA_SHORT, Pollfd.EVENTS, (short) LinuxAbi.POLLIN);
            pollfds.set(JAVA_INT, Pollfd.BYTES + Pollfd.FD, bell);
            pollfds.set(JAVA_SHORT, Pollfd.BYTES + Pollfd.EVENTS, (short) LinuxAbi.POLLIN);
        }

        /// Null when the system does not allow it.
        static @Nullable Listener start() {
            try (Arena call = Arena.ofConfined()) {
                var linux = new LinuxSockets(call);
                int socket = linux.netlinkSocket();
                int bell = socket < 0 ? -1 : linux.eventCounter();
                MemorySegment name = call.allocate(SockaddrNl.BYTES, 8);
                name.set(JAVA_SHORT, SockaddrNl.NL_FAMILY, (short) LinuxAbi.AF_NETLINK);
                name.set(
                        JAVA_INT,
                        SockaddrNl.NL_GROUPS,
                        LinuxAbi.RTMGRP_LINK | LinuxAbi.RTMGRP_IPV4_IFADDR | LinuxAbi.RTMGRP_IPV6_IFADDR);
                if (bell < 0 || linux.bind(socket, name) < 0) {
                    if (socket >= 0) {
                        LinuxSockets.close(socket);
                    }
                    if (bell >= 0) {
                        LinuxSockets.close(bell);
                    }
                    return null;
                }
                var made = new Listener(socket, bell);
                Thread.ofPlatform().daemon().name("verbena-network").start(made::run);
                return made;
            }
        }

        private void run() {
            while (!stopping) {
                int _ = LinuxSockets.poll(pollfds, 2, MemorySegment.NULL);
                // Also an error is news: there was so much that some was lost. What it is, is looked up anew by
                // those who care.
                boolean changed = pollfds.get(JAVA_SHORT, Pollfd.REVENTS) != 0;
                while (LinuxSockets.read(socket, buffer) > 0) {}
                if (changed && !stopping) {
                    WATCHERS.forEach(Runnable::run);
                }
            }
            synchronized (this) {
                LinuxSockets.close(socket);
                LinuxSockets.close(bell);
                arena.close();
            }
        }

        /// The thread gives everything back, soon.
        synchronized void stop() {
            LinuxSockets.addToEventCounter(bell, one);
            stopping = true;
        }
    }
}

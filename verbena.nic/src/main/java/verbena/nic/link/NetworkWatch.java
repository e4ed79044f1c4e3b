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

/// A watch that reports changes of this host's network: an interface goes up or down, an address comes or goes
/// (rtnetlink(7)). The whole process has one thread for this, which sleeps in the kernel; it has none while nothing
/// watches. Nothing is ever reported where there are no Linux system calls ([NativeAccess#whyPortable()]), or where
/// the system does not let this process listen.
public final class NetworkWatch {
    private static final int BUFFER_BYTES = 1 << 15;

    private static final Object LOCK = new Object();
    private static final List<Runnable> WATCHERS = new CopyOnWriteArrayList<>();
    private static @Nullable Listener listener; // under the lock

    private NetworkWatch() {}

    /// Calls `onChange` after every change, on the watch's own thread, until [#remove(Runnable)].
    public static void add(Runnable onChange) {
        synchronized (LOCK) {
            WATCHERS.add(onChange);
            if (listener == null && NativeAccess.whyPortable() == null) {
                listener = Listener.start();
            }
        }
    }

    /// Stops calling `onChange`; a call that is under way may still finish.
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

        /// Starts the listener; null when the system does not permit it.
        static @Nullable Listener start() {
            try (Arena call = Arena.ofConfined()) {
                var linux = new LinuxSockets(call);
                int socket = linux.netlinkSocket(LinuxAbi.NETLINK_ROUTE);
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
                // An error is a change too: some changes were lost because there were too many.
                // Listeners look up the new state themselves.
                boolean changed = pollfds.get(JAVA_SHORT, Pollfd.REVENTS) != 0;
                while (LinuxSockets.read(socket, buffer) > 0) {}
                if (changed && !stopping) {
                    WATCHERS.forEach(Listener::tell);
                }
            }
            synchronized (this) {
                LinuxSockets.close(socket);
                LinuxSockets.close(bell);
                arena.close();
            }
        }

        private static void tell(Runnable watcher) {
            try {
                watcher.run();
            } catch (OutOfMemoryError e) {
                // it misses this change; the others do not
            }
        }

        /// Makes the thread release everything soon.
        synchronized void stop() {
            LinuxSockets.addToEventCounter(bell, one);
            stopping = true;
        }
    }
}

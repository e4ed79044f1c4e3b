package verbena.nic.link.ethernet;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import verbena.foreign.linux.EventCounter;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.Pollfds;
import verbena.foreign.linux.SleepTimer;
import verbena.nic.link.LinkException;
import verbena.nic.link.NativeAccess;
import verbena.nic.link.SocketFailure;

/// Ethernet interfaces of Linux whose cables end in this process (the kernel's TUN/TAP driver): it reads what their
/// hosts send, and writes what they receive. The kernel makes them in this process's network namespace, from where
/// they can be moved to another. They go when this process ends.
///
/// A host whose frames are not read keeps some hundreds of them, and then its programs wait, as with a card that its
/// switch has paused.
///
/// For one thread, but for [#wakeup()].
public final class TapPorts implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final LinuxSockets linux = new LinuxSockets(arena);
    private final EventCounter bell;
    private final SleepTimer timer;
    private final int[] fds;
    private final MemorySegment pollfds;

    /// Makes interfaces with these names.
    ///
    /// @throws LinkException when the system does not permit it; it needs CAP_NET_ADMIN in this network namespace
    public static TapPorts open(List<String> names) {
        String why = NativeAccess.whyPortable();
        if (why != null) {
            throw new LinkException(LinkException.Kind.UNSUPPORTED, "TAP interfaces: " + why);
        }
        return new TapPorts(names);
    }

    private TapPorts(List<String> names) {
        for (String name : names) {
            if (name.isEmpty() || name.length() >= LinuxAbi.IFNAMSIZ) {
                throw new IllegalArgumentException(
                        "names: '" + name + "' is not 1 to " + (LinuxAbi.IFNAMSIZ - 1) + " characters");
            }
        }
        fds = new int[names.size()];
        bell = new EventCounter(linux, arena);
        timer = new SleepTimer(linux, arena);
        pollfds = arena.allocate((fds.length + 2L) * Pollfd.BYTES, 8);
        int opened = 0;
        try {
            if (bell.fd() < 0 || timer.fd() < 0) {
                throw SocketFailure.of("eventfd, timerfd", -Math.min(bell.fd(), timer.fd()));
            }
            for (String name : names) {
                int fd = linux.tap(name, arena);
                if (fd < 0) {
                    throw refused(name, -fd);
                }
                fds[opened++] = fd;
            }
        } finally {
            if (opened < fds.length) {
                close(opened);
            }
        }
    }

    private static LinkException refused(String name, int errno) {
        boolean isForbidden = errno == LinuxAbi.EPERM || errno == LinuxAbi.EACCES;
        return new LinkException(
                isForbidden ? LinkException.Kind.NOT_PERMITTED : LinkException.Kind.FAILED,
                "TAP interface " + name + " by /dev/net/tun: " + LinuxSockets.message(errno));
    }

    /// Reads the next frame that a host has sent; returns its length without check sequence, or -1 when there is
    /// none.
    public int read(int port, MemorySegment into) {
        return (int) LinuxSockets.read(fds[port], into);
    }

    /// Hands a frame to a host; false when it has no room, or its interface is down.
    ///
    /// @param length how many bytes from the beginning of `frame`
    public boolean write(int port, MemorySegment frame, int length) {
        return LinuxSockets.write(fds[port], frame, length) == length;
    }

    /// Sleeps until a host has sent something, the time is over, or [#wakeup()]. May return early.
    ///
    /// @param timeoutNanos negative for no limit
    /// @param listens      to which hosts, by port; the others may wait
    public void await(long timeoutNanos, boolean[] listens) {
        int count = 0;
        Pollfds.watch(pollfds, count++, bell.fd(), LinuxAbi.POLLIN);
        if (timeoutNanos >= 0) {
            timer.set(System.nanoTime(), Math.max(1, timeoutNanos));
            Pollfds.watch(pollfds, count++, timer.fd(), LinuxAbi.POLLIN);
        }
        for (int i = 0; i < fds.length; i++) {
            if (listens[i]) {
                Pollfds.watch(pollfds, count++, fds[i], LinuxAbi.POLLIN);
            }
        }
        int _ = LinuxSockets.poll(pollfds, count, MemorySegment.NULL); // a signal may end it early
        if (Pollfds.isReadable(pollfds, 0)) {
            bell.clear();
        }
        if (timeoutNanos >= 0 && Pollfds.isReadable(pollfds, 1)) {
            timer.clear();
        }
    }

    /// Ends the sleep under way, or the next. Any thread.
    public void wakeup() {
        bell.ring();
    }

    @Override
    public void close() {
        close(fds.length);
    }

    private void close(int opened) {
        for (int i = 0; i < opened; i++) {
            LinuxSockets.close(fds[i]);
        }
        bell.close();
        timer.close();
        arena.close();
    }
}

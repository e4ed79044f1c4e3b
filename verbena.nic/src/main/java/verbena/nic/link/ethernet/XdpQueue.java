package verbena.nic.link.ethernet;

import java.lang.foreign.Arena;
import java.util.concurrent.locks.LockSupport;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.XdpSocket;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;

/// An AF_XDP socket, and the queue of an interface that it takes.
final class XdpQueue {
    private static final long QUEUE_FREED_NANOS = 2_000_000_000;
    private static final long QUEUE_RETRY_NANOS = 1_000_000;
    private static final int MEBIBYTE = 1 << 20;

    private final HostInterface host;
    private final XdpSocket.Size size;
    private final int number;
    private final boolean pollsBusily;
    private final XdpSocket socket;
    private boolean isBound;

    /// Makes the socket, which has no queue yet.
    ///
    /// @param number of the queue
    /// @param arena to be closed after the socket
    /// @throws LinkException when the system does not permit it
    XdpQueue(
            LinuxSockets linux, Arena arena, HostInterface host, XdpSocket.Size size, int number, boolean pollsBusily) {
        this.host = host;
        this.size = size;
        this.number = number;
        this.pollsBusily = pollsBusily;
        try {
            socket = XdpSocket.open(linux, size, arena);
        } catch (XdpSocket.RefusedException e) {
            throw refused(e);
        }
    }

    XdpSocket socket() {
        return socket;
    }

    int number() {
        return number;
    }

    /// Takes the queue, once. For one thread at a time, while another may look for frames.
    ///
    /// @throws LinkException when another socket has the queue, or the system does not permit it
    void bind() {
        try {
            if (!isBound) {
                awaitQueue();
                isBound = true;
                if (pollsBusily) {
                    socket.pollBusily();
                }
            }
        } catch (XdpSocket.RefusedException e) {
            throw refused(e);
        }
    }

    /// Binds the socket. The kernel gives a queue free some time after the last socket there was closed, also
    /// when its process has been killed; so a queue that is taken is tried for a while.
    private void awaitQueue() throws XdpSocket.RefusedException {
        long end = System.nanoTime() + QUEUE_FREED_NANOS;
        while (true) {
            try {
                socket.bind(host.index(), number);
                return;
            } catch (XdpSocket.RefusedException e) {
                if (e.error() != LinuxAbi.EBUSY || System.nanoTime() - end > 0) {
                    throw e;
                }
                LockSupport.parkNanos(QUEUE_RETRY_NANOS);
            }
        }
    }

    /// Returns the failure, with the right or setting that is missing and advice.
    private LinkException refused(XdpSocket.RefusedException e) {
        LinkException.Kind kind = LinkException.Kind.FAILED;
        String advice = "";
        switch (e.error()) {
            case LinuxAbi.EPERM, LinuxAbi.EACCES -> {
                kind = LinkException.Kind.NOT_PERMITTED;
                advice = ". It needs CAP_NET_RAW: run as root.";
            }
            case LinuxAbi.EAFNOSUPPORT -> {
                kind = LinkException.Kind.UNSUPPORTED;
                advice = ". This kernel has no AF_XDP (CONFIG_XDP_SOCKETS).";
            }
            case LinuxAbi.ENOBUFS ->
                advice = ". It locks " + (size.lockedBytes() + MEBIBYTE - 1) / MEBIBYTE
                        + " MiB of memory: raise the limit (ulimit -l), or give it CAP_IPC_LOCK.";
            case LinuxAbi.ENOPROTOOPT -> {
                kind = LinkException.Kind.UNSUPPORTED;
                advice = ". busy-poll=on needs Linux 5.11, with CONFIG_NET_RX_BUSY_POLL.";
            }
            case LinuxAbi.EBUSY ->
                advice = ". Another program has queue " + number + "; the option queue= names another.";
            case LinuxAbi.EINVAL, LinuxAbi.EOPNOTSUPP -> {
                kind = LinkException.Kind.UNSUPPORTED;
                advice = number > 0
                        ? ". Is there a queue " + number + "? (ethtool -l " + host.name()
                                + " tells how many there are.)"
                        : size.inPieces()
                                ? ". Frames of this size come in pieces, for which it needs Linux 6.6 and a driver that has"
                                        + " them: ip link set " + host.name() + " mtu 3500, or link=raw."
                                : ". It needs Linux 5.9 and a driver of Ethernet; link=raw does without.";
            }
            default -> {}
        }
        return new LinkException(kind, "AF_XDP on " + host.name() + ": " + e.getMessage() + advice, e);
    }
}

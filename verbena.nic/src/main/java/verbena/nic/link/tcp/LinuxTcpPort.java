package verbena.nic.link.tcp;

import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.LinkException;
import verbena.verbs.Gid;

/// A port of a [LinuxTcpLink].
final class LinuxTcpPort extends TcpPort implements LinuxTcpLink.Watched {
    /// The number of streams that one piece of work accepts.
    private static final int ACCEPTS_MAX = 64;

    private static final int NONE = -1;

    private final LinuxTcpLink link;
    /// The bound socket; NONE when a stream has taken it, or when the port is closed.
    private int fd;
    /// The number of the port in the epoll set.
    private int watched = NONE;

    LinuxTcpPort(LinuxTcpLink link, int fd, Gid local, int port) {
        super(local, port);
        this.link = link;
        this.fd = fd;
    }

    @Override
    void begin() {
        link.calls.listen(fd, local(), number());
        watched = link.watch(fd, this, LinuxAbi.EPOLLIN);
    }

    /// Returns the bound socket, for a stream that begins at this port.
    int takeSocket() {
        assert watched == NONE : "the port listens";
        int taken = fd;
        fd = NONE;
        return taken >= 0 ? taken : link.calls.open(local());
    }

    @Override
    public void onEvents(int seen, long now) {
        for (int i = 0; i < ACCEPTS_MAX && fd >= 0; i++) {
            int accepted = link.calls.accept(fd);
            if (accepted < 0) {
                if (i == 0) {
                    link.refuseOne(fd);
                }
                return;
            }
            var socket = new LinuxTcpSocket(link, accepted, link.calls.acceptedGid(), link.calls.acceptedPort(), true);
            link.onAccepted(socket);
            link.calls.tune(accepted);
            try {
                socket.begin(LinuxAbi.EPOLLIN);
            } catch (LinkException e) {
                socket.close(true);
                return;
            }
            accepted(socket, now);
        }
    }

    @Override
    public void close() {
        if (watched != NONE) {
            link.watched.remove(watched);
            watched = NONE;
        }
        if (fd >= 0) {
            LinuxSockets.close(fd);
            fd = NONE;
        }
    }
}

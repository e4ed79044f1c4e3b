package verbena.nic.link.tcp;

import java.net.InetSocketAddress;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.transport.iwarp.StreamTarget;
import verbena.verbs.Gid;

/// A stream of a [LinuxTcpLink].
final class LinuxTcpSocket extends TcpSocket implements LinuxTcpLink.Watched {
    private static final int NOT_WATCHED = -1;

    private final LinuxTcpLink link;
    private final LinuxTcpCalls calls;
    private final int fd;
    /// The number of the socket in the epoll set.
    private int number = NOT_WATCHED;
    /// Whether an error was reported: an end of the stream that is read from now on is not an orderly end.
    private boolean wasBroken;
    /// The reason for which the stream broke, an errno.
    private int error;

    LinuxTcpSocket(LinuxTcpLink link, int fd, Gid remote, int remotePort, boolean isConnected) {
        super(link.host(), remote, remotePort, isConnected);
        this.link = link;
        this.calls = link.calls;
        this.fd = fd;
    }

    /// Starts to watch the socket.
    ///
    /// @throws verbena.nic.link.LinkException when the system can watch no more descriptors
    void begin(int wanted) {
        assert number == NOT_WATCHED;
        number = link.watch(fd, this, wanted);
    }

    /// Breaks the stream for this reason.
    void failed(int errno) {
        error = errno;
    }

    @Override
    public void onEvents(int seen, long now) {
        try {
            onSeen(seen, now);
        } catch (RuntimeException | Error e) {
            contain(e, now);
        }
    }

    private void onSeen(int seen, long now) {
        boolean isBroken = (seen & (LinuxAbi.EPOLLERR | LinuxAbi.EPOLLHUP)) != 0;
        error = (seen & LinuxAbi.EPOLLERR) == 0 ? 0 : calls.takeError(fd);
        if (!isConnected()) {
            if (isBroken) {
                breakUp(now);
                return;
            }
            link.watched.change(number, LinuxAbi.EPOLLIN);
            onConnected(now);
            return;
        }
        int why = error;
        if ((seen & LinuxAbi.EPOLLOUT) != 0) {
            onRoom(now);
        }
        // Bytes that came before the stream broke still count: a TERMINATE, for instance.
        if (!isClosed() && (seen & ~LinuxAbi.EPOLLOUT) != 0) {
            wasBroken |= why != 0 || (!isEnding() && (seen & LinuxAbi.EPOLLHUP) != 0);
            onReadable(now);
        }
        if (!isClosed() && isBroken) {
            breakUp(now);
        }
    }

    @Override
    void breakUp(long now) {
        switch (error) {
            case LinuxAbi.ECONNREFUSED -> breakUp(true, null, now);
            case LinuxAbi.ETIMEDOUT -> breakUp(false, " does not answer any more", now);
            case 0, LinuxAbi.ECONNRESET, LinuxAbi.EPIPE -> breakUp(false, null, now);
            default -> breakUp(false, ": " + LinuxSockets.message(error), now);
        }
    }

    @Override
    long read(StreamBuffer buffer, int from, int to) {
        return orBroken(calls.read(fd, buffer.segment, from, to - from));
    }

    @Override
    long read(StreamTarget first, StreamBuffer then, int from, int to) {
        return orBroken(calls.read(fd, first.segment, first.offset, first.bytes, then.segment, from, to - from));
    }

    /// Treats an end of the stream after an error as an error: the peer did not mean to end the stream.
    private long orBroken(long n) {
        return n == 0 && wasBroken ? -1 : n;
    }

    @Override
    long send(StreamBuffer bytes, int from, int to) {
        return calls.send(fd, bytes.segment, from, to - from);
    }

    @Override
    long send(StreamOutput output) {
        return calls.send(fd, output, link.own.segment);
    }

    @Override
    void watch(boolean arrivals, boolean room) {
        link.watched.change(number, (arrivals ? LinuxAbi.EPOLLIN : 0) | (room ? LinuxAbi.EPOLLOUT : 0));
    }

    @Override
    void endOutput() {
        calls.endOutput(fd);
    }

    @Override
    public InetSocketAddress localAddress() {
        return calls.name(fd);
    }

    @Override
    public int segmentBytes() {
        return calls.segmentBytes(fd);
    }

    @Override
    public void keepAlive(int seconds) {
        calls.keepAlive(fd, seconds);
    }

    @Override
    void release(boolean reset) {
        if (reset) {
            calls.resetOnClose(fd);
        }
        if (number != NOT_WATCHED) {
            link.watched.remove(number);
            number = NOT_WATCHED;
        }
        link.countClosed(reset); // before the peer sees the end
        LinuxSockets.close(fd);
    }
}

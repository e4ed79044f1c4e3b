package verbena.nic.link.tcp;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Iovec;
import verbena.foreign.linux.LinuxAbi.Linger;
import verbena.foreign.linux.LinuxAbi.Msghdr;
import verbena.foreign.linux.LinuxAbi.SockaddrIn;
import verbena.foreign.linux.LinuxAbi.SockaddrIn6;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.LinkException;
import verbena.nic.link.MessageBlock;
import verbena.nic.link.SocketFailure;
import verbena.transport.iwarp.StreamOutput;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;

/// The system calls of TCP sockets, with the memory that they need: created once and used by all sockets of a link.
///
/// For one thread at a time.
final class LinuxTcpCalls {
    /// The number of segments that [#send] and [#read] keep alive besides the link's own memory: the call takes
    /// three.
    private static final int ALIVE_MAX = 3;

    private final LinuxSockets linux;
    private final MemorySegment name;
    private final MemorySegment nameLength;
    private final MemorySegment linger;
    private final MemorySegment message;
    private final MemorySegment vectors;
    private final MemorySegment[] alive = new MemorySegment[ALIVE_MAX];

    /// @param arena to be closed after the last call
    LinuxTcpCalls(LinuxSockets linux, Arena arena) {
        this.linux = linux;
        name = arena.allocate(SockaddrIn6.BYTES, 8);
        nameLength = arena.allocate(JAVA_INT);
        linger = arena.allocate(Linger.BYTES, 8);
        message = arena.allocate(Msghdr.BYTES, 8);
        vectors = arena.allocate((long) TcpLink.PIECES_MAX * Iovec.BYTES, 8);
    }

    // --- opening

    /// @throws LinkException when the system refuses
    int open(Gid local) {
        int fd = linux.streamSocket(local.isIpv4() ? LinuxAbi.AF_INET : LinuxAbi.AF_INET6);
        if (fd < 0) {
            throw SocketFailure.of("socket", -fd);
        }
        if (!local.isIpv4()) {
            int _ = linux.setOption(fd, LinuxAbi.IPPROTO_IPV6, LinuxAbi.IPV6_V6ONLY, 1);
        }
        return fd;
    }

    /// Sets the options of a socket for a connection.
    void tune(int fd) {
        // Without this, an FPDU that waits for a full segment waits for the peer's delayed acknowledgement.
        int _ = linux.setOption(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_NODELAY, 1);
        int _ = linux.setOption(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_USER_TIMEOUT, TcpLink.UNANSWERED_MILLIS_MAX);
    }

    /// Binds to an address; the system chooses the port when the connection begins.
    ///
    /// @throws LinkException when the address cannot be had
    void bindToAddress(int fd, Gid local, int scopeId) {
        // Without this, the socket takes a port that no other connection can have, whichever its peer.
        int _ = linux.setOption(fd, LinuxAbi.IPPROTO_IP, LinuxAbi.IP_BIND_ADDRESS_NO_PORT, 1);
        requireBound(linux.bind(fd, address(local, 0, scopeId)), local, 0);
    }

    /// @param port 0 for any that is free
    /// @throws LinkException when the port cannot be had
    void bindToPort(int fd, Gid local, int port, int scopeId) {
        // Remains of earlier connections do not block the port.
        int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_REUSEADDR, 1);
        requireBound(linux.bind(fd, address(local, port, scopeId)), local, port);
    }

    /// @throws LinkException when another socket listens there
    void listen(int fd, Gid local, int port) {
        requireBound(linux.listen(fd, TcpLink.LISTEN_BACKLOG), local, port);
    }

    private static void requireBound(int result, Gid local, int port) {
        if (result < 0) {
            throw new LinkException(
                    SocketFailure.kindOf(-result),
                    "TCP port " + port + " at " + local + ": " + LinuxSockets.message(-result));
        }
    }

    /// Returns 0, or the system's negated error; EINPROGRESS counts as 0.
    int connect(int fd, Gid remote, int port, int scopeId) {
        return linux.connect(fd, address(remote, port, scopeId));
    }

    private MemorySegment address(Gid gid, int port, int scopeId) {
        return name.asSlice(0, MessageBlock.putAddress(name, 0, gid.high(), gid.low(), port, scopeId));
    }

    // --- names

    /// Accepts a connection that waits at a port; its peer is [#acceptedGid()] and [#acceptedPort()]. Negative when
    /// no connection waits, or no descriptor is left.
    int accept(int fd) {
        nameLength.set(JAVA_INT, 0, SockaddrIn6.BYTES);
        return LinuxSockets.accept(fd, name, nameLength);
    }

    /// Returns the address of the peer that was accepted last.
    Gid acceptedGid() {
        if (name.get(JAVA_SHORT, SockaddrIn.SIN_FAMILY) == LinuxAbi.AF_INET) {
            return new Gid(0, 0xFFFFL << 32 | BigEndian.u32(name, SockaddrIn.SIN_ADDR));
        }
        return new Gid(BigEndian.i64(name, SockaddrIn6.SIN6_ADDR), BigEndian.i64(name, SockaddrIn6.SIN6_ADDR + 8L));
    }

    /// Returns the port of that peer, which IPv6 keeps at the same place.
    int acceptedPort() {
        return BigEndian.u16(name, SockaddrIn.SIN_PORT);
    }

    /// Returns the address that a socket is bound to.
    ///
    /// @throws LinkException when the system does not report it
    InetSocketAddress name(int fd) {
        nameLength.set(JAVA_INT, 0, SockaddrIn6.BYTES);
        int named = linux.name(fd, name, nameLength);
        if (named < 0) {
            throw SocketFailure.of("getsockname", -named);
        }
        return new InetSocketAddress(acceptedGid().address(), acceptedPort());
    }

    // --- moving bytes

    /// Reads once, into `bytes` of a segment at `offset` and then into a second segment. Returns the number of
    /// bytes, 0 at the end of the stream, -1 when there are none now.
    long read(int fd, MemorySegment first, long offset, long bytes, MemorySegment then, long thenOffset, long more) {
        putVector(0, first, offset, bytes);
        putVector(1, then, thenOffset, more);
        return LinuxSockets.readScattered(fd, vectors, 2, first);
    }

    /// Reads once into the link's own memory.
    long read(int fd, MemorySegment own, long offset, long bytes) {
        putVector(0, own, offset, bytes);
        return LinuxSockets.readScattered(fd, vectors, 1, MemorySegment.NULL);
    }

    /// Writes the link's own memory, once; returns the number of bytes taken, -1 when the stream is broken.
    ///
    /// @throws LinkException when the memory cannot be read
    long send(int fd, MemorySegment own, long offset, int bytes) {
        putVector(0, own, offset, bytes);
        return sendVectors(fd, 1, MemorySegment.NULL, MemorySegment.NULL, MemorySegment.NULL);
    }

    /// Writes the gathered bytes; returns the number of bytes taken, -1 when the stream is broken. One call names
    /// [#ALIVE_MAX] segments besides the link's own, so an output that names more needs several calls.
    ///
    /// @param own the link's own memory
    /// @throws LinkException when the memory cannot be read
    long send(int fd, StreamOutput output, MemorySegment own) {
        long sent = 0;
        for (int i = 0; i < output.count(); ) {
            int named = 0;
            int n = 0;
            long bytes = 0;
            for (; i < output.count() && n < TcpLink.PIECES_MAX; i++) {
                MemorySegment from = output.segment(i);
                if (!from.equals(own) && !isAlive(from, named)) {
                    if (named == ALIVE_MAX) {
                        break;
                    }
                    alive[named++] = from;
                }
                putVector(n++, from, output.offset(i), output.length(i));
                bytes += output.length(i);
            }
            long taken = sendVectors(fd, n, alive(0, named), alive(1, named), alive(2, named));
            if (taken < bytes) {
                return taken < 0 && sent == 0 ? taken : sent + Math.max(0, taken);
            }
            sent += taken;
        }
        return sent;
    }

    private boolean isAlive(MemorySegment segment, int named) {
        for (int i = 0; i < named; i++) {
            if (alive[i].equals(segment)) {
                return true;
            }
        }
        return false;
    }

    /// Returns the i-th of the segments that are named. The array drops it, so that no user memory is retained.
    private MemorySegment alive(int i, int named) {
        MemorySegment segment = i < named ? alive[i] : MemorySegment.NULL;
        alive[i] = MemorySegment.NULL;
        return segment;
    }

    private void putVector(int i, MemorySegment segment, long offset, long bytes) {
        assert i < TcpLink.PIECES_MAX && bytes >= 0 && offset >= 0 && offset + bytes <= segment.byteSize();
        vectors.set(JAVA_LONG, (long) i * Iovec.BYTES + Iovec.IOV_BASE, segment.address() + offset);
        vectors.set(JAVA_LONG, (long) i * Iovec.BYTES + Iovec.IOV_LEN, bytes);
    }

    private long sendVectors(int fd, int count, MemorySegment a, MemorySegment b, MemorySegment c) {
        message.set(JAVA_LONG, Msghdr.MSG_IOV, vectors.address());
        message.set(JAVA_LONG, Msghdr.MSG_IOVLEN, count);
        long sent = linux.sendGathered(fd, message, a, b, c);
        if (sent >= 0) {
            return sent;
        }
        return switch ((int) -sent) {
            case LinuxAbi.EAGAIN, LinuxAbi.EINTR, LinuxAbi.ENOBUFS, LinuxAbi.ENOMEM -> 0;
            case LinuxAbi.EPIPE, LinuxAbi.ECONNRESET, LinuxAbi.ETIMEDOUT, LinuxAbi.EHOSTUNREACH -> -1;
            default -> throw SocketFailure.of("send", (int) -sent);
        };
    }

    // --- a connection's state

    /// Returns the pending error of a socket, which this call clears; 0 for none.
    int takeError(int fd) {
        return linux.option(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_ERROR);
    }

    int segmentBytes(int fd) {
        return linux.option(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_MAXSEG);
    }

    /// Implements [TcpSocket#keepAlive(int)].
    void keepAlive(int fd, int seconds) {
        int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_KEEPALIVE, seconds > 0 ? 1 : 0);
        if (seconds > 0) {
            int _ = linux.setOption(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_KEEPIDLE, seconds);
            int _ = linux.setOption(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_KEEPINTVL, 1);
            int _ = linux.setOption(fd, LinuxAbi.IPPROTO_TCP, LinuxAbi.TCP_KEEPCNT, TcpLink.KEEP_ALIVE_PROBES);
        }
    }

    void endOutput(int fd) {
        int _ = linux.shutdown(fd, LinuxAbi.SHUT_WR);
    }

    /// Makes the later close show the peer that the connection was broken off.
    void resetOnClose(int fd) {
        linger.set(JAVA_INT, Linger.L_ONOFF, 1);
        linger.set(JAVA_INT, Linger.L_LINGER, 0);
        int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_LINGER, linger);
    }
}

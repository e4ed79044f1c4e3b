package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.SockaddrUn;
import verbena.foreign.linux.LinuxSockets;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;

/// The local sockets by which the links at one shared address talk to each other.
///
/// A link listens at abstract names (unix(7)). A name belongs to one socket at a time, in one network namespace, as
/// a UDP port does. The kernel takes a name away when its process ends, however it ends. The kernel also says which
/// user is at the other end (SO_PEERCRED): a connection of another user is closed at once.
///
/// For one thread at a time; another may poll [#watcher()].
final class PeerSockets {
    /// Connections that wait to be let in; the system's limit (net.core.somaxconn) is often this.
    private static final int BACKLOG = 4_096;
    /// Sockets that one [#ready()] tells of.
    private static final int EVENTS_MAX = 32;

    private final LinuxSockets linux;
    private final MessageBlock outgoing;
    private final Gid gid;
    private final String prefix;
    private final int sendBufferBytes;
    private final int user = LinuxSockets.effectiveUser();
    private final EpollSet<PeerSocket> watched;
    /// Counted here, read by any thread.
    private final AtomicLong refused = new AtomicLong();

    /// @param outgoing free whenever no call of this object is under way
    /// @throws LinkException when the system gives no epoll set
    PeerSockets(LinuxSockets linux, Arena arena, MessageBlock outgoing, GidEntry at, int port, int sendBufferBytes) {
        this.linux = linux;
        this.outgoing = outgoing;
        this.gid = at.gid();
        this.prefix = "verbena/" + gid + (gid.isLinkLocal() ? "%" + at.interfaceIndex() : "") + "/" + port + "/";
        this.sendBufferBytes = sendBufferBytes;
        this.watched = new EpollSet<>(linux, arena, EVENTS_MAX);
        if (watched.fd() < 0) {
            throw failed("epoll", watched.fd());
        }
    }

    /// Connections of other users that were closed. Any thread.
    long refused() {
        return refused.get();
    }

    /// To be polled: readable when [#ready()] finds something.
    int watcher() {
        return watched.fd();
    }

    /// How many sockets have something to tell.
    int ready() {
        return watched.ready();
    }

    /// The i-th of those; null when it was closed meanwhile.
    @Nullable
    PeerSocket ready(int i) {
        return watched.owner(i);
    }

    /// Takes a name; null when another socket has it.
    ///
    /// @throws LinkException when the system does not let this process
    @Nullable
    PeerSocket listen(String name) {
        int fd = linux.localSocket();
        if (fd < 0) {
            throw failed("a local socket", fd);
        }
        int result = linux.bind(fd, address(name));
        if (result == 0) {
            result = linux.listen(fd, BACKLOG);
        }
        if (result < 0) {
            LinuxSockets.close(fd);
            if (result == -LinuxAbi.EADDRINUSE) {
                return null;
            }
            throw failed("listening at the local socket @" + prefix + name, result);
        }
        PeerSocket socket = watch(fd, true);
        if (socket == null) {
            throw new LinkException(
                    LinkException.Kind.FAILED, "sharing " + gid + ": the system watches no more descriptors");
        }
        return socket;
    }

    private LinkException failed(String what, int result) {
        boolean forbidden = result == -LinuxAbi.EPERM || result == -LinuxAbi.EACCES;
        return new LinkException(
                forbidden ? LinkException.Kind.NOT_PERMITTED : LinkException.Kind.FAILED,
                "sharing " + gid + ": " + what + ": " + LinuxSockets.message(-result)
                        + (forbidden ? "; the portable link, which shares with no other, needs none" : ""));
    }

    /// A name in the abstract namespace begins with a zero.
    private MemorySegment address(String name) {
        byte[] path = (prefix + name).getBytes(StandardCharsets.US_ASCII);
        MemorySegment address = Arena.ofAuto().allocate(SockaddrUn.SUN_PATH + 1L + path.length, 8);
        address.set(JAVA_SHORT, SockaddrUn.SUN_FAMILY, (short) LinuxAbi.AF_UNIX);
        MemorySegment.copy(path, 0, address, JAVA_BYTE, SockaddrUn.SUN_PATH + 1, path.length);
        return address;
    }

    /// Connects to the socket of our user that has the name; returns a descriptor, or the system's negated error.
    int connect(String name) {
        int fd = linux.localSocket();
        if (fd < 0) {
            return fd;
        }
        int result = linux.connect(fd, address(name));
        if (result == 0 && !isOurUser(fd)) {
            result = -LinuxAbi.EPERM;
        }
        if (result < 0) {
            LinuxSockets.close(fd);
            return result;
        }
        askForBuffer(fd);
        return fd;
    }

    private boolean isOurUser(int fd) {
        if (linux.peerUser(fd) == user) {
            return true;
        }
        refused.incrementAndGet();
        return false;
    }

    private void askForBuffer(int fd) {
        int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_SNDBUF, sendBufferBytes);
    }

    /// The next descriptor that has connected to a listening socket; negative when there is none, or no descriptor
    /// left for it.
    static int accept(PeerSocket at) {
        assert at.isListening;
        return LinuxSockets.accept(at.fd);
    }

    /// Makes a connection of an accepted descriptor; null, and closed, when it is another user's, or cannot be
    /// watched.
    @Nullable
    PeerSocket admit(int fd) {
        if (!isOurUser(fd)) {
            LinuxSockets.close(fd);
            return null;
        }
        askForBuffer(fd);
        return watch(fd, false);
    }

    /// Watches a connected descriptor; null, and closed, when the system cannot.
    @Nullable
    PeerSocket watch(int fd) {
        return watch(fd, false);
    }

    private @Nullable PeerSocket watch(int fd, boolean isListening) {
        var socket = new PeerSocket(fd, isListening);
        socket.number = watched.add(fd, socket, LinuxAbi.EPOLLIN);
        if (socket.number < 0) {
            LinuxSockets.close(fd);
            return null;
        }
        return socket;
    }

    /// Sends a frame whose envelope is sealed; 1, or the system's negated error.
    int send(int fd, Frame frame) {
        outgoing.prepareEnvelope(0, frame);
        return linux.sendMessages(fd, outgoing.headersFrom(0), 1);
    }

    void close(PeerSocket socket) {
        watched.remove(socket.number);
        LinuxSockets.close(socket.fd);
    }

    /// Closes all sockets.
    void close() {
        watched.forEach(socket -> LinuxSockets.close(socket.fd));
        watched.close();
    }
}

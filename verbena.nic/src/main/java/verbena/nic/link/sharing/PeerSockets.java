package verbena.nic.link.sharing;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.SockaddrUn;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.EpollSet;
import verbena.nic.link.LinkException;
import verbena.nic.link.MessageBlock;
import verbena.wire.Frame;

/// The local sockets by which the links at one shared address communicate.
///
/// A link listens at abstract names (unix(7)). A name belongs to one socket at a time in one network namespace, as a
/// UDP port does. The kernel removes a name when its process ends in any way. The kernel also reports the user at
/// the other end (SO_PEERCRED); a connection of another user is closed at once.
///
/// For one thread at a time; another thread may poll [#watcher()].
public final class PeerSockets {
    /// The number of connections that may wait to be accepted; the system's limit (net.core.somaxconn) is often the
    /// same.
    private static final int BACKLOG = 4_096;
    /// The number of sockets that one [#ready()] reports.
    private static final int EVENTS_MAX = 32;

    private final LinuxSockets linux;
    private final MessageBlock outgoing;
    private final String place;
    private final String prefix;
    private final int sendBufferBytes;
    private final int user = LinuxSockets.effectiveUser();
    private final EpollSet<PeerSocket> watched;
    /// The count of refused connections, written here and read by any thread.
    private final AtomicLong refused = new AtomicLong();

    /// @param outgoing free whenever no call of this object is under way
    /// @param place what the links share, in words
    /// @param prefix what all names begin with; other places have others
    /// @throws LinkException when the system gives no epoll set
    public PeerSockets(
            LinuxSockets linux, Arena arena, MessageBlock outgoing, String place, String prefix, int sendBufferBytes) {
        this.linux = linux;
        this.outgoing = outgoing;
        this.place = place;
        this.prefix = beginning(prefix);
        this.sendBufferBytes = sendBufferBytes;
        this.watched = new EpollSet<>(linux, arena, EVENTS_MAX);
        if (watched.fd() < 0) {
            throw failed("epoll", watched.fd());
        }
    }

    private static String beginning(String prefix) {
        return "verbena/" + prefix + "/";
    }

    /// Returns whether a socket of our user listens at a name. Its link sees a connection that ends at once. Any
    /// thread.
    public static boolean isThere(String prefix, String name) {
        try (Arena scratch = Arena.ofConfined()) {
            var linux = new LinuxSockets(scratch);
            int fd = linux.localSocket();
            if (fd < 0) {
                return false;
            }
            boolean isThere = linux.connect(fd, address(beginning(prefix) + name)) == 0
                    && linux.peerUser(fd) == LinuxSockets.effectiveUser();
            LinuxSockets.close(fd);
            return isThere;
        }
    }

    /// Returns the names that sockets of any user have behind a prefix; none where the kernel does not list them. Any
    /// thread.
    static Set<String> names(String prefix) {
        String beginning = beginning(prefix);
        try (Arena scratch = Arena.ofConfined()) {
            return LocalSocketUsers.byName(new LinuxSockets(scratch)).keySet().stream()
                    .filter(name -> name.startsWith(beginning))
                    .map(name -> name.substring(beginning.length()))
                    .collect(Collectors.toSet());
        }
    }

    /// Returns the number of connections of other users that were closed. Any thread.
    public long refused() {
        return refused.get();
    }

    /// Returns the descriptor to poll: readable when [#ready()] has something to report.
    public int watcher() {
        return watched.fd();
    }

    /// Returns how many sockets have events.
    public int ready() {
        return watched.ready();
    }

    /// Returns the i-th of these sockets; null when it was closed meanwhile.
    @Nullable
    public PeerSocket ready(int i) {
        return watched.owner(i);
    }

    /// Takes a name; null when another socket has it.
    ///
    /// @throws LinkException when the system does not permit it to this process
    @Nullable
    public PeerSocket listen(String name) {
        int fd = linux.localSocket();
        if (fd < 0) {
            throw failed("a local socket", fd);
        }
        int result = linux.bind(fd, address(prefix + name));
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
                    LinkException.Kind.FAILED, "sharing " + place + ": the system watches no more descriptors");
        }
        return socket;
    }

    /// Takes the one name that will do; null when another socket of our user has it.
    ///
    /// @throws LinkException when another user has it, or the system does not permit it to this process
    @Nullable
    public PeerSocket listenAtOnly(String name) {
        PeerSocket listening = listen(name);
        if (listening == null) {
            checkHolder(name);
        }
        return listening;
    }

    /// Checks that no other user has a name: any user of the network namespace can take it first.
    private void checkHolder(String name) {
        int holder = LocalSocketUsers.byName(linux).getOrDefault(prefix + name, user);
        if (holder != user) {
            throw new LinkException(
                    LinkException.Kind.PORT_IN_USE,
                    "user " + holder + " of this host has the local socket @" + prefix + name);
        }
    }

    /// Returns, in words for the end of a sentence, how many of the names that are `beginning` and a number below
    /// `count` other users have; empty when they have none.
    public String othersShare(String beginning, int count) {
        Map<String, Integer> users = LocalSocketUsers.byName(linux);
        var shares = new TreeMap<Integer, Integer>();
        for (int number = 0; number < count; number++) {
            int holder = users.getOrDefault(prefix + beginning + number, user);
            if (holder != user) {
                int _ = shares.merge(holder, 1, Integer::sum);
            }
        }
        return shares.entrySet().stream()
                .map(share -> ", " + share.getValue() + " of them by user " + share.getKey() + " of this host")
                .collect(Collectors.joining());
    }

    private LinkException failed(String what, int result) {
        boolean forbidden = result == -LinuxAbi.EPERM || result == -LinuxAbi.EACCES;
        return new LinkException(
                forbidden ? LinkException.Kind.NOT_PERMITTED : LinkException.Kind.FAILED,
                "sharing " + place + ": " + what + ": " + LinuxSockets.message(-result)
                        + (forbidden ? "; the portable link, which shares with no other, needs none" : ""));
    }

    /// Names in the abstract namespace begin with a zero byte.
    public static MemorySegment address(String name) {
        return address(Arena.ofAuto(), name);
    }

    private static MemorySegment address(Arena arena, String name) {
        byte[] path = name.getBytes(StandardCharsets.US_ASCII);
        MemorySegment address = arena.allocate(SockaddrUn.SUN_PATH + 1L + path.length, 8);
        address.set(JAVA_SHORT, SockaddrUn.SUN_FAMILY, (short) LinuxAbi.AF_UNIX);
        MemorySegment.copy(path, 0, address, JAVA_BYTE, SockaddrUn.SUN_PATH + 1, path.length);
        return address;
    }

    /// Connects to the socket of our user that has this name; returns a descriptor, or the system's negated error.
    public int connect(String name) {
        int fd = linux.localSocket();
        if (fd < 0) {
            return fd;
        }
        int result = linux.connect(fd, address(prefix + name));
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

    /// A receiver of a connection to one of several sockets.
    public interface Meeting {
        /// Called when a socket has accepted.
        ///
        /// @param fd of this method from now on
        void connected(int number, int fd);
    }

    /// Connects to the sockets of our user whose names are `beginning` and a number below `count`, but for one
    /// number. A socket that was refused tries the next name, so where few are there this is one system call for
    /// each.
    public void connectEach(String beginning, int count, int except, Meeting meeting) {
        int fd = -1;
        try (Arena names = Arena.ofConfined()) {
            for (int number = 0; number < count; number++) {
                if (fd < 0) {
                    fd = linux.localSocket();
                }
                if (number == except || fd < 0 || linux.connect(fd, address(names, prefix + beginning + number)) != 0) {
                    continue;
                }
                if (isOurUser(fd)) {
                    askForBuffer(fd);
                    meeting.connected(number, fd);
                } else {
                    LinuxSockets.close(fd);
                }
                fd = -1;
            }
        }
        if (fd >= 0) {
            LinuxSockets.close(fd);
        }
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

    /// Accepts the next connection at a listening socket; returns its descriptor, negative when there is none, or
    /// no descriptor is left.
    public static int accept(PeerSocket at) {
        assert at.isListening;
        return LinuxSockets.accept(at.fd);
    }

    /// Makes a connection from an accepted descriptor. Closes it and returns null when it is another user's, or
    /// cannot be watched.
    @Nullable
    public PeerSocket admit(int fd) {
        if (!isOurUser(fd)) {
            LinuxSockets.close(fd);
            return null;
        }
        askForBuffer(fd);
        return watch(fd, false);
    }

    /// Watches a connected descriptor. Closes it and returns null when the system cannot watch it.
    @Nullable
    public PeerSocket watch(int fd) {
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

    /// Reports nothing but the end of a connection from now on.
    public void hold(PeerSocket connection) {
        watched.change(connection.number, 0);
    }

    /// Reports again what a connection has.
    public void resume(PeerSocket connection) {
        watched.change(connection.number, LinuxAbi.EPOLLIN);
    }

    /// Sends a frame with a sealed envelope; returns 1, or the system's negated error.
    int send(int fd, Frame frame) {
        outgoing.prepareEnvelope(0, frame);
        return linux.sendMessages(fd, outgoing.headersFrom(0), 1);
    }

    public void close(PeerSocket socket) {
        watched.remove(socket.number);
        LinuxSockets.close(socket.fd);
    }

    /// Closes all sockets.
    public void close() {
        watched.forEach(socket -> LinuxSockets.close(socket.fd));
        watched.close();
    }
}

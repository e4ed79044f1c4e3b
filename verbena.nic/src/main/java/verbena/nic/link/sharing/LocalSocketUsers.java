package verbena.nic.link.sharing;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Nlmsghdr;
import verbena.foreign.linux.LinuxAbi.Rtattr;
import verbena.foreign.linux.LinuxAbi.UnixDiagMsg;
import verbena.foreign.linux.LinuxAbi.UnixDiagReq;
import verbena.foreign.linux.LinuxSockets;

/// The users of local sockets, as the kernel lists them (sock_diag(7)). A connection tells its user too, but a socket
/// whose backlog is full takes none.
final class LocalSocketUsers {
    private static final int BUFFER_BYTES = 1 << 15;
    private static final int REQUEST_BYTES = Nlmsghdr.BYTES + UnixDiagReq.BYTES;
    /// The states of a socket that has taken a name, and may listen there.
    private static final int STATES = 1 << LinuxAbi.TCP_CLOSE | 1 << LinuxAbi.TCP_LISTEN;

    private LocalSocketUsers() {}

    /// Returns the user of each abstract name of this network namespace; none where the kernel does not answer.
    static Map<String, Integer> byName(LinuxSockets linux) {
        var users = new HashMap<String, Integer>();
        int fd = linux.netlinkSocket(LinuxAbi.NETLINK_SOCK_DIAG);
        if (fd < 0) {
            return users;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answers = arena.allocate(BUFFER_BYTES, 8);
            long bytes = LinuxSockets.send(fd, request(arena)) ? LinuxSockets.read(fd, answers) : 0;
            while (bytes > 0 && addAll(answers.asSlice(0, bytes), users)) {
                bytes = LinuxSockets.read(fd, answers);
            }
        } finally {
            LinuxSockets.close(fd);
        }
        return users;
    }

    private static MemorySegment request(Arena arena) {
        MemorySegment request = arena.allocate(REQUEST_BYTES, 8);
        request.set(JAVA_INT, Nlmsghdr.NLMSG_LEN, REQUEST_BYTES);
        request.set(JAVA_SHORT, Nlmsghdr.NLMSG_TYPE, (short) LinuxAbi.SOCK_DIAG_BY_FAMILY);
        request.set(JAVA_SHORT, Nlmsghdr.NLMSG_FLAGS, (short) (LinuxAbi.NLM_F_REQUEST | LinuxAbi.NLM_F_DUMP));
        request.set(JAVA_BYTE, Nlmsghdr.BYTES + UnixDiagReq.SDIAG_FAMILY, (byte) LinuxAbi.AF_UNIX);
        request.set(JAVA_INT, Nlmsghdr.BYTES + UnixDiagReq.UDIAG_STATES, STATES);
        request.set(
                JAVA_INT, Nlmsghdr.BYTES + UnixDiagReq.UDIAG_SHOW, LinuxAbi.UDIAG_SHOW_NAME | LinuxAbi.UDIAG_SHOW_UID);
        return request;
    }

    /// Adds the sockets of some messages. Returns whether others follow.
    private static boolean addAll(MemorySegment messages, Map<String, Integer> users) {
        for (long at = 0; at + Nlmsghdr.BYTES <= messages.byteSize(); ) {
            int bytes = messages.get(JAVA_INT, at + Nlmsghdr.NLMSG_LEN);
            int type = messages.get(JAVA_SHORT, at + Nlmsghdr.NLMSG_TYPE);
            if (type != LinuxAbi.SOCK_DIAG_BY_FAMILY || bytes < Nlmsghdr.BYTES || bytes > messages.byteSize() - at) {
                return false; // the end, or an error
            }
            add(messages.asSlice(at, bytes), users);
            at += bytes + 3 & -4;
        }
        return true;
    }

    private static void add(MemorySegment socket, Map<String, Integer> users) {
        String name = "";
        int user = -1;
        for (long at = Nlmsghdr.BYTES + UnixDiagMsg.BYTES; at + Rtattr.BYTES <= socket.byteSize(); ) {
            int bytes = Short.toUnsignedInt(socket.get(JAVA_SHORT, at + Rtattr.RTA_LEN));
            if (bytes < Rtattr.BYTES || bytes > socket.byteSize() - at) {
                return;
            }
            MemorySegment value = socket.asSlice(at + Rtattr.BYTES, bytes - Rtattr.BYTES);
            switch (socket.get(JAVA_SHORT, at + Rtattr.RTA_TYPE)) {
                case LinuxAbi.UNIX_DIAG_NAME ->
                    name = new String(value.toArray(JAVA_BYTE), StandardCharsets.ISO_8859_1);
                case LinuxAbi.UNIX_DIAG_UID -> user = value.get(JAVA_INT, 0);
                default -> {}
            }
            at += bytes + 3 & -4;
        }
        if (name.startsWith("\0") && user >= 0) {
            int _ = users.merge(name.substring(1), user, (first, _) -> first);
        }
    }
}

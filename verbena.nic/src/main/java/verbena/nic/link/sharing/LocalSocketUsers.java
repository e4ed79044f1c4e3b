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
import verbena.nic.link.SocketQuestion;

/// The users of local sockets, as the kernel lists them (sock_diag(7)). A connection tells its user too, but a socket
/// whose backlog is full takes none.
final class LocalSocketUsers {
    /// The states of a socket that has taken a name, and may listen there.
    private static final int STATES = 1 << LinuxAbi.TCP_CLOSE | 1 << LinuxAbi.TCP_LISTEN;

    private LocalSocketUsers() {}

    /// Returns the user of each abstract name of this network namespace; none where the kernel does not answer.
    static Map<String, Integer> byName(LinuxSockets linux) {
        var users = new HashMap<String, Integer>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment question = SocketQuestion.allocate(arena, UnixDiagReq.BYTES);
            question.set(JAVA_BYTE, Nlmsghdr.BYTES + UnixDiagReq.SDIAG_FAMILY, (byte) LinuxAbi.AF_UNIX);
            question.set(JAVA_INT, Nlmsghdr.BYTES + UnixDiagReq.UDIAG_STATES, STATES);
            question.set(
                    JAVA_INT,
                    Nlmsghdr.BYTES + UnixDiagReq.UDIAG_SHOW,
                    LinuxAbi.UDIAG_SHOW_NAME | LinuxAbi.UDIAG_SHOW_UID);
            SocketQuestion.ask(linux, question, socket -> add(socket, users));
        }
        return users;
    }

    private static void add(MemorySegment socket, Map<String, Integer> users) {
        String name = "";
        int user = -1;
        for (long at = UnixDiagMsg.BYTES; at + Rtattr.BYTES <= socket.byteSize(); ) {
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

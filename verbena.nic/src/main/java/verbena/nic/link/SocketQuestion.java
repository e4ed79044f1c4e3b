package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Nlmsghdr;
import verbena.foreign.linux.LinuxSockets;

/// A question to the kernel about the sockets of this network namespace (sock_diag(7)).
public final class SocketQuestion {
    private static final int BUFFER_BYTES = 1 << 15;

    private SocketQuestion() {}

    /// Makes a question.
    ///
    /// @param body a `struct unix_diag_req` or `struct inet_diag_req_v2`
    /// @return the question, to be filled in from [Nlmsghdr#BYTES] on
    public static MemorySegment allocate(Arena arena, int body) {
        MemorySegment question = arena.allocate((long) Nlmsghdr.BYTES + body, 8);
        question.set(JAVA_INT, Nlmsghdr.NLMSG_LEN, Nlmsghdr.BYTES + body);
        question.set(JAVA_SHORT, Nlmsghdr.NLMSG_TYPE, (short) LinuxAbi.SOCK_DIAG_BY_FAMILY);
        question.set(JAVA_SHORT, Nlmsghdr.NLMSG_FLAGS, (short) (LinuxAbi.NLM_F_REQUEST | LinuxAbi.NLM_F_DUMP));
        return question;
    }

    /// Asks, and hands each socket to `each`; none where the kernel does not answer.
    ///
    /// @param each gets what follows the header of an answer, valid during the call
    public static void ask(LinuxSockets linux, MemorySegment question, Consumer<MemorySegment> each) {
        int fd = linux.netlinkSocket(LinuxAbi.NETLINK_SOCK_DIAG);
        if (fd < 0) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answers = arena.allocate(BUFFER_BYTES, 8);
            long bytes = LinuxSockets.send(fd, question) ? LinuxSockets.read(fd, answers) : 0;
            while (bytes > 0 && readAll(answers.asSlice(0, bytes), each)) {
                bytes = LinuxSockets.read(fd, answers);
            }
        } finally {
            LinuxSockets.close(fd);
        }
    }

    /// Hands over the sockets of some messages. Returns whether others follow.
    private static boolean readAll(MemorySegment messages, Consumer<MemorySegment> each) {
        for (long at = 0; at + Nlmsghdr.BYTES <= messages.byteSize(); ) {
            int bytes = messages.get(JAVA_INT, at + Nlmsghdr.NLMSG_LEN);
            int type = messages.get(JAVA_SHORT, at + Nlmsghdr.NLMSG_TYPE);
            if (type != LinuxAbi.SOCK_DIAG_BY_FAMILY || bytes < Nlmsghdr.BYTES || bytes > messages.byteSize() - at) {
                return false; // the end, or an error
            }
            each.accept(messages.asSlice(at + Nlmsghdr.BYTES, bytes - Nlmsghdr.BYTES));
            at += bytes + 3 & -4;
        }
        return true;
    }
}

package verbena.nic.link.udp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.InetDiagMsg;
import verbena.foreign.linux.LinuxAbi.InetDiagReqV2;
import verbena.foreign.linux.LinuxAbi.InetDiagSockid;
import verbena.foreign.linux.LinuxAbi.Nlmsghdr;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.SocketQuestion;
import verbena.nic.link.UnreadSockets;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.roce.RoceV2;

/// The unread datagrams in the sockets of a link's ports at all addresses of this host. A look at the kernel's table
/// takes some 40 µs, so the connections whose timers run out together share one. For one thread at a time.
final class UnreadDatagrams implements UnreadSockets {
    /// The time that a look counts for.
    static final long FRESH_NANOS = 1_000_000;

    private static final int STATES_ALL = -1;
    private static final int[] FAMILIES = {LinuxAbi.AF_INET, LinuxAbi.AF_INET6};

    private final LinuxSockets linux;
    private final LongSupplier clock;
    private final int[] ports;
    private final Map<Gid, Map<Integer, Integer>> unread = new HashMap<>();
    private boolean hasLooked;
    private long lookedNanos;

    /// @param ports at which this link, and so its peers, receive
    /// @param clock nanoseconds, monotonic; it may overflow
    UnreadDatagrams(LinuxSockets linux, int[] ports, LongSupplier clock) {
        this.linux = linux;
        this.clock = clock;
        this.ports = ports;
    }

    @Override
    public Map<Integer, Integer> unread(Gid address) {
        long now = clock.getAsLong();
        if (!hasLooked || now - lookedNanos >= FRESH_NANOS) {
            hasLooked = true;
            lookedNanos = now;
            unread.clear();
            look();
        }
        return unread.getOrDefault(address, Map.of());
    }

    private void look() {
        int user = LinuxSockets.effectiveUser();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment question = SocketQuestion.allocate(arena, InetDiagReqV2.BYTES);
            MemorySegment body = question.asSlice(Nlmsghdr.BYTES);
            body.set(JAVA_BYTE, InetDiagReqV2.SDIAG_PROTOCOL, (byte) LinuxAbi.IPPROTO_UDP);
            body.set(JAVA_INT, InetDiagReqV2.IDIAG_STATES, STATES_ALL);
            for (int port : ports) {
                BigEndian.put16(body, InetDiagReqV2.ID + InetDiagSockid.IDIAG_SPORT, port);
                for (int family : FAMILIES) {
                    body.set(JAVA_BYTE, InetDiagReqV2.SDIAG_FAMILY, (byte) family);
                    SocketQuestion.ask(linux, question, socket -> add(family, socket, user));
                }
            }
        }
    }

    private void add(int family, MemorySegment socket, int user) {
        if (socket.byteSize() < InetDiagMsg.BYTES || socket.get(JAVA_INT, InetDiagMsg.IDIAG_UID) != user) {
            return;
        }
        int bytes = socket.get(JAVA_INT, InetDiagMsg.IDIAG_RQUEUE);
        if (bytes > 0) {
            Map<Integer, Integer> there = unread.computeIfAbsent(address(family, socket), _ -> new HashMap<>());
            there.put(socket.get(JAVA_INT, InetDiagMsg.IDIAG_INODE), bytes);
        }
    }

    private static Gid address(int family, MemorySegment socket) {
        long at = InetDiagMsg.ID + InetDiagSockid.IDIAG_SRC;
        return family == LinuxAbi.AF_INET
                ? new Gid(0, RoceV2.MAPPED_IPV4 | BigEndian.u32(socket, at))
                : new Gid(BigEndian.i64(socket, at), BigEndian.i64(socket, at + Long.BYTES));
    }
}

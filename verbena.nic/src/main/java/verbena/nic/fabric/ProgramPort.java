package verbena.nic.fabric;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxSockets;
import verbena.subnet.agent.AgentMad;
import verbena.subnet.agent.AgentRefusal;
import verbena.subnet.agent.AgentSpec;
import verbena.subnet.agent.MadAgents;
import verbena.subnet.agent.MadClient;
import verbena.subnet.fabric.ChannelAdapter;
import verbena.wire.BigEndian;
import verbena.wire.mad.Mad;

/// A program at the management queue pairs of an adapter, at the other end of a socket. A message is a
/// `struct ib_user_mad` with its datagram, as the kernel's umad files have it (`infiniband/umad.h`): numbers in the
/// host's byte order, addresses in that of the network. For the thread of the [FabricServer].
final class ProgramPort {
    static final int HEADER_BYTES = 64;
    /// The longest message.
    static final int MESSAGE_BYTES_MAX = HEADER_BYTES + MadAgents.BYTES_MAX;
    /// The bytes that its socket holds in each direction: at least one of the longest messages.
    static final int SOCKET_BYTES = 1 << 18;

    private static final int AGENT = 0;
    private static final int STATUS = 4;
    private static final int TIMEOUT = 8;
    private static final int RETRIES = 12;
    private static final int LENGTH = 16;
    private static final int QPN = 20;
    private static final int QKEY = 24;
    private static final int LID = 28;
    private static final int SERVICE_LEVEL = 30;
    private static final int PATH_BITS = 31;
    private static final int PKEY_INDEX = 56;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.nativeOrder());
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.nativeOrder());

    final ChannelAdapter adapter;
    /// The number by which the program names itself when it makes agents.
    final long token;

    private final MadClient client;

    ProgramPort(ChannelAdapter adapter, long token) {
        this.adapter = adapter;
        this.token = token;
        client = adapter.agents().open();
    }

    /// Handles a message of the program and returns whether it is well-formed.
    boolean onMessage(MemorySegment message, int bytes, long now) {
        if (bytes < HEADER_BYTES + Mad.HEADER_BYTES) {
            return false;
        }
        // A short one ends in zeroes.
        var mad = MemorySegment.ofArray(new byte[Math.max(Mad.BYTES, bytes - HEADER_BYTES)]);
        MemorySegment.copy(message, HEADER_BYTES, mad, 0, (long) bytes - HEADER_BYTES);
        client.send(
                new AgentMad(
                        message.get(INT, AGENT),
                        0,
                        Math.max(0, message.get(INT, TIMEOUT)),
                        Math.max(0, message.get(INT, RETRIES)),
                        BigEndian.u16(message, LID),
                        BigEndian.i32(message, QPN) & 0xFF_FFFF,
                        BigEndian.u8(message, SERVICE_LEVEL) & 0xF,
                        0,
                        message.get(SHORT, PKEY_INDEX) & 0xFFFF,
                        mad),
                now);
        return true;
    }

    /// Hands the program its next datagram, if there is room; 1: done, 0: there is none, -1: there is no room.
    int deliver(int fd, MemorySegment message) {
        AgentMad mad = client.peek();
        if (mad == null) {
            return 0;
        }
        int bytes = HEADER_BYTES + (int) mad.bytes().byteSize();
        message.asSlice(0, HEADER_BYTES).fill((byte) 0);
        message.set(INT, AGENT, mad.agent());
        message.set(INT, STATUS, mad.status());
        message.set(INT, TIMEOUT, mad.timeoutMillis());
        message.set(INT, RETRIES, mad.retries());
        message.set(INT, LENGTH, bytes);
        BigEndian.put32(message, QPN, mad.qpn());
        BigEndian.put32(message, QKEY, mad.qpn() == 0 ? 0 : Mad.QKEY);
        BigEndian.put16(message, LID, mad.lid());
        BigEndian.put8(message, SERVICE_LEVEL, mad.serviceLevel());
        BigEndian.put8(message, PATH_BITS, mad.pathBits());
        message.set(SHORT, PKEY_INDEX, (short) mad.pkeyIndex());
        MemorySegment.copy(mad.bytes(), 0, message, HEADER_BYTES, mad.bytes().byteSize());
        if (!LinuxSockets.send(fd, message.asSlice(0, bytes))) {
            return -1;
        }
        client.taken();
        return 1;
    }

    /// Makes an agent; returns an errno, or 0.
    int register(MemorySegment ask) {
        var spec = new AgentSpec(
                BigEndian.u8(ask, FabricSocket.SPEC_CLASS),
                BigEndian.u8(ask, FabricSocket.SPEC_VERSION),
                BigEndian.i32(ask, FabricSocket.SPEC_OUI) & 0xFF_FFFF,
                BigEndian.u8(ask, FabricSocket.SPEC_RMPP) != 0,
                BigEndian.i64(ask, FabricSocket.SPEC_METHODS_LOW),
                BigEndian.i64(ask, FabricSocket.SPEC_METHODS_HIGH));
        return client.register(BigEndian.i32(ask, FabricSocket.AGENT), spec).errno();
    }

    /// Ends an agent; returns an errno, or 0.
    int unregister(MemorySegment ask) {
        return client.unregister(BigEndian.i32(ask, FabricSocket.AGENT)) ? 0 : AgentRefusal.INVALID.errno();
    }

    void close(long now) {
        client.close();
        adapter.onPrograms(now);
    }

    static boolean is(@Nullable ProgramPort port, long token) {
        return port != null && port.token == token;
    }
}

package verbena.bench;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;
import java.util.Map;

/// The throughput of the kernel's UDP when no program looks at the bytes: sendmsg(2) with UDP_SEGMENT from the
/// same 64 KiB again and again, recvmmsg(2) with UDP_GRO into the same 1 MiB (udp(7)). It is the ceiling of
/// everything over UDP, and shares no code with the links of Verbena. Linux, 64 bits.
final class RawUdp implements WorkerEnd {
    private static final int AF_INET = 2;
    private static final int SOCK_DGRAM = 2;
    private static final int SOL_SOCKET = 1;
    private static final int SO_SNDBUF = 7;
    private static final int SO_RCVBUF = 8;
    private static final int SO_RCVTIMEO = 20;
    private static final int IPPROTO_UDP = 17;
    private static final int UDP_SEGMENT = 103;
    private static final int UDP_GRO = 104;
    private static final int MSG_WAITFORONE = 0x1_0000;

    private static final int SOCKADDR_BYTES = 16;
    private static final int IOVEC_BYTES = 16;
    private static final int MMSGHDR_BYTES = 64;
    private static final int CONTROL_BYTES = 24;

    private static final int BUFFER_BYTES = 8 << 20;
    private static final int MESSAGE_BYTES_MAX = 65_507;
    private static final int SEGMENTS_MAX = 64;
    private static final int BATCH = 16;
    /// The least number of messages. Some messages are lost, and the first do not count.
    private static final int MESSAGES_MIN = 1_000;
    private static final int SILENCE_MICROS = 200_000;
    private static final int SILENCES_MAX = 50;

    private static final MethodHandle SOCKET = call("socket", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle BIND = call("bind", JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle GETSOCKNAME = call("getsockname", JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle SETSOCKOPT = call("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle SENDMMSG = call("sendmmsg", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT);
    private static final MethodHandle RECVMMSG = call("recvmmsg", JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);

    private final Arena arena = Arena.global();
    private final int fd = check("socket", invoke(SOCKET, AF_INET, SOCK_DGRAM, 0));

    private static MethodHandle call(String name, MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(JAVA_INT, arguments));
    }

    private static int invoke(MethodHandle function, Object... arguments) {
        try {
            return (int) function.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static int check(String call, int result) {
        if (result < 0) {
            throw new Child.Failed("raw UDP: " + call + " failed");
        }
        return result;
    }

    @Override
    public Object order(String[] words) throws Throwable {
        int segment = Integer.parseInt(words[1]);
        return switch (words[0]) {
            case "open" -> Map.of("port", open());
            case "receive" -> receive(segment, Integer.parseInt(words[2]));
            default -> send(segment, Integer.parseInt(words[2]), Double.parseDouble(words[3]));
        };
    }

    private void option(int level, int name, int... values) {
        MemorySegment value = arena.allocateFrom(JAVA_INT, values);
        check("setsockopt", invoke(SETSOCKOPT, fd, level, name, value, (int) value.byteSize()));
    }

    private static MemorySegment address(Arena arena, int port) {
        MemorySegment address = arena.allocate(SOCKADDR_BYTES, 8);
        address.set(JAVA_SHORT, 0, (short) AF_INET);
        address.set(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 2, (short) port);
        address.set(JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN), 4, 0x7F00_0001);
        return address;
    }

    private int open() {
        option(IPPROTO_UDP, UDP_GRO, 1);
        option(SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES);
        option(SOL_SOCKET, SO_RCVTIMEO, 0, 0, SILENCE_MICROS, 0); // struct timeval: two numbers of 64 bits
        MemorySegment address = address(arena, 0);
        check("bind", invoke(BIND, fd, address, SOCKADDR_BYTES));
        check("getsockname", invoke(GETSOCKNAME, fd, address, arena.allocateFrom(JAVA_INT, SOCKADDR_BYTES)));
        return Short.toUnsignedInt(address.get(JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN), 2));
    }

    /// Receives until nothing has come for a while.
    ///
    /// @param payload the bytes of a segment that count
    private Object receive(int segment, int payload) throws Throwable {
        try (Arena mine = Arena.ofConfined()) {
            MemorySegment messages = mine.allocate((long) BATCH * MMSGHDR_BYTES, 8);
            for (int i = 0; i < BATCH; i++) {
                message(mine, messages, i, mine.allocate(1 << 16, 4_096), 1 << 16);
            }
            long segments = 0;
            long first = 0;
            long last = 0;
            int silences = 0;
            while (true) {
                int count = (int) RECVMMSG.invokeExact(fd, messages, BATCH, MSG_WAITFORONE, MemorySegment.NULL);
                if (count > 0) {
                    last = System.nanoTime();
                    if (first == 0) {
                        first = last; // packets that are here already took no time
                        continue;
                    }
                    for (int i = 0; i < count; i++) {
                        segments += messages.get(JAVA_INT, (long) i * MMSGHDR_BYTES + 56) / segment;
                    }
                } else if (last > first) {
                    return Figures.stream(payload, segments, (last - first) / 1e9);
                } else if (++silences == SILENCES_MAX) {
                    throw new Child.Failed("raw UDP: nothing has arrived");
                }
            }
        }
    }

    private Object send(int segment, int port, double seconds) throws Throwable {
        option(SOL_SOCKET, SO_SNDBUF, BUFFER_BYTES);
        try (Arena mine = Arena.ofConfined()) {
            int segments = Math.min(SEGMENTS_MAX, MESSAGE_BYTES_MAX / segment);
            MemorySegment message = mine.allocate(MMSGHDR_BYTES, 8);
            message(mine, message, 0, mine.allocate(1 << 16, 4_096).fill((byte) 7), segment * segments);
            message.set(ADDRESS, 0, address(mine, port));
            message.set(JAVA_INT, 8, SOCKADDR_BYTES);
            MemorySegment control = mine.allocate(CONTROL_BYTES, 8); // struct cmsghdr and 16 bits
            control.set(JAVA_LONG, 0, 18);
            control.set(JAVA_INT, 8, IPPROTO_UDP);
            control.set(JAVA_INT, 12, UDP_SEGMENT);
            control.set(JAVA_SHORT, 16, (short) segment);
            message.set(ADDRESS, 32, control);
            message.set(JAVA_LONG, 40, CONTROL_BYTES);
            long start = System.nanoTime();
            long end = start + (long) (seconds * 1e9);
            long sent = 0;
            while (sent < MESSAGES_MIN || System.nanoTime() < end) {
                sent += check("sendmmsg", (int) SENDMMSG.invokeExact(fd, message, 1, 0));
            }
            return Map.of("segments", sent * segments);
        }
    }

    // struct mmsghdr number `i`, with one struct iovec.
    private static void message(Arena arena, MemorySegment messages, int i, MemorySegment memory, int bytes) {
        MemorySegment iovec = arena.allocate(IOVEC_BYTES, 8);
        iovec.set(ADDRESS, 0, memory);
        iovec.set(JAVA_LONG, 8, bytes);
        messages.set(ADDRESS, (long) i * MMSGHDR_BYTES + 16, iovec);
        messages.set(JAVA_LONG, (long) i * MMSGHDR_BYTES + 24, 1);
        memory.set(JAVA_BYTE, 0, (byte) 7);
    }
}

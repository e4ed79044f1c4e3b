package verbena.nic.link.udp;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.MessageBlock;
import verbena.verbs.Gid;

/// A witness: receives a copy of every UDP datagram for one IPv4 address, with its IP header. Needs CAP_NET_RAW.
final class RawUdpSocket implements AutoCloseable {
    private static final int SOCK_RAW_NONBLOCK = 3 | LinuxAbi.SOCK_NONBLOCK;

    private final MemorySegment buffer = Arena.ofAuto().allocate(1 << 16, 8);
    private final int fd;

    private RawUdpSocket(int fd) {
        this.fd = fd;
    }

    /// Opens a witness; null when this process has no right to.
    static @Nullable RawUdpSocket open(Gid gid) throws Throwable {
        MethodHandle socket = handle("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
        int fd = (int) socket.invokeExact(LinuxAbi.AF_INET, SOCK_RAW_NONBLOCK, LinuxAbi.IPPROTO_UDP);
        if (fd < 0) {
            return null;
        }
        var witness = new RawUdpSocket(fd);
        int bytes = MessageBlock.putAddress(witness.buffer, 0, gid.high(), gid.low(), 0, 0);
        MethodHandle bind = handle("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
        if ((int) bind.invokeExact(fd, witness.buffer, bytes) < 0) {
            witness.close();
            return null;
        }
        while (witness.next() != null) {
            // datagrams for any address, which came before it had one
        }
        return witness;
    }

    /// The next datagram from its IP header on; null when there is none.
    byte @Nullable [] next() throws Throwable {
        MethodHandle recv = handle("recv", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
        long length = (long) recv.invokeExact(fd, buffer, buffer.byteSize(), 0);
        return length < 0 ? null : buffer.asSlice(0, length).toArray(JAVA_BYTE);
    }

    @SuppressWarnings("restricted") // FFM, for what no link needs
    private static MethodHandle handle(String name, MemoryLayout result, MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, arguments));
    }

    @Override
    public void close() {
        LinuxSockets.close(fd);
    }
}

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
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.MessageBlock;
import verbena.verbs.Gid;

/// An attacker's UDP socket, which chooses the source address of each packet: any address of the host, whatever
/// its own (ip(7), IP_PKTINFO). Needs no privilege.
public final class PacketInfoSocket implements AutoCloseable {
    private static final int SOCK_DGRAM = 2;
    private static final int IPPROTO_IP = 0;
    private static final int IP_PKTINFO = 8;
    private static final int CMSG_LEN = 28;
    private static final int CMSG_SPACE = 32;
    /// The position of the source in an in_pktinfo, in its control message.
    private static final int SPEC_DST = 16 + 4;

    private static final int NAME = 0;
    private static final int VECTOR = 64;
    private static final int CONTROL = 128;
    private static final int HEADER = 192;
    private static final int PACKET = 256;

    private static final MethodHandle SOCKET = handle("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle BIND = handle("bind", JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    private static final MethodHandle SENDMSG = handle("sendmsg", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT);

    private final MemorySegment memory = Arena.ofAuto().allocate(16_384, 8);
    private final int fd;

    private PacketInfoSocket(int fd) {
        this.fd = fd;
    }

    /// Opens a socket that is bound to an IPv4 address.
    public static PacketInfoSocket open(Gid own, int port) throws Exception {
        try {
            int fd = (int) SOCKET.invokeExact(LinuxAbi.AF_INET, SOCK_DGRAM, 0);
            var made = new PacketInfoSocket(fd);
            int bytes = MessageBlock.putAddress(made.memory, NAME, own.high(), own.low(), port, 0);
            if (fd < 0 || (int) BIND.invokeExact(fd, made.memory, bytes) < 0) {
                made.close();
                throw new IllegalStateException("cannot bind " + own);
            }
            return made;
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /// Sends a packet that claims to come from `source`.
    public void send(MemorySegment packet, Gid source, Gid destination, int port) {
        int nameBytes = MessageBlock.putAddress(memory, NAME, destination.high(), destination.low(), port, 0);
        MemorySegment.copy(packet, 0, memory, PACKET, packet.byteSize());
        memory.set(JAVA_LONG, VECTOR, memory.address() + PACKET);
        memory.set(JAVA_LONG, VECTOR + 8, packet.byteSize());
        memory.asSlice(CONTROL, CMSG_SPACE).fill((byte) 0);
        memory.set(JAVA_LONG, CONTROL, CMSG_LEN);
        memory.set(JAVA_INT, CONTROL + 8, IPPROTO_IP);
        memory.set(JAVA_INT, CONTROL + 12, IP_PKTINFO);
        byte[] address = source.address().getAddress();
        MemorySegment.copy(address, 0, memory, JAVA_BYTE, CONTROL + SPEC_DST, address.length);
        memory.set(JAVA_LONG, HEADER, memory.address() + NAME);
        memory.set(JAVA_LONG, HEADER + 8, nameBytes);
        memory.set(JAVA_LONG, HEADER + 16, memory.address() + VECTOR);
        memory.set(JAVA_LONG, HEADER + 24, 1);
        memory.set(JAVA_LONG, HEADER + 32, memory.address() + CONTROL);
        memory.set(JAVA_LONG, HEADER + 40, CMSG_SPACE);
        memory.set(JAVA_LONG, HEADER + 48, 0);
        try {
            long sent = (long) SENDMSG.invokeExact(fd, memory.asSlice(HEADER), 0);
            if (sent != packet.byteSize()) {
                throw new IllegalStateException("sendmsg: " + sent);
            }
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
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

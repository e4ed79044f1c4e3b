package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.LinuxAbi.SockaddrLl;
import verbena.foreign.linux.LinuxAbi.Tpacket2Hdr;
import verbena.foreign.linux.LinuxAbi.TpacketReq;

/// The arrivals of a packet socket, in memory that it shares with the kernel (PACKET_MMAP, packet(7)).
///
/// A place of the ring belongs to the kernel until it holds a frame, and then to this process until it is given
/// back ([#release()]). Frames are taken in order and given back in order. When all places hold frames, the
/// kernel drops and counts. For one thread at a time; allocates nothing for a frame.
public final class PacketRing {
    /// The most bytes that the kernel leaves between the start of a place and its frame.
    public static final int HEADER_BYTES = 80;
    /// The least number of bytes of a place before its frame.
    public static final int BEFORE_FRAME_BYTES = 64;
    /// Places do not cross blocks, which are whole pages.
    private static final int BLOCK_BYTES = 1 << 16;

    private static final SystemFunction MMAP = SystemFunction.named("mmap");
    private static final SystemFunction MUNMAP = SystemFunction.named("munmap");
    private static final VarHandle INT = JAVA_INT.varHandle();
    private static final ValueLayout.OfShort NETWORK_SHORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

    private final MemorySegment memory;
    private final MemorySegment name;
    private final int placeBytes;
    private final int placesInBlock;
    private final int places;
    private int next;
    private int oldest;
    private int held;
    private int current;

    private PacketRing(MemorySegment memory, MemorySegment name, int placeBytes) {
        this.memory = memory;
        this.name = name;
        this.placeBytes = placeBytes;
        this.placesInBlock = BLOCK_BYTES / placeBytes;
        this.places = (int) (memory.byteSize() / BLOCK_BYTES) * placesInBlock;
    }

    /// Makes the ring of a socket that is not bound yet.
    ///
    /// @param frameBytes how much of a frame is kept, at most
    /// @param bytes of the ring, some multiple of 64 KiB
    /// @param arena ends the mapping; the socket is closed before
    /// @throws NoRingException when the system refuses one
    public static PacketRing open(LinuxSockets linux, int fd, int frameBytes, int bytes, Arena arena)
            throws NoRingException {
        int placeBytes = HEADER_BYTES + frameBytes + LinuxAbi.TPACKET_ALIGNMENT - 1 & -LinuxAbi.TPACKET_ALIGNMENT;
        int blocks = bytes / BLOCK_BYTES;
        require(
                "PACKET_VERSION",
                linux.setOption(fd, LinuxAbi.SOL_PACKET, LinuxAbi.PACKET_VERSION, LinuxAbi.TPACKET_V2));
        MemorySegment request = arena.allocate(TpacketReq.BYTES, 4);
        request.set(JAVA_INT, TpacketReq.TP_BLOCK_SIZE, BLOCK_BYTES);
        request.set(JAVA_INT, TpacketReq.TP_BLOCK_NR, blocks);
        request.set(JAVA_INT, TpacketReq.TP_FRAME_SIZE, placeBytes);
        request.set(JAVA_INT, TpacketReq.TP_FRAME_NR, BLOCK_BYTES / placeBytes * blocks);
        require("PACKET_RX_RING", linux.setOption(fd, LinuxAbi.SOL_PACKET, LinuxAbi.PACKET_RX_RING, request));
        MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
        long size = (long) blocks * BLOCK_BYTES;
        long address =
                MMAP.tryCallLong(state, 0, size, LinuxAbi.PROT_READ | LinuxAbi.PROT_WRITE, LinuxAbi.MAP_SHARED, fd, 0);
        require("mmap", (int) Math.min(address, 0));
        return new PacketRing(mapped(address, size, arena), arena.allocate(SockaddrLl.BYTES, 8), placeBytes);
    }

    /// Binds the ring's socket to an interface, as often as its owner likes. One thread at a time.
    ///
    /// @param protocol the kernel's number of what arrives from now on: 0 for nothing
    /// @return a negated errno when the system refuses
    public int bind(LinuxSockets linux, int fd, int interfaceIndex, int protocol) {
        name.set(JAVA_SHORT, SockaddrLl.SLL_FAMILY, (short) LinuxAbi.AF_PACKET);
        name.set(NETWORK_SHORT, SockaddrLl.SLL_PROTOCOL, (short) protocol);
        name.set(JAVA_INT, SockaddrLl.SLL_IFINDEX, interfaceIndex);
        return linux.bind(fd, name);
    }

    /// The system refuses a ring; the message says why.
    public static final class NoRingException extends Exception {
        private NoRingException(String call, int error) {
            super(call + ": " + LinuxSockets.message(error));
        }
    }

    private static void require(String call, int result) throws NoRingException {
        if (result < 0) {
            throw new NoRingException(call, -result);
        }
    }

    @SuppressWarnings("restricted") // a mapping is an address without bounds
    private static MemorySegment mapped(long address, long bytes, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, _ -> {
            long _ = MUNMAP.call(address, bytes);
        });
    }

    /// Returns the whole memory. Frames lie in it, with [#BEFORE_FRAME_BYTES] before each, which may be
    /// overwritten.
    public MemorySegment memory() {
        return memory;
    }

    /// Returns whether there is a frame that was not taken.
    public boolean hasNext() {
        return held < places && ((int) INT.getAcquire(memory, (long) place(next)) & LinuxAbi.TP_STATUS_USER) != 0;
    }

    /// Takes the next frame; false when there is none.
    public boolean next() {
        if (!hasNext()) {
            return false;
        }
        current = place(next);
        next = next + 1 == places ? 0 : next + 1;
        held++;
        return true;
    }

    /// Gives all places back that were taken.
    public void release() {
        for (; held > 0; held--) {
            INT.setRelease(memory, (long) place(oldest), LinuxAbi.TP_STATUS_KERNEL);
            oldest = oldest + 1 == places ? 0 : oldest + 1;
        }
    }

    private int place(int index) {
        return index / placesInBlock * BLOCK_BYTES + index % placesInBlock * placeBytes;
    }

    // ---- the frame that was taken last

    /// Returns the offset of its first byte in [#memory()].
    public int start() {
        return current + (memory.get(JAVA_SHORT, (long) current + Tpacket2Hdr.TP_MAC) & 0xFFFF);
    }

    /// Returns its length in bytes.
    public int length() {
        return memory.get(JAVA_INT, (long) current + Tpacket2Hdr.TP_LEN);
    }

    /// Returns the number of its bytes that are here.
    public int kept() {
        return memory.get(JAVA_INT, (long) current + Tpacket2Hdr.TP_SNAPLEN);
    }

    /// Returns the VLAN tag that the kernel has taken out of it, 16 bits; -1 when it had none.
    public int tag() {
        int status = memory.get(JAVA_INT, (long) current);
        return (status & LinuxAbi.TP_STATUS_VLAN_VALID) == 0
                ? -1
                : memory.get(JAVA_SHORT, (long) current + Tpacket2Hdr.TP_VLAN_TCI) & 0xFFFF;
    }
}

package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.LinuxAbi.SockaddrXdp;
import verbena.foreign.linux.LinuxAbi.XdpDesc;
import verbena.foreign.linux.LinuxAbi.XdpMmapOffsets;
import verbena.foreign.linux.LinuxAbi.XdpRingOffset;
import verbena.foreign.linux.LinuxAbi.XdpStatistics;
import verbena.foreign.linux.LinuxAbi.XdpUmemReg;

/// A socket of Linux for whole Ethernet frames in memory that it shares with the kernel (AF_XDP,
/// Documentation/networking/af_xdp.rst).
///
/// The memory is cut into chunks. A chunk for arrivals is the kernel's while it is in the fill ring, and this
/// process's from the ring of arrivals until [#release()]. A chunk for departures is the kernel's from [#send]
/// until it comes back in the completion ring. A frame that is larger than what a chunk has room for comes in
/// pieces. It is put together in a place behind the chunks.
///
/// For one thread at a time, except where a method allows more; allocates nothing for a frame.
public final class XdpSocket {
    /// The least number of bytes of memory before an arrival, which may be overwritten.
    public static final int BEFORE_FRAME_BYTES = LinuxAbi.XDP_PACKET_HEADROOM;

    private static final int CHUNK_SMALL = 1 << 11;
    private static final int CHUNK_LARGE = 1 << 12;
    /// Any but zero lets a call poll, and calls that do not wait poll once. The kernel goes on for so long in those
    /// that wait.
    private static final int BUSY_POLL_MICROS = 20;
    /// The number of frames that a poll takes at most.
    private static final int BUSY_POLL_FRAMES = 64;
    /// The number of arrivals of several pieces that are held at most.
    private static final int PLACES = 128;

    // Where the kernel maps each ring (XDP_PGOFF_RX_RING and so on).
    private static final long RX_AT = 0;
    private static final long TX_AT = 0x8000_0000L;
    private static final long FILL_AT = 0x1_0000_0000L;
    private static final long COMPLETION_AT = 0x1_8000_0000L;

    // Names that headers of Linux 6.1 do not have yet.
    private static final int XDP_USE_SG = 0x10;
    private static final int XDP_PKT_CONTD = 1;
    private static final int XDP_MAX_TX_SKB_BUDGET = 9;

    private static final SystemFunction MMAP = SystemFunction.named("mmap");
    private static final SystemFunction MUNMAP = SystemFunction.named("munmap");
    private static final SystemFunction SENDTO = SystemFunction.named("sendto");
    private static final SystemFunction RECVFROM = SystemFunction.named("recvfrom");
    private static final VarHandle INT = JAVA_INT.varHandle();

    /// A ring of 32-bit indexes that count up and wrap around. One side writes entries and then its index.
    private static final class Ring {
        final MemorySegment memory;
        final long producerAt;
        final long consumerAt;
        final long flagsAt;
        final long entriesAt;
        final int entries;
        /// The index of this process: what it has written or taken.
        int own;

        Ring(MemorySegment memory, MemorySegment offsets, long ring, int entries) {
            this.memory = memory;
            this.producerAt = offsets.get(JAVA_LONG, ring + XdpRingOffset.PRODUCER);
            this.consumerAt = offsets.get(JAVA_LONG, ring + XdpRingOffset.CONSUMER);
            this.flagsAt = offsets.get(JAVA_LONG, ring + XdpRingOffset.FLAGS);
            this.entriesAt = offsets.get(JAVA_LONG, ring + XdpRingOffset.DESC);
            this.entries = entries;
        }

        long entry(int index, int bytes) {
            return entriesAt + (long) (index & entries - 1) * bytes;
        }

        int produced() {
            return (int) INT.getAcquire(memory, producerAt);
        }

        int consumed() {
            return (int) INT.getAcquire(memory, consumerAt);
        }

        void publish(long indexAt) {
            INT.setRelease(memory, indexAt, own);
        }

        /// Returns whether the kernel has to be called for what was published. The kernel says so and then looks at
        /// the ring, and this thread does both the other way round.
        boolean needsWakeup() {
            VarHandle.fullFence();
            return ((int) INT.getOpaque(memory, flagsAt) & LinuxAbi.XDP_RING_NEED_WAKEUP) != 0;
        }
    }

    private final LinuxSockets linux;
    private final MemorySegment state;
    private final int fd;
    private final MemorySegment memory;
    private final int chunkBytes;
    private final boolean inPieces;
    private final int placeBytes;
    private final Ring arrivals;
    private final Ring fill;
    private final Ring departures;
    private final Ring completions;
    private final MemorySegment statistics;
    // Written when it is bound, while another thread may look for frames already.
    private volatile boolean isZeroCopy;
    private volatile boolean pollsBusily;

    // ---- arrivals
    /// The position after the last arrival that the kernel has reported.
    private int arrived;

    private int placesHeld;
    private int start;
    private int length;
    private int kept;

    // ---- departures
    private final int[] free;
    private int freeCount;

    /// The system refuses a step; [#error()] says why.
    public static final class RefusedException extends Exception {
        private final String call;
        private final int error;

        private RefusedException(String call, int error) {
            super(call + ": " + LinuxSockets.message(error));
            this.call = call;
            this.error = error;
        }

        /// Returns the call that was refused, by its name in C.
        public String call() {
            return call;
        }

        /// Returns the errno.
        public int error() {
            return error;
        }
    }

    /// The sizes of a socket.
    ///
    /// @param frameBytes of the largest frame that is sent, or arrives complete
    /// @param arrivals how many chunks are for arrivals, a power of 2
    /// @param departures how many chunks are for departures, a power of 2
    public record Size(int frameBytes, int arrivals, int departures) {
        int chunkBytes() {
            return frameBytes <= CHUNK_SMALL - BEFORE_FRAME_BYTES ? CHUNK_SMALL : CHUNK_LARGE;
        }

        /// Returns whether frames may come and go in pieces (Linux 6.6 or newer).
        public boolean inPieces() {
            return frameBytes > CHUNK_LARGE - BEFORE_FRAME_BYTES;
        }

        int placeBytes() {
            return inPieces() ? BEFORE_FRAME_BYTES + (frameBytes + 63 & -64) : 0;
        }

        /// Returns the memory that it shares with the kernel, which counts as locked memory (RLIMIT_MEMLOCK).
        public long lockedBytes() {
            return (long) (arrivals + departures) * chunkBytes();
        }
    }

    /// Makes a socket that is not bound yet; [LinuxSockets#close] ends it.
    ///
    /// @param arena ends the mappings; the socket is closed before
    /// @throws RefusedException when the system refuses it
    public static XdpSocket open(LinuxSockets linux, Size size, Arena arena) throws RefusedException {
        int fd = require("socket", linux.xdpSocket());
        boolean isReady = false;
        try {
            var socket = new XdpSocket(linux, fd, size, arena);
            isReady = true;
            return socket;
        } finally {
            if (!isReady) {
                LinuxSockets.close(fd);
            }
        }
    }

    private XdpSocket(LinuxSockets linux, int fd, Size size, Arena arena) throws RefusedException {
        this.linux = linux;
        this.fd = fd;
        state = arena.allocate(Linker.Option.captureStateLayout());
        statistics = arena.allocate(XdpStatistics.BYTES, 8);
        chunkBytes = size.chunkBytes();
        inPieces = size.inPieces();
        placeBytes = size.placeBytes();
        int anonymous = LinuxAbi.MAP_SHARED | LinuxAbi.MAP_ANONYMOUS | LinuxAbi.MAP_POPULATE;
        memory = map(size.lockedBytes() + (long) PLACES * placeBytes, anonymous, -1, 0, arena);
        MemorySegment request = arena.allocate(XdpUmemReg.BYTES, 8);
        request.set(JAVA_LONG, XdpUmemReg.ADDR, memory.address());
        request.set(JAVA_LONG, XdpUmemReg.LEN, size.lockedBytes());
        request.set(JAVA_INT, XdpUmemReg.CHUNK_SIZE, chunkBytes);
        require("XDP_UMEM_REG", linux.setOption(fd, LinuxAbi.SOL_XDP, LinuxAbi.XDP_UMEM_REG, request));
        setSize("XDP_UMEM_FILL_RING", LinuxAbi.XDP_UMEM_FILL_RING, size.arrivals());
        setSize("XDP_UMEM_COMPLETION_RING", LinuxAbi.XDP_UMEM_COMPLETION_RING, size.departures());
        setSize("XDP_RX_RING", LinuxAbi.XDP_RX_RING, size.arrivals());
        setSize("XDP_TX_RING", LinuxAbi.XDP_TX_RING, size.departures());
        // Older systems send 32 frames a call, and cannot be told to send more.
        int _ = linux.setOption(fd, LinuxAbi.SOL_XDP, XDP_MAX_TX_SKB_BUDGET, size.departures());
        MemorySegment offsets = arena.allocate(XdpMmapOffsets.BYTES, 8);
        require("XDP_MMAP_OFFSETS", linux.option(fd, LinuxAbi.SOL_XDP, LinuxAbi.XDP_MMAP_OFFSETS, offsets));
        arrivals = ring(offsets, XdpMmapOffsets.RX, size.arrivals(), XdpDesc.BYTES, RX_AT, arena);
        fill = ring(offsets, XdpMmapOffsets.FR, size.arrivals(), Long.BYTES, FILL_AT, arena);
        departures = ring(offsets, XdpMmapOffsets.TX, size.departures(), XdpDesc.BYTES, TX_AT, arena);
        completions = ring(offsets, XdpMmapOffsets.CR, size.departures(), Long.BYTES, COMPLETION_AT, arena);
        for (int i = 0; i < size.arrivals(); i++) {
            giveBack((long) i * chunkBytes);
        }
        fill.publish(fill.producerAt);
        free = new int[size.departures()];
        for (int i = free.length - 1; i >= 0; i--) {
            free[freeCount++] = (size.arrivals() + i) * chunkBytes;
        }
    }

    private void setSize(String name, int option, int entries) throws RefusedException {
        require(name, linux.setOption(fd, LinuxAbi.SOL_XDP, option, entries));
    }

    private Ring ring(MemorySegment offsets, long which, int entries, int entryBytes, long at, Arena arena)
            throws RefusedException {
        long bytes = offsets.get(JAVA_LONG, which + XdpRingOffset.DESC) + (long) entries * entryBytes;
        int flags = LinuxAbi.MAP_SHARED | LinuxAbi.MAP_POPULATE;
        return new Ring(map(bytes, flags, fd, at, arena), offsets, which, entries);
    }

    @SuppressWarnings("restricted") // a mapping is an address without bounds
    private MemorySegment map(long bytes, int flags, int from, long at, Arena arena) throws RefusedException {
        long address = MMAP.tryCallLong(state, 0, bytes, LinuxAbi.PROT_READ | LinuxAbi.PROT_WRITE, flags, from, at);
        require("mmap", (int) Math.min(address, 0));
        return MemorySegment.ofAddress(address).reinterpret(bytes, arena, _ -> {
            long _ = MUNMAP.call(address, bytes);
        });
    }

    private static int require(String call, int result) throws RefusedException {
        if (result < 0) {
            throw new RefusedException(call, -result);
        }
        return result;
    }

    /// Binds the socket to a queue of an interface. The driver then takes frames from the memory itself where it
    /// can, else the kernel copies them.
    ///
    /// @throws RefusedException when the system refuses it
    public void bind(int interfaceIndex, int queue) throws RefusedException {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment name = call.allocate(SockaddrXdp.BYTES, 8);
            name.set(JAVA_SHORT, SockaddrXdp.SXDP_FAMILY, (short) LinuxAbi.AF_XDP);
            name.set(JAVA_SHORT, SockaddrXdp.SXDP_FLAGS, (short)
                    (LinuxAbi.XDP_USE_NEED_WAKEUP | (inPieces ? XDP_USE_SG : 0)));
            name.set(JAVA_INT, SockaddrXdp.SXDP_IFINDEX, interfaceIndex);
            name.set(JAVA_INT, SockaddrXdp.SXDP_QUEUE_ID, queue);
            require("bind", linux.bind(fd, name));
            MemorySegment options = call.allocate(JAVA_INT);
            require("XDP_OPTIONS", linux.option(fd, LinuxAbi.SOL_XDP, LinuxAbi.XDP_OPTIONS, options));
            isZeroCopy = (options.get(JAVA_INT, 0) & LinuxAbi.XDP_OPTIONS_ZEROCOPY) != 0;
        }
    }

    /// Makes each look for a frame that finds none work for the interface, in the looking thread: its queue then
    /// needs no interrupt while that thread looks (SO_PREFER_BUSY_POLL, Documentation/networking/napi.rst). Each
    /// such look is a system call. For a socket that is bound.
    ///
    /// @throws RefusedException when the system refuses it
    public void pollBusily() throws RefusedException {
        setSocket("SO_PREFER_BUSY_POLL", LinuxAbi.SO_PREFER_BUSY_POLL, 1);
        setSocket("SO_BUSY_POLL", LinuxAbi.SO_BUSY_POLL, BUSY_POLL_MICROS);
        setSocket("SO_BUSY_POLL_BUDGET", LinuxAbi.SO_BUSY_POLL_BUDGET, BUSY_POLL_FRAMES);
        pollsBusily = true;
    }

    private void setSocket(String name, int option, int value) throws RefusedException {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment number = call.allocateFrom(JAVA_INT, value);
            require(name, linux.setOption(fd, LinuxAbi.SOL_SOCKET, option, number));
        }
    }

    /// Returns the descriptor: readable when a frame has arrived and none of those that were taken is still held.
    public int fd() {
        return fd;
    }

    /// Returns whether the driver reads and writes the memory, and the kernel copies nothing.
    public boolean isZeroCopy() {
        return isZeroCopy;
    }

    /// Returns all chunks and places. Frames lie in it, with [#BEFORE_FRAME_BYTES] before each, which may be
    /// overwritten.
    public MemorySegment memory() {
        return memory;
    }

    // ---- arrivals

    /// Returns whether there is a frame that was not taken.
    public boolean hasNext() {
        if (arrivals.own != arrived) {
            return true;
        }
        arrived = arrivals.produced();
        return arrivals.own != arrived;
    }

    /// Takes the next frame; false when there is none.
    public boolean next() {
        if (!hasNext() && !(pollsBusily && hasPolled())) {
            return false;
        }
        long entry = arrivals.entry(arrivals.own, XdpDesc.BYTES);
        start = (int) arrivals.memory.get(JAVA_LONG, entry + XdpDesc.ADDR);
        length = arrivals.memory.get(JAVA_INT, entry + XdpDesc.LEN);
        kept = length;
        if ((arrivals.memory.get(JAVA_INT, entry + XdpDesc.OPTIONS) & XDP_PKT_CONTD) != 0) {
            return takePieces();
        }
        take();
        return true;
    }

    /// Lets the kernel work for the interface; whether that has brought a frame.
    private boolean hasPolled() {
        long _ = RECVFROM.call(fd, 0, 0, LinuxAbi.MSG_DONTWAIT, 0, 0);
        return hasNext();
    }

    /// Notes that the current entry is taken, and its chunk will be given back.
    private void take() {
        long address = arrivals.memory.get(JAVA_LONG, arrivals.entry(arrivals.own, XdpDesc.BYTES) + XdpDesc.ADDR);
        giveBack(address - address % chunkBytes);
        arrivals.own++;
    }

    private void giveBack(long chunk) {
        fill.memory.set(JAVA_LONG, fill.entry(fill.own++, Long.BYTES), chunk);
    }

    /// Puts a frame together. The kernel publishes all pieces of a frame at once.
    private boolean takePieces() {
        if (placesHeld == PLACES) {
            return false; // until some are released
        }
        int room = placeBytes == 0 ? 0 : placeBytes - BEFORE_FRAME_BYTES;
        int place = (int) (memory.byteSize() - (long) PLACES * placeBytes) + placesHeld * placeBytes;
        placesHeld++;
        start = place + BEFORE_FRAME_BYTES;
        length = 0;
        kept = 0;
        boolean goesOn = true;
        while (goesOn && hasNext()) {
            long entry = arrivals.entry(arrivals.own, XdpDesc.BYTES);
            long piece = arrivals.memory.get(JAVA_LONG, entry + XdpDesc.ADDR);
            int bytes = arrivals.memory.get(JAVA_INT, entry + XdpDesc.LEN);
            int copied = Math.min(bytes, room - kept);
            MemorySegment.copy(memory, piece, memory, start + kept, copied);
            kept += copied;
            length += bytes;
            goesOn = (arrivals.memory.get(JAVA_INT, entry + XdpDesc.OPTIONS) & XDP_PKT_CONTD) != 0;
            take();
        }
        return true;
    }

    /// Gives the memory of all frames back that were taken.
    public void release() {
        placesHeld = 0;
        if (arrivals.own == (int) INT.getOpaque(arrivals.memory, arrivals.consumerAt)) {
            return;
        }
        fill.publish(fill.producerAt);
        arrivals.publish(arrivals.consumerAt);
        if (fill.needsWakeup()) {
            long _ = RECVFROM.call(fd, 0, 0, LinuxAbi.MSG_DONTWAIT, 0, 0);
        }
    }

    /// Returns the offset in [#memory()] of the first byte of the frame that was taken last.
    public int start() {
        return start;
    }

    /// Returns its length in bytes.
    public int length() {
        return length;
    }

    /// Returns the number of its bytes that are here.
    public int kept() {
        return kept;
    }

    // ---- departures

    /// Copies a frame into free chunks, to leave with the next [#send()]; false when there are too few.
    public boolean put(MemorySegment from, long offset, int bytes) {
        int pieces = (bytes + chunkBytes - 1) / chunkBytes;
        if (freeCount < pieces) {
            reclaim();
            if (freeCount < pieces) {
                return false;
            }
        }
        int done = 0;
        while (done < bytes) {
            int chunk = free[--freeCount];
            int piece = Math.min(bytes - done, chunkBytes);
            MemorySegment.copy(from, offset + done, memory, chunk, piece);
            done += piece;
            long entry = departures.entry(departures.own++, XdpDesc.BYTES);
            departures.memory.set(JAVA_LONG, entry + XdpDesc.ADDR, chunk);
            departures.memory.set(JAVA_INT, entry + XdpDesc.LEN, piece);
            departures.memory.set(JAVA_INT, entry + XdpDesc.OPTIONS, done < bytes ? XDP_PKT_CONTD : 0);
        }
        return true;
    }

    /// Takes the chunks back that the kernel has done with. There are as many entries as chunks, so the ring of
    /// departures has room for every free chunk.
    private void reclaim() {
        int end = completions.produced();
        if (completions.own == end) {
            return;
        }
        while (completions.own != end) {
            long chunk = completions.memory.get(JAVA_LONG, completions.entry(completions.own++, Long.BYTES));
            free[freeCount++] = (int) (chunk - chunk % chunkBytes);
        }
        completions.publish(completions.consumerAt);
    }

    /// Hands what was put to the kernel. Zero, or the negative error that keeps the kernel from sending; what is
    /// left then leaves with the next call.
    public int send() {
        departures.publish(departures.producerAt);
        if (!departures.needsWakeup()) {
            return 0;
        }
        int before = departures.consumed();
        while (true) {
            if ((int) SENDTO.call(fd, 0, 0, LinuxAbi.MSG_DONTWAIT, 0, 0) >= 0) {
                return 0;
            }
            // The kernel has stopped after some frames, or it has lost one because a queue was full.
            int after = departures.consumed();
            if (after == departures.own) {
                return 0;
            }
            if (after == before) {
                return Math.min(SENDTO.tryCall(state, fd, 0, 0, LinuxAbi.MSG_DONTWAIT, 0), 0);
            }
            before = after;
        }
    }

    /// Returns whether a frame that was put has not left, although the kernel does not work on it. It waits for the
    /// next [#send()], or for poll(2). Any thread.
    public boolean isStuck() {
        return !isZeroCopy && departures.consumed() != departures.produced();
    }

    /// Returns the number of frames that found no memory, or no place in the ring; negative when the kernel does
    /// not report it. Any thread, but one at a time.
    ///
    /// @param asking of the thread that asks
    public long dropped(LinuxSockets asking) {
        if (asking.option(fd, LinuxAbi.SOL_XDP, LinuxAbi.XDP_STATISTICS, statistics) < 0) {
            return -1;
        }
        return statistics.get(JAVA_LONG, XdpStatistics.RX_DROPPED)
                + statistics.get(JAVA_LONG, XdpStatistics.RX_RING_FULL);
    }
}

package verbena.transport.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// A memory region as the protocol sees it. Made by any thread, changed by the engine only.
public final class Region extends Keyed {
    private static final VarHandle WINDOWS;

    static {
        try {
            WINDOWS = MethodHandles.lookup().findVarHandle(Region.class, "windows", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final MemorySegment memory;
    final long iova;
    final long length;
    final Reach reach;
    volatile int access;
    /// Windows bound to it; changed by engines only.
    private volatile int windows;

    /// Makes a region of a program's memory.
    ///
    /// @param memory native memory, accessible by the engine's thread
    /// @param iova address of its first byte as requests name it
    /// @param access bits of [verbena.verbs.Access]
    public Region(int protectionDomain, MemorySegment memory, long iova, int access) {
        this(protectionDomain, memory, memory.byteSize(), iova, access, Reach.PROGRAMS);
    }

    private Region(int protectionDomain, MemorySegment memory, long length, long iova, int access, Reach reach) {
        super(protectionDomain);
        this.reach = reach;
        this.memory = memory;
        this.iova = iova;
        this.length = length;
        this.access = access;
    }

    /// Makes a region whose memory lasts: until the region is removed, no arena is closed, and no mapped file is
    /// cut short.
    public static Region ofLastingMemory(int protectionDomain, MemorySegment memory, long iova, int access) {
        return new Region(protectionDomain, memory, memory.byteSize(), iova, access, Reach.LASTING);
    }

    /// Makes a region of addresses at which there need not be memory ([verbena.verbs.Access#ON_DEMAND]).
    public static Region onDemand(int protectionDomain, MemorySegment memory, long iova, int access) {
        return new Region(protectionDomain, memory, memory.byteSize(), iova, access, Reach.ON_DEMAND);
    }

    /// Makes a region without memory: reading gives zeros, and what is written is gone (ibv_alloc_null_mr(3)).
    public static Region ofNothing(int protectionDomain, int access) {
        return new Region(protectionDomain, MemorySegment.NULL, Long.MAX_VALUE, 0, access, Reach.NOTHING);
    }

    /// Returns whether it has no memory ([#ofNothing]).
    public boolean isOfNothing() {
        return reach == Reach.NOTHING;
    }

    /// Returns the memory that others than the table may use, by its address: the operating system, and peers of
    /// this host; NULL when there is none.
    MemorySegment open() {
        return reach.isOpen ? memory : MemorySegment.NULL;
    }

    public MemorySegment memory() {
        return memory;
    }

    public long iova() {
        return iova;
    }

    public long length() {
        return length;
    }

    public int access() {
        return access;
    }

    /// Windows bound to it.
    public int windows() {
        return windows;
    }

    /// Changes domain and rights: see [MemoryTable#reregister].
    void reregister(int protectionDomain, int access) {
        this.protectionDomain = protectionDomain;
        this.access = access;
    }

    /// Counts windows; engines only.
    void countWindows(int change) {
        WINDOWS.getAndAdd(this, change);
    }

    boolean contains(long address, long bytes) {
        // Unsigned addresses; written so that nothing can overflow.
        long offset = address - iova;
        return bytes >= 0
                && bytes <= length
                && Long.compareUnsigned(address, iova) >= 0
                && Long.compareUnsigned(offset, length - bytes) <= 0;
    }
}

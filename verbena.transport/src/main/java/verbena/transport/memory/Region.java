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
    /// True when nothing can happen to the memory before the region is removed.
    final boolean lasts;
    volatile int access;
    /// Windows bound to it; changed by engines only.
    private volatile int windows;

    /// @param memory native memory, accessible by the engine's thread
    /// @param iova address of its first byte as requests name it
    /// @param access bits of [verbena.verbs.Access]
    public Region(int protectionDomain, MemorySegment memory, long iova, int access) {
        this(protectionDomain, memory, iova, access, false);
    }

    private Region(int protectionDomain, MemorySegment memory, long iova, int access, boolean lasts) {
        super(protectionDomain);
        this.lasts = lasts;
        this.memory = memory;
        this.iova = iova;
        this.length = memory.byteSize();
        this.access = access;
    }

    /// Makes a region whose memory lasts: until the region is removed, no arena is closed, and no mapped file is
    /// cut short.
    public static Region ofLastingMemory(int protectionDomain, MemorySegment memory, long iova, int access) {
        return new Region(protectionDomain, memory, iova, access, true);
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

package verbena.tools.files;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;

/// The chunks under way: slots of page-aligned memory, one after the other. Slot n of one end and slot n of the
/// other belong together: a chunk goes from there to there. Only one end is exposed, with the one right that the
/// mode needs, from its making until it is closed.
final class Window implements AutoCloseable {
    static final RemoteMemory NONE = new RemoteMemory(0, 0, 0);

    private final Arena arena = Arena.ofShared();
    private final MemoryRegion region;
    private final ByteBuffer[] slots;
    private final Terms terms;
    private final boolean isExposed;

    /// @param isSender whether files leave from it
    Window(Connection connection, Terms terms, boolean isSender) {
        this.terms = terms;
        isExposed = isSender == (terms.mode() == Mode.READ);
        MemorySegment memory = arena.allocate(terms.windowBytes(), Terms.PAGE);
        Set<Access> access = EnumSet.of(Access.LOCAL_WRITE);
        if (isExposed) {
            access.add(isSender ? Access.REMOTE_READ : Access.REMOTE_WRITE);
        }
        region = register(connection, memory, access);
        slots = new ByteBuffer[terms.slots()];
        for (int i = 0; i < slots.length; i++) {
            slots[i] = memory.asSlice(offset(i), terms.chunkBytes()).asByteBuffer();
        }
    }

    private MemoryRegion register(Connection connection, MemorySegment memory, Set<Access> access) {
        MemoryRegion made = null;
        try {
            made = connection.queuePair().protectionDomain().register(memory, access);
            return made;
        } finally {
            if (made == null) {
                arena.close();
            }
        }
    }

    /// Returns the description of the window for the peer.
    RemoteMemory exposed() {
        return isExposed ? region.remote() : NONE;
    }

    /// Returns whether the peer's description of its window is as it has to be.
    boolean fits(RemoteMemory theirs) {
        return theirs.length() == (isExposed ? 0 : terms.windowBytes());
    }

    MemoryRegion region() {
        return region;
    }

    long offset(int slot) {
        return (long) slot * terms.chunkBytes();
    }

    /// Returns a slot as a buffer; the thread that has the slot sets its position and limit.
    ByteBuffer slot(int slot) {
        return slots[slot];
    }

    /// Withdraws it. Its buffers may not be used any more.
    @Override
    public void close() {
        region.close();
        arena.close();
    }
}

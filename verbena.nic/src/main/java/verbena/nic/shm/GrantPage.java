package verbena.nic.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import verbena.nic.link.sharing.Neighbours;

/// The words of a page that one neighbour writes and the other reads. The first says which grant of the other side
/// the writer uses at this moment; each other word is the state of a grant that the writer has given.
///
/// The user of a grant says that it is busy, and then looks at the state; the owner changes the state, and then
/// looks whether the user is busy. All four are kept in this order by full fences. So an owner that sees no busy
/// user after the change knows that no access under way began before it, and none begins after it.
///
/// The state words lie apart from the first word, which its writer changes with each access. In one cache line with
/// it, they would come anew from the other processor each time that a neighbour looks at them.
final class GrantPage {
    /// Two cache lines, because processors like to fetch a pair.
    private static final int APART_BYTES = 128;

    /// The limit of the indexes of state words, which are not 0.
    static final int WORDS = (Neighbours.PAGE_BYTES - APART_BYTES) / Long.BYTES;

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long BUSY = 0;
    private static final long IDLE = 0;

    private GrantPage() {}

    /// Notes that the writer is about to use grant `index` of the other side; [#state] of the other page has its
    /// permission.
    static void begin(MemorySegment own, int index) {
        WORD.setOpaque(own, BUSY, index + 1L);
        VarHandle.fullFence();
    }

    /// Notes that the writer has used it. Release: its accesses come before.
    static void end(MemorySegment own) {
        WORD.setRelease(own, BUSY, IDLE);
    }

    /// Returns whether the writer of `page` uses grant `index` of the other side.
    static boolean isBusy(MemorySegment page, int index) {
        return (long) WORD.getVolatile(page, BUSY) == index + 1L;
    }

    /// Returns the state of grant `index`. Acquire: accesses come after it.
    static long state(MemorySegment page, int index) {
        return (long) WORD.getAcquire(page, place(index));
    }

    /// Makes the grant valid.
    static void give(MemorySegment own, int index, long value) {
        WORD.setRelease(own, place(index), value);
    }

    /// Ends the grant; [VarHandle#fullFence] has to follow before [#isBusy] is asked.
    static void withdraw(MemorySegment own, int index) {
        WORD.setOpaque(own, place(index), 0L);
    }

    private static long place(int index) {
        return APART_BYTES + (long) index * Long.BYTES;
    }
}

package verbena.abi.rsocket;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.abi.Native;

/// The lead of a thread at a [StreamWatch] in one call of Java: it sleeps here, and not in C.
final class StreamVisit {
    private static final long POLLFDS_BYTES = 64 * 8;
    private static final ThreadLocal<MemorySegment> POLLFDS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(POLLFDS_BYTES, 8));

    private StreamVisit() {}

    /// Sleeps until something has come for an rsocket there, which is told, or the time is over, or the
    /// leader is called. Leads no more then. False when the device cannot be visited now.
    static boolean await(StreamWatch at, long nanos) {
        MemorySegment pollfds = POLLFDS.get();
        int dozing = 0;
        try {
            dozing = at.visit(pollfds);
            long until = nanos == Long.MAX_VALUE ? nanos : System.nanoTime() + nanos;
            long left = nanos;
            while (dozing > 0 && left > 0 && !at.takePoke()) {
                Native.poll(pollfds, dozing, left);
                dozing = at.goOn(pollfds);
                left = until == Long.MAX_VALUE ? until : until - System.nanoTime();
            }
        } finally {
            at.endLead(dozing > 0);
        }
        return dozing != StreamWatch.ELSEWHERE;
    }
}

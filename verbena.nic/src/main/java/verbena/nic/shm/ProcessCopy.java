package verbena.nic.shm;

import java.lang.foreign.Arena;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.OtherProcess;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.near.PeerMemory.Progress;
import verbena.transport.queue.SendRequest;
import verbena.verbs.spi.SendOperation;

/// The execution of WRITEs and READs between this side's regions and memory of a peer's process that is not mapped
/// here: the kernel copies. The last 8 bytes of a WRITE are stored after all others. Allocates nothing, and throws
/// nothing, whatever becomes of either memory meanwhile. For the owner of the engine.
///
/// Where memory ends too early, on this side or there, a request goes by packets from its beginning: the peer's
/// engine does it or says what is wrong.
final class ProcessCopy {
    private final OtherProcess other = new OtherProcess(Arena.ofAuto());
    private long done;

    /// Returns how many bytes of the request are done, after [Progress#MORE].
    long done() {
        return done;
    }

    /// Carries out the request from byte `from` on, or a piece of it.
    ///
    /// @param domain whose regions the request names
    /// @param process closed when the kernel refuses
    /// @param mark of the process, as it said
    /// @param at address in the process where the request begins
    Progress execute(
            SendRequest request, int domain, MemoryTable memory, PeerProcess process, long mark, long at, long from) {
        done = from;
        boolean isWrite =
                request.operation == SendOperation.WRITE || request.operation == SendOperation.WRITE_WITH_IMMEDIATE;
        if (!isWrite && request.operation != SendOperation.READ) {
            return Progress.BY_PACKETS;
        }
        try {
            int bytes = addLocal(request, domain, memory, isWrite);
            if (bytes == 0) {
                other.clear();
                return Progress.BY_PACKETS;
            }
            long copied = isWrite
                    ? other.write(process.number, mark, at + done)
                    : other.read(process.number, mark, at + done);
            if (copied < bytes) {
                if (copied < 0 && copied != -LinuxAbi.ENOMEM) {
                    process.close();
                }
                return Progress.BY_PACKETS;
            }
            done += bytes;
            return done == request.bytes() ? Progress.DONE_BY_SYSTEM : Progress.MORE;
        } catch (IllegalStateException _) {
            return Progress.BY_PACKETS; // an arena of this side was closed
        }
    }

    /// Names this side's memory for the next piece of the request; returns how many bytes it has, 0 when the
    /// request may not use it any more.
    private int addLocal(SendRequest request, int domain, MemoryTable memory, boolean isWrite) {
        int most = (int) Math.min(DirectCopy.PIECE_BYTES, request.bytes() - done);
        if (request.isInline) {
            other.add(request.inline, done, most);
            return most;
        }
        int bytes = 0;
        for (int i = 0; i < OtherProcess.PIECES_MAX && bytes < most; i++) {
            if (memory.locate(request.scatter, domain, done + bytes, !isWrite) != MemoryVerdict.OK) {
                return 0;
            }
            int next = (int) Math.min(memory.locatedBytes(), most - bytes);
            other.add(memory.located(), memory.locatedOffset(), next);
            bytes += next;
        }
        return bytes;
    }
}

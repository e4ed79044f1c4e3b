package verbena.abi.rsocket;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.abi.Native;
import verbena.foreign.Memory;

/// One thread's rpoll: poll(2) for rsockets and all other descriptors. The thread attends to the device
/// itself while it waits, and sleeps in C. Only what is no connection of ours is left to the kernel, and
/// rsockets of further devices.
///
/// One call of the program's is several of these: C sleeps in between.
public final class RsocketPoll {
    private static final ThreadLocal<@Nullable RsocketPoll> MINE = new ThreadLocal<>();

    /// `struct pollfd`: fd, events, revents.
    private static final int POLLFD_BYTES = 8;

    private static final int EVENTS = 4;
    private static final int REVENTS = 6;

    /// The rsockets that this thread waits for, and those that it waits for as the kernel finds them.
    private final List<Attention> waited = new ArrayList<>();
    private final List<Attention> byKernel = new ArrayList<>();
    /// The device that this thread leads at.
    private @Nullable StreamWatch led;
    private boolean isVisiting;
    /// Whether the kernel tells of all of them.
    private boolean isByKernel;
    /// The number of descriptors that only the kernel knows, of the last look.
    private int others;

    private RsocketPoll() {}

    /// Looks, and prepares to sleep.
    ///
    /// @param fds the program's `struct pollfd`s, whose results for rsockets are filled in
    /// @param asleep for what the kernel is to poll: as many in the same order, those that it need not know
    ///     with -1, and then those of the device
    /// @param bytes room there
    /// @param isWaiting whether to sleep when none is ready. Otherwise, and when some are, the wait is over
    /// @return in the upper half how many rsockets are ready; in the lower half how many the kernel is to
    ///     poll, for ever when none is ready and the caller waits, and otherwise once
    static long poll(long fds, long count, long asleep, long bytes, boolean isWaiting) {
        RsocketPoll mine = MINE.get();
        if (mine == null) {
            mine = new RsocketPoll();
            MINE.set(mine);
        }
        return mine.look(fds, (int) count, Native.at(asleep, bytes), isWaiting);
    }

    /// Ends the call of this thread, if it was in one.
    public static void end() {
        RsocketPoll mine = MINE.get();
        if (mine != null) {
            mine.endWait();
        }
    }

    private long look(long fds, int count, MemorySegment asleep, boolean isWaiting) {
        MemorySegment device = asleep.asSlice((long) count * POLLFD_BYTES);
        StreamWatch at = led;
        int dozing = at != null && isVisiting ? at.goOn(device) : 0;
        while (true) {
            isVisiting = dozing > 0;
            if (at != null && !isVisiting) {
                at.bring();
            }
            int ready = lookAtAll(fds, count, asleep.address(), !isWaiting);
            if (ready > 0 || !isWaiting) {
                endWait();
                return (long) ready << Integer.SIZE | (others > 0 ? count : 0);
            }
            if (isByKernel) {
                return count;
            }
            if (at != null && isVisiting) {
                if (!at.takePoke()) {
                    return (long) count + dozing;
                }
                continue;
            }
            at = at == null ? lead(fds, count) : at;
            dozing = at == null ? StreamWatch.ELSEWHERE : at.visit(device);
            if (dozing == StreamWatch.ELSEWHERE) {
                waitByKernel(fds, count);
                at = null;
            }
        }
    }

    /// Looks at the readiness of each descriptor, and returns how many are ready. Descriptors that belong to no
    /// rsocket are for the kernel.
    ///
    /// @param isLast whether this thread does not wait: then the device has had no other chance to do its work
    private int lookAtAll(long fds, int count, long asleep, boolean isLast) {
        int ready = 0;
        boolean drives = isLast;
        others = 0;
        for (int i = 0; i < count; i++) {
            long at = fds + (long) i * POLLFD_BYTES;
            long to = asleep + (long) i * POLLFD_BYTES;
            int fd = Memory.getInt(at);
            int events = Memory.getUnsignedShort(at + EVENTS);
            int found = Attention.NOT_UNDER_WAY;
            if (Rsockets.find(fd) instanceof Rsocket rsocket) {
                found = rsocket.attention.look(events, drives);
                drives &= found == Attention.NOT_UNDER_WAY;
            }
            boolean isForKernel = found == Attention.NOT_UNDER_WAY;
            Memory.putShort(at + REVENTS, isForKernel ? 0 : found);
            Memory.putInt(to, isForKernel || isByKernel ? fd : -1);
            Memory.putShort(to + EVENTS, events);
            Memory.putShort(to + REVENTS, 0);
            others += isForKernel && fd >= 0 ? 1 : 0;
            ready += !isForKernel && found != 0 ? 1 : 0;
        }
        return ready;
    }

    /// Leads at the device that they have, and waits for all of them. Null when they have several devices, or
    /// another thread leads: then the kernel has to tell.
    private @Nullable StreamWatch lead(long fds, int count) {
        for (int i = 0; i < count; i++) {
            long pollfd = fds + (long) i * POLLFD_BYTES;
            StreamWatch at =
                    Rsockets.find(Memory.getInt(pollfd)) instanceof Rsocket rsocket ? begin(rsocket.attention) : led;
            if (at != led) {
                return null;
            }
        }
        return led;
    }

    /// Waits for one of them, if this thread leads at its device; answers that.
    private @Nullable StreamWatch begin(Attention rsocket) {
        StreamWatch at = rsocket.watchUnderWay();
        if (at == null) {
            return led;
        }
        if (led == null && at.tryLead()) {
            led = at;
        }
        if (at == led) {
            rsocket.beginWait();
            waited.add(rsocket);
        }
        return at;
    }

    /// Makes the kernel report all of them from now on.
    private void waitByKernel(long fds, int count) {
        endWait();
        isByKernel = true;
        for (int i = 0; i < count; i++) {
            long pollfd = fds + (long) i * POLLFD_BYTES;
            if (Rsockets.find(Memory.getInt(pollfd)) instanceof Rsocket rsocket
                    && rsocket.attention.watchUnderWay() != null) {
                rsocket.attention.beginKernelWait(Memory.getUnsignedShort(pollfd + EVENTS));
                byKernel.add(rsocket.attention);
            }
        }
    }

    private void endWait() {
        StreamWatch at = led;
        if (at != null) {
            led = null;
            at.endLead(isVisiting);
        }
        isVisiting = false;
        isByKernel = false;
        waited.forEach(Attention::endWait);
        waited.clear();
        byKernel.forEach(Attention::endKernelWait);
        byKernel.clear();
    }
}

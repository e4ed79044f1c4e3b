package verbena.ibverbs.lib;

import static verbena.foreign.rdma.VerbsStructs.CONTEXT;
import static verbena.foreign.rdma.VerbsStructs.VERBS_CONTEXT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.verbs.DeviceException;

/// The tables of function pointers of an opened device: what is inline in `verbs.h`.
///
/// Those of the data path are called by [#POST] and [#POLL] and their like. A call that is *critical* does not
/// tell the JVM that the thread is away, which is most of what a call costs; so it has to be short, and must not
/// wait. A card's requests are written into a ring and a doorbell: that is. The kernel's software devices, and
/// cards that are posted to by a system call, are called the ordinary way.
public final class Ops {
    private static final FunctionDescriptor THREE = FunctionDescriptor.of(
            ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    private static final FunctionDescriptor POLLING = FunctionDescriptor.of(
            ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG);
    private static final FunctionDescriptor NOTIFYING =
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT);

    /// `int post(void *queue, void *wr, void **bad)`, critical.
    private static final MethodHandle POST = NativeFunction.criticalHandle(THREE);
    /// The same by the ordinary way.
    private static final MethodHandle POST_SLOWLY = NativeFunction.handle(THREE);
    /// `int poll_cq(void *cq, int entries, void *wc)`: every device's completions are in memory.
    private static final MethodHandle POLL = NativeFunction.criticalHandle(POLLING);

    private static final MethodHandle NOTIFY = NativeFunction.handle(NOTIFYING);

    private static final long IS_EXTENDED = -1;
    private static final long SANE_SIZE = 1 << 16;

    private final long context;
    private final boolean isPostingShort;
    /// Bytes of the extended context that this library has; 0 for none.
    private final long extendedBytes;

    private final MemorySegment postSend;
    private final MemorySegment postReceive;
    private final MemorySegment postSharedReceive;
    private final MemorySegment pollCq;
    private final MemorySegment requestNotify;

    /// @param context of an opened device
    /// @param device that was opened
    /// @param isPostingShort whether posting makes no system call
    /// @throws DeviceException when this is not what `verbs.h` describes
    public Ops(long context, long device, String name, boolean isPostingShort) {
        this.context = context;
        this.isPostingShort = isPostingShort;
        long abi = Memory.getLong(context + CONTEXT.at("abi_compat"));
        long bytes = abi == IS_EXTENDED ? Memory.getLong(at("sz")) : 0;
        if (Memory.getLong(context + CONTEXT.at("device")) != device
                || bytes < 0
                || bytes > SANE_SIZE
                || bytes % Long.BYTES != 0) {
            throw new DeviceException("open " + name + ": this libibverbs lays its structs out in a way that is not"
                    + " known here (extended context of " + bytes + " bytes); please report its version");
        }
        this.extendedBytes = bytes;
        postSend = ordinary("post_send");
        postReceive = ordinary("post_recv");
        postSharedReceive = ordinary("post_srq_recv");
        pollCq = ordinary("poll_cq");
        requestNotify = ordinary("req_notify_cq");
    }

    private MemorySegment ordinary(String name) {
        return MemorySegment.ofAddress(Memory.getLong(context + CONTEXT.at("ops." + name)));
    }

    /// Returns the address of a field of the extended context, which precedes the ordinary one.
    private long at(String field) {
        return context - VERBS_CONTEXT.at("context") + VERBS_CONTEXT.at(field);
    }

    /// Returns an operation of the extended context, if this library and this device have it.
    ///
    /// @param signature its name, and what [NativeFunction#of] takes
    public Optional<NativeFunction> extended(String signature) {
        String name = signature.substring(signature.indexOf(' ') + 1, signature.indexOf('('));
        if (extendedBytes < VERBS_CONTEXT.size() - VERBS_CONTEXT.at(name)) {
            return Optional.empty();
        }
        return function(Memory.getLong(at(name)), signature);
    }

    /// Returns an operation of the ordinary context, if this device has it.
    public Optional<NativeFunction> of(String signature) {
        String name = signature.substring(signature.indexOf(' ') + 1, signature.indexOf('('));
        return function(Memory.getLong(context + CONTEXT.at("ops." + name)), signature);
    }

    private static Optional<NativeFunction> function(long address, String signature) {
        return address == 0
                ? Optional.empty()
                : Optional.of(NativeFunction.of(MemorySegment.ofAddress(address), signature));
    }

    public int postSend(long queue, long request, long bad) {
        return post(postSend, queue, request, bad);
    }

    public int postReceive(long queue, long request, long bad) {
        return post(postReceive, queue, request, bad);
    }

    public int postSharedReceive(long queue, long request, long bad) {
        return post(postSharedReceive, queue, request, bad);
    }

    private int post(MemorySegment function, long queue, long request, long bad) {
        try {
            return isPostingShort
                    ? (int) POST.invokeExact(function, queue, request, bad)
                    : (int) POST_SLOWLY.invokeExact(function, queue, request, bad);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    /// Takes up to `entries` completions into an array of `struct ibv_wc`; how many, or negative for an error.
    public int poll(long cq, int entries, long completions) {
        try {
            return (int) POLL.invokeExact(pollCq, cq, entries, completions);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    public int requestNotify(long cq, boolean solicitedOnly) {
        try {
            return (int) NOTIFY.invokeExact(requestNotify, cq, solicitedOnly ? 1 : 0);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    private static AssertionError impossible(Throwable e) {
        return new AssertionError("C throws nothing", e);
    }
}

package verbena.abi;

import static verbena.foreign.rdma.VerbsStructs.ASYNC_EVENT;
import static verbena.foreign.rdma.VerbsStructs.CONTEXT;
import static verbena.foreign.rdma.VerbsStructs.VERBS_CONTEXT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Context;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;

/// An opened device and its `struct verbs_context`; the program has a pointer to the `struct ibv_context` in it.
final class ContextHandle extends Handle {
    private static final long AT = VERBS_CONTEXT.at("context");
    private static final String[] OPERATIONS = {
        "alloc_mw", "bind_mw", "dealloc_mw", "poll_cq", "req_notify_cq", "post_srq_recv", "post_send", "post_recv"
    };
    private static final String[] NEWER_OPERATIONS = {
        "query_port",
        "alloc_parent_domain",
        "alloc_td",
        "dealloc_td",
        "modify_cq",
        "query_rt_values",
        "create_cq_ex",
        "query_device_ex",
        "create_qp_ex",
        "get_srq_num",
        "create_srq_ex",
        "open_xrcd",
        "close_xrcd",
        "open_qp"
    };

    final Context context;
    private final boolean isPrograms;
    private final EventPipe events;
    private @Nullable DomainHandle sharedDomain;

    private ContextHandle(long pointer, Context context, boolean isPrograms) {
        super(pointer, 0);
        this.context = context;
        this.isPrograms = isPrograms;
        this.events = new EventPipe("verbena-abi-async", ASYNC_EVENT.size(), this::nextEvent);
    }

    /// @param context opened by a connection
    static ContextHandle of(Context context) {
        return of(context, DeviceHandle.of(context), false);
    }

    /// @param context opened for the program
    static ContextHandle of(Context context, DeviceHandle device) {
        return of(context, device, true);
    }

    private static ContextHandle of(Context context, DeviceHandle device, boolean isPrograms) {
        long pointer = Native.allocate(VERBS_CONTEXT.size()) + AT;
        var made = new ContextHandle(pointer, context, isPrograms);
        for (String operation : OPERATIONS) {
            Memory.putLong(pointer + CONTEXT.at("ops." + operation), Abi.operation(operation));
        }
        long whole = pointer - AT;
        for (String operation : NEWER_OPERATIONS) {
            Memory.putLong(whole + VERBS_CONTEXT.at(operation), Abi.operation(operation));
        }
        Memory.putLong(whole + VERBS_CONTEXT.at("sz"), VERBS_CONTEXT.size());
        Memory.putLong(pointer + CONTEXT.at("device"), device.pointer());
        Memory.putInt(pointer + CONTEXT.at("cmd_fd"), made.events.fd());
        Memory.putInt(pointer + CONTEXT.at("async_fd"), made.events.fd());
        Memory.putInt(pointer + CONTEXT.at("num_comp_vectors"), 1);
        Memory.putLong(pointer + CONTEXT.at("abi_compat"), -1);
        return Handles.put(made);
    }

    @Override
    Context object() {
        return context;
    }

    int asyncFd() {
        return events.fd();
    }

    /// The protection domain of connections that bring none of their own; stays as long as the device.
    synchronized DomainHandle sharedDomain() {
        DomainHandle made = sharedDomain;
        if (made == null) {
            made = DomainHandle.of(context.allocateProtectionDomain(), pointer);
            sharedDomain = made;
        }
        return made;
    }

    private boolean nextEvent(MemorySegment into) throws InterruptedException {
        try {
            Optional<AsyncEvent> event = Optional.empty();
            while (event.isEmpty()) {
                event = context.awaitAsyncEvent(EventPipe.ALWAYS);
            }
            into.set(ValueLayout.JAVA_LONG, 0, element(event.get()));
            into.set(ValueLayout.JAVA_LONG, 8, event.get().type().ordinal());
            return true;
        } catch (InvalidStateException e) {
            return false; // closed
        }
    }

    /// Whom it is about: a pointer, or the number of a port.
    private static long element(AsyncEvent event) {
        return switch (event) {
            case AsyncEvent.QueuePairEvent it -> Handles.pointerOf(it.queuePair());
            case AsyncEvent.CompletionQueueEvent it -> Handles.pointerOf(it.completionQueue());
            case AsyncEvent.SharedReceiveQueueEvent it -> Handles.pointerOf(it.sharedReceiveQueue());
            case AsyncEvent.PortEvent it -> it.port();
            case AsyncEvent.DeviceEvent _ -> 0;
        };
    }

    /// What the program has not destroyed goes with its device, as with the kernel's: perftest and others count on
    /// it. (Of a device that connections have opened they are the connections'.)
    @Override
    void close() {
        boolean any = isPrograms;
        while (any) {
            any = false;
            for (Handle each : Handles.all(Handle.class)) {
                any |= each.device == pointer && isDropped(each);
            }
        }
        context.close();
    }

    private static boolean isDropped(Handle handle) {
        try {
            handle.drop();
            return true;
        } catch (InUseException e) {
            return false; // what uses it goes first
        }
    }

    @Override
    void release() {
        events.close();
        Native.free(pointer - AT);
    }
}

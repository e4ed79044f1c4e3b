package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.ASYNC_EVENT;
import static verbena.foreign.rdma.VerbsStructs.CONTEXT;
import static verbena.foreign.rdma.VerbsStructs.VERBS_CONTEXT;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.EventInbox;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.Operations;
import verbena.foreign.Memory;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Context;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.VerbsObject;

/// An opened device and its `struct verbs_context`; the program has a pointer to the `struct ibv_context` in it.
public final class ContextHandle extends Handle {
    private static final long AT = VERBS_CONTEXT.at("context");
    private static final String[] OPERATIONS = {
        "alloc_mw", "bind_mw", "dealloc_mw", "poll_cq", "req_notify_cq", "post_srq_recv", "post_send", "post_recv"
    };
    private static final String[] NEWER_OPERATIONS = {
        "query_port",
        "advise_mr",
        "alloc_null_mr",
        "alloc_parent_domain",
        "alloc_td",
        "dealloc_td",
        "alloc_dm",
        "free_dm",
        "reg_dm_mr",
        "ibv_create_flow",
        "ibv_destroy_flow",
        "create_counters",
        "destroy_counters",
        "attach_counters_point_flow",
        "read_counters",
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
    private final EventInbox<AsyncEvent> events;
    /// The number of handles that share the device and its events: one, and those that are imported.
    private final AtomicInteger sharers;
    /// The descriptor that it was imported by; -1 when it was opened.
    private final int descriptor;
    private @Nullable DomainHandle sharedDomain;

    private ContextHandle(long pointer, Context context, boolean isPrograms) {
        super(pointer, 0);
        this.context = context;
        this.isPrograms = isPrograms;
        this.events = new EventInbox<>("verbena-abi-async", this::nextEvent, this::home, _ -> {});
        this.sharers = new AtomicInteger(1);
        this.descriptor = -1;
    }

    private ContextHandle(long pointer, ContextHandle shared, int descriptor) {
        super(pointer, 0);
        this.context = shared.context;
        this.isPrograms = true;
        this.events = shared.events;
        this.sharers = shared.sharers;
        this.descriptor = descriptor;
    }

    /// Finds or makes the handle of a device that a connection has opened.
    ///
    /// @param context opened by a connection
    public static ContextHandle of(Context context) {
        return of(context, DeviceHandle.of(context), false);
    }

    /// Makes another handle of a device that connections have open, for the program.
    static ContextHandle another(Context context) {
        long known = Handles.pointerOf(context);
        ContextHandle first = known == 0 ? of(context) : Handles.get(known, ContextHandle.class);
        return first.imported(-1);
    }

    /// @param context opened for the program
    static ContextHandle of(Context context, DeviceHandle device) {
        return of(context, device, true);
    }

    private static ContextHandle of(Context context, DeviceHandle device, boolean isPrograms) {
        long pointer = Native.allocate(VERBS_CONTEXT.size()) + AT;
        var made = new ContextHandle(pointer, context, isPrograms);
        made.fill(device.pointer(), made.events.fd());
        return Handles.put(made);
    }

    /// Returns a second name for it (ibv_import_device(3)). Objects that are made by either belong to that one;
    /// events come to both.
    ///
    /// @param fd a descriptor that is the name's own; -1 for none
    ContextHandle imported(int fd) {
        if (sharers.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
            throw new IllegalArgumentException("the device is being closed");
        }
        var made = new ContextHandle(Native.allocate(VERBS_CONTEXT.size()) + AT, this, fd);
        made.fill(Memory.getLong(pointer + CONTEXT.at("device")), fd < 0 ? events.fd() : fd);
        return Handles.putOther(made);
    }

    private void fill(long device, int commands) {
        for (String operation : OPERATIONS) {
            Memory.putLong(pointer + CONTEXT.at("ops." + operation), Operations.address(operation));
        }
        long whole = pointer - AT;
        for (String operation : NEWER_OPERATIONS) {
            Memory.putLong(whole + VERBS_CONTEXT.at(operation), Operations.address(operation));
        }
        Memory.putLong(whole + VERBS_CONTEXT.at("sz"), VERBS_CONTEXT.size());
        Memory.putLong(pointer + CONTEXT.at("device"), device);
        Memory.putInt(pointer + CONTEXT.at("cmd_fd"), commands);
        Memory.putInt(pointer + CONTEXT.at("async_fd"), events.fd());
        Memory.putInt(pointer + CONTEXT.at("num_comp_vectors"), 1);
        Memory.putLong(pointer + CONTEXT.at("abi_compat"), -1);
    }

    @Override
    public Context object() {
        return context;
    }

    int asyncFd() {
        return events.fd();
    }

    /// Returns the protection domain of connections that bring none of their own; stays as long as the device.
    public synchronized DomainHandle sharedDomain() {
        DomainHandle made = sharedDomain;
        if (made == null) {
            made = DomainHandle.of(context.allocateProtectionDomain(), pointer);
            sharedDomain = made;
        }
        return made;
    }

    private @Nullable AsyncEvent nextEvent() throws InterruptedException {
        try {
            return context.awaitAsyncEvent();
        } catch (InvalidStateException e) {
            return null; // closed
        }
    }

    private @Nullable EventInbox<AsyncEvent> home(AsyncEvent event) {
        Optional<VerbsObject> object = object(event);
        return object.isEmpty()
                        || object.map(ContextHandle::handle)
                                .filter(of -> !of.isGoing())
                                .isPresent()
                ? events
                : null;
    }

    /// Puts the oldest event into a `struct ibv_async_event`; `ENOENT` when there is none.
    long takeEvent(long into) {
        AsyncEvent event = events.take(each -> object(each)
                .map(ContextHandle::handle)
                .map(Handle::onEventTaken)
                .orElse(object(each).isEmpty()));
        if (event == null) {
            return Errno.ENOENT;
        }
        Memory.putLong(into, element(event));
        Memory.putInt(into + ASYNC_EVENT.at("event_type"), event.type().ordinal());
        return 0;
    }

    @Override
    protected void takeBackEvents(Handle of) {
        List<AsyncEvent> _ = events.remove(event -> object(event)
                .map(Handles::pointerOf)
                .filter(at -> at == of.pointer)
                .isPresent());
    }

    private static @Nullable Handle handle(VerbsObject object) {
        return Handles.find(Handles.pointerOf(object), Handle.class);
    }

    /// Returns the object of an event; empty for a port and the device.
    private static Optional<VerbsObject> object(AsyncEvent event) {
        return switch (event) {
            case AsyncEvent.QueuePairEvent it -> Optional.of(it.queuePair());
            case AsyncEvent.CompletionQueueEvent it -> Optional.of(it.completionQueue());
            case AsyncEvent.SharedReceiveQueueEvent it -> Optional.of(it.sharedReceiveQueue());
            case AsyncEvent.PortEvent _, AsyncEvent.DeviceEvent _ -> Optional.empty();
        };
    }

    /// Returns the same for C: a pointer, or the number of a port.
    private static long element(AsyncEvent event) {
        return event instanceof AsyncEvent.PortEvent it
                ? it.port()
                : object(event).map(Handles::pointerOf).orElse(0L);
    }

    /// Returns whether the program has opened it, and not only a connection.
    boolean isPrograms() {
        return isPrograms;
    }

    /// Closes the device, and with it all objects that the program has not destroyed, as with the kernel's:
    /// perftest and others count on it.
    @Override
    protected void close() {
        if (isPrograms) {
            dropObjects();
        }
        if (sharers.decrementAndGet() == 0) {
            boolean isClosed = false;
            try {
                context.close();
                isClosed = true;
            } finally {
                if (!isClosed) {
                    sharers.incrementAndGet();
                }
            }
        }
    }

    /// Destroys all that the program has of it, except for the objects that its connections use.
    void dropObjects() {
        Set<Handle> kept = new HashSet<>();
        Handles.all(Handle.class).forEach(each -> kept.addAll(each.used()));
        kept.add(sharedDomain);
        boolean any = true;
        while (any) {
            any = false;
            for (Handle each : Handles.all(Handle.class)) {
                any |= each.device == pointer && !kept.contains(each) && isDropped(each);
            }
        }
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
    protected void release() {
        if (sharers.get() == 0) {
            events.close();
        }
        if (descriptor >= 0) {
            Native.close(descriptor);
        }
        Native.free(pointer - AT);
    }
}

package verbena.ibverbs.lib;

import org.jspecify.annotations.Nullable;
import verbena.foreign.NativeFunction;
import verbena.foreign.NativeLibrary;

/// librdmacm: its functions.
public final class CmLibrary {
    /// The property that names another library than the system's.
    static final String PROPERTY = "verbena.librdmacm";

    private static final String HINT = "install it (Debian, Ubuntu: apt-get install librdmacm1; Fedora, RHEL: dnf"
            + " install librdmacm), or name the file with -D" + PROPERTY + "=PATH";

    private static @Nullable CmLibrary found;

    public final NativeFunction createEventChannel;
    public final NativeFunction destroyEventChannel;
    public final NativeFunction getCmEvent;
    public final NativeFunction ackCmEvent;
    public final NativeFunction createId;
    public final NativeFunction destroyId;
    public final NativeFunction bindAddr;
    public final NativeFunction resolveAddr;
    public final NativeFunction resolveRoute;
    public final NativeFunction listen;
    public final NativeFunction connect;
    public final NativeFunction establish;
    public final NativeFunction accept;
    public final NativeFunction reject;
    public final NativeFunction notifyId;
    public final NativeFunction disconnect;
    public final NativeFunction initQpAttr;
    public final NativeFunction setOption;

    private CmLibrary(NativeLibrary library) {
        createEventChannel = library.function("ptr rdma_create_event_channel()");
        destroyEventChannel = library.function("void rdma_destroy_event_channel(ptr)");
        getCmEvent = library.function("u32 rdma_get_cm_event(ptr, ptr)");
        ackCmEvent = library.function("u32 rdma_ack_cm_event(ptr)");
        createId = library.function("u32 rdma_create_id(ptr, ptr, ptr, u32)");
        destroyId = library.function("u32 rdma_destroy_id(ptr)");
        bindAddr = library.function("u32 rdma_bind_addr(ptr, ptr)");
        resolveAddr = library.function("u32 rdma_resolve_addr(ptr, ptr, ptr, u32)");
        resolveRoute = library.function("u32 rdma_resolve_route(ptr, u32)");
        listen = library.function("u32 rdma_listen(ptr, u32)");
        connect = library.function("u32 rdma_connect(ptr, ptr)");
        establish = library.function("u32 rdma_establish(ptr)");
        accept = library.function("u32 rdma_accept(ptr, ptr)");
        reject = library.function("u32 rdma_reject(ptr, ptr, u8)");
        notifyId = library.function("u32 rdma_notify(ptr, u32)");
        disconnect = library.function("u32 rdma_disconnect(ptr)");
        initQpAttr = library.function("u32 rdma_init_qp_attr(ptr, ptr, ptr)");
        setOption = library.function("u32 rdma_set_option(ptr, u32, u32, ptr, u64)");
    }

    /// Returns the system's library, or the library that [#PROPERTY] names.
    ///
    /// @throws NativeLibrary.MissingException when it is not there
    public static synchronized CmLibrary find() {
        CmLibrary library = found;
        if (library == null) {
            library = new CmLibrary(NativeLibrary.load(System.getProperty(PROPERTY, "librdmacm.so.1"), HINT));
            found = library;
        }
        return library;
    }

    static boolean isThere() {
        try {
            find();
            return true;
        } catch (NativeLibrary.MissingException e) {
            return false;
        }
    }
}

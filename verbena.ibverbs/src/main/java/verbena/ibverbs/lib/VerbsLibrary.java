package verbena.ibverbs.lib;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.NativeLibrary;

/// libibverbs: its functions. What is inline in `verbs.h` goes through an opened device's [Ops].
public final class VerbsLibrary {
    /// The property that names another library than the system's.
    public static final String PROPERTY = "verbena.libibverbs";

    private static final String HINT = "install it (Debian, Ubuntu: apt-get install libibverbs1 ibverbs-providers;"
            + " Fedora, RHEL: dnf install libibverbs), or name the file with -D" + PROPERTY + "=PATH";

    private static @Nullable VerbsLibrary found;

    final NativeFunction getDeviceList;
    final NativeFunction freeDeviceList;
    public final NativeFunction getDeviceGuid;
    public final NativeFunction openDevice;
    public final NativeFunction closeDevice;
    final NativeFunction queryDevice;
    public final NativeFunction queryPort;
    public final NativeFunction queryPkey;
    public final NativeFunction getAsyncEvent;
    public final NativeFunction ackAsyncEvent;
    public final NativeFunction allocPd;
    public final NativeFunction deallocPd;
    public final NativeFunction regMr;
    public final NativeFunction deregMr;
    public final NativeFunction reregMr;
    public final NativeFunction createCompChannel;
    public final NativeFunction destroyCompChannel;
    public final NativeFunction getCqEvent;
    public final NativeFunction ackCqEvents;
    public final NativeFunction createCq;
    public final NativeFunction resizeCq;
    public final NativeFunction destroyCq;
    public final NativeFunction createSrq;
    public final NativeFunction modifySrq;
    public final NativeFunction destroySrq;
    public final NativeFunction createQp;
    public final NativeFunction modifyQp;
    public final NativeFunction queryQp;
    public final NativeFunction destroyQp;
    public final NativeFunction createAh;
    public final NativeFunction destroyAh;
    public final NativeFunction attachMcast;
    public final NativeFunction detachMcast;
    /// A function of later versions.
    public final Optional<NativeFunction> queryGidTable;
    public final Optional<NativeFunction> regMrIova;
    public final Optional<NativeFunction> regMrIova2;
    public final Optional<NativeFunction> regDmabufMr;

    private VerbsLibrary(NativeLibrary library) {
        getDeviceList = library.function("ptr ibv_get_device_list(ptr)");
        freeDeviceList = library.function("void ibv_free_device_list(ptr)");
        getDeviceGuid = library.function("u64 ibv_get_device_guid(ptr)");
        openDevice = library.function("ptr ibv_open_device(ptr)");
        closeDevice = library.function("u32 ibv_close_device(ptr)");
        queryDevice = library.function("u32 ibv_query_device(ptr, ptr)");
        queryPort = library.function("u32 ibv_query_port(ptr, u8, ptr)");
        queryPkey = library.function("u32 ibv_query_pkey(ptr, u8, u32, ptr)");
        getAsyncEvent = library.function("u32 ibv_get_async_event(ptr, ptr)");
        ackAsyncEvent = library.function("void ibv_ack_async_event(ptr)");
        allocPd = library.function("ptr ibv_alloc_pd(ptr)");
        deallocPd = library.function("u32 ibv_dealloc_pd(ptr)");
        regMr = library.function("ptr ibv_reg_mr(ptr, ptr, u64, u32)");
        deregMr = library.function("u32 ibv_dereg_mr(ptr)");
        reregMr = library.function("u32 ibv_rereg_mr(ptr, u32, ptr, ptr, u64, u32)");
        createCompChannel = library.function("ptr ibv_create_comp_channel(ptr)");
        destroyCompChannel = library.function("u32 ibv_destroy_comp_channel(ptr)");
        getCqEvent = library.function("u32 ibv_get_cq_event(ptr, ptr, ptr)");
        ackCqEvents = library.function("void ibv_ack_cq_events(ptr, u32)");
        createCq = library.function("ptr ibv_create_cq(ptr, u32, ptr, ptr, u32)");
        resizeCq = library.function("u32 ibv_resize_cq(ptr, u32)");
        destroyCq = library.function("u32 ibv_destroy_cq(ptr)");
        createSrq = library.function("ptr ibv_create_srq(ptr, ptr)");
        modifySrq = library.function("u32 ibv_modify_srq(ptr, ptr, u32)");
        destroySrq = library.function("u32 ibv_destroy_srq(ptr)");
        createQp = library.function("ptr ibv_create_qp(ptr, ptr)");
        modifyQp = library.function("u32 ibv_modify_qp(ptr, ptr, u32)");
        queryQp = library.function("u32 ibv_query_qp(ptr, ptr, u32, ptr)");
        destroyQp = library.function("u32 ibv_destroy_qp(ptr)");
        createAh = library.function("ptr ibv_create_ah(ptr, ptr)");
        destroyAh = library.function("u32 ibv_destroy_ah(ptr)");
        attachMcast = library.function("u32 ibv_attach_mcast(ptr, ptr, u16)");
        detachMcast = library.function("u32 ibv_detach_mcast(ptr, ptr, u16)");
        queryGidTable = library.optional("u64 _ibv_query_gid_table(ptr, ptr, u64, u32, u64)");
        regMrIova = library.optional("ptr ibv_reg_mr_iova(ptr, ptr, u64, u64, u32)");
        regMrIova2 = library.optional("ptr ibv_reg_mr_iova2(ptr, ptr, u64, u64, u32)");
        regDmabufMr = library.optional("ptr ibv_reg_dmabuf_mr(ptr, u64, u64, u64, u32, u32)");
    }

    /// Returns the system's library, or the library that [#PROPERTY] names.
    ///
    /// @throws NativeLibrary.MissingException when it is not there
    public static synchronized VerbsLibrary find() {
        VerbsLibrary library = found;
        if (library == null) {
            library = load(System.getProperty(PROPERTY, "libibverbs.so.1"));
            found = library;
        }
        return library;
    }

    /// Loads the library.
    ///
    /// @param name that the loader knows, or a path
    public static VerbsLibrary load(String name) {
        return new VerbsLibrary(NativeLibrary.load(name, HINT));
    }

    /// The use of the list of devices, while it is held.
    public interface ListUser<T> {
        T use(List<Long> devices);
    }

    /// Gives `user` the addresses of all devices (`struct ibv_device`); they are good until it returns, and those
    /// opened longer.
    public <T> T withDevices(ListUser<T> user) {
        try (Arena arena = Arena.ofConfined()) {
            var count = arena.allocate(4);
            long list = getDeviceList.call(count).value();
            if (list == 0) {
                return user.use(List.of()); // the kernel has no RDMA, or this user no right to see it
            }
            try {
                var devices = new ArrayList<Long>();
                for (long at = list; Memory.getLong(at) != 0; at += Long.BYTES) {
                    devices.add(Memory.getLong(at));
                }
                return user.use(devices);
            } finally {
                freeDeviceList.call(list);
            }
        }
    }
}

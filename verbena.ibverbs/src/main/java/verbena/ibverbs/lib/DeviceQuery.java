package verbena.ibverbs.lib;

import static verbena.foreign.rdma.VerbsStructs.DEVICE_ATTR;
import static verbena.foreign.rdma.VerbsStructs.DEVICE_ATTR_EX;
import static verbena.foreign.rdma.VerbsStructs.ODP_CAPS;
import static verbena.foreign.rdma.VerbsStructs.QP_INIT_ATTR;
import static verbena.foreign.rdma.VerbsStructs.QP_INIT_ATTR_EX;

import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Set;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.Access;
import verbena.verbs.AtomicCapability;
import verbena.verbs.Capability;
import verbena.verbs.Device;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.DeviceException;
import verbena.verbs.OnDemandPaging;
import verbena.verbs.QpType;
import verbena.verbs.TransportType;

/// A query of a device's abilities. They are the abilities that it reports (ibv_query_device_ex(3)). What no version
/// of the library reports is tried: a small object is made and given back at once.
public final class DeviceQuery {
    /// The operation that makes a region without memory.
    public static final String ALLOCATE_NULL = "ptr alloc_null_mr(ptr)";

    /// Vendor number of the kernel's soft-RoCE (rdma_rxe).
    public static final int SOFT_ROCE = 0xFF_FFFF;
    /// The vendor's part of Linux's soft-iWARP (siw).
    private static final int SOFT_IWARP = 0x62_6D74;

    /// Vendor numbers of devices that are posted to by a system call: soft-RoCE, soft-iWARP, and Omni-Path with
    /// its ancestor.
    private static final Set<Integer> SYSTEM_CALL_VENDORS = Set.of(SOFT_ROCE, SOFT_IWARP, 0x1175, 0x1077);

    /// A descriptor that no process has; -1 is refused before the kernel looks for it.
    private static final int NOBODYS = Integer.MAX_VALUE;

    /// A flag of `enum ib_uverbs_device_cap_flags`, in `device_cap_flags_ex`.
    private static final long FLUSHES_GLOBAL = 1L << 38;
    private static final long WRITES_ATOMICALLY = 1L << 40;

    private static final int[] INLINE_SIZES = {1024, 512, 256, 220, 128, 96, 64, 32, 16};

    private final Device device;
    private final long context;
    private final VerbsLibrary library;
    private final Ops ops;
    private final Arena arena = Arena.ofAuto();
    private final long at = arena.allocate(2 * DEVICE_ATTR_EX.size(), 8).address();
    private int maxInline;

    /// @param context address of the opened device's `struct ibv_context`
    public DeviceQuery(VerbsLibrary library, Device device, long context, Ops ops) {
        this.library = library;
        this.device = device;
        this.context = context;
        this.ops = ops;
        int error = ops.extended("u32 query_device_ex(ptr, ptr, ptr, u64)")
                .map(query -> query.call(context, 0L, at, DEVICE_ATTR_EX.size()))
                .map(NativeFunction.Result::error)
                .orElse(Errno.EOPNOTSUPP.code);
        if (Errno.isUnsupported(error)) {
            error = library.queryDevice.call(context, at).error();
        }
        if (error != 0) {
            throw new DeviceException("open " + device.name() + ": ibv_query_device says " + Errno.text(error));
        }
    }

    private int number(String field) {
        return Memory.getInt(at + DEVICE_ATTR.at(field));
    }

    private int count(String field) {
        int value = number(field);
        return value < 0 ? Integer.MAX_VALUE : value;
    }

    public boolean postsBySystemCall() {
        return SYSTEM_CALL_VENDORS.contains(number("vendor_id"));
    }

    public DeviceAttributes attributes() {
        Set<Capability> capabilities = capabilities();
        return new DeviceAttributes(
                new DeviceAttributes.Identity(
                        Memory.getString(at + DEVICE_ATTR.at("fw_ver")),
                        Memory.swap(Memory.getLong(at + DEVICE_ATTR.at("node_guid"))),
                        Memory.swap(Memory.getLong(at + DEVICE_ATTR.at("sys_image_guid"))),
                        number("vendor_id"),
                        number("vendor_part_id"),
                        number("hw_ver")),
                new DeviceAttributes.QueueLimits(
                        count("max_qp"),
                        count("max_qp_wr"),
                        count("max_sge"),
                        count("max_sge_rd"),
                        maxInline,
                        count("max_cq"),
                        count("max_cqe"),
                        count("max_srq"),
                        count("max_srq_wr"),
                        count("max_srq_sge")),
                new DeviceAttributes.MemoryLimits(
                        count("max_pd"),
                        count("max_mr"),
                        count("max_mw"),
                        Memory.getLong(at + DEVICE_ATTR.at("max_mr_size")) & Long.MAX_VALUE, // all ones is no limit
                        capabilities.contains(Capability.DEVICE_MEMORY) ? deviceMemory() : 0,
                        Memory.getLong(at + DEVICE_ATTR.at("page_size_cap")),
                        onDemandPaging()),
                new DeviceAttributes.TransportLimits(
                        0x8000_0000L,
                        count("max_qp_rd_atom"),
                        count("max_res_rd_atom"),
                        count("max_qp_init_rd_atom"),
                        AtomicCapability.values()[Math.clamp(number("atomic_cap"), 0, 2)],
                        Memory.getUnsignedByte(at + DEVICE_ATTR.at("local_ca_ack_delay"))),
                new DeviceAttributes.DatagramLimits(
                        count("max_ah"),
                        count("max_mcast_grp"),
                        count("max_mcast_qp_attach"),
                        count("max_total_mcast_qp_attach")),
                capabilities.contains(Capability.COMPLETION_TIMESTAMPS)
                        ? new DeviceAttributes.Clock(
                                timestampMask(), Memory.getLong(at + DEVICE_ATTR_EX.at("hca_core_clock")))
                        : DeviceAttributes.Clock.NONE,
                Memory.getUnsignedByte(at + DEVICE_ATTR.at("phys_port_cnt")),
                Memory.getUnsignedShort(at + DEVICE_ATTR.at("max_pkeys")),
                capabilities);
    }

    private OnDemandPaging onDemandPaging() {
        long odp = at + DEVICE_ATTR_EX.at("odp_caps");
        long general = Memory.getLong(odp);
        if ((general & VerbsConstants.IBV_ODP_SUPPORT) == 0) {
            return OnDemandPaging.NONE;
        }
        var uses = new EnumMap<QpType, Set<OnDemandPaging.Use>>(QpType.class);
        uses.put(QpType.RC, uses(odp + ODP_CAPS.at("per_transport_caps.rc_odp_caps")));
        uses.put(QpType.UC, uses(odp + ODP_CAPS.at("per_transport_caps.uc_odp_caps")));
        uses.put(QpType.UD, uses(odp + ODP_CAPS.at("per_transport_caps.ud_odp_caps")));
        uses.put(QpType.XRC_INITIATOR, uses(at + DEVICE_ATTR_EX.at("xrc_odp_caps")));
        uses.put(QpType.XRC_TARGET, uses(at + DEVICE_ATTR_EX.at("xrc_odp_caps")));
        return new OnDemandPaging((general & VerbsConstants.IBV_ODP_SUPPORT_IMPLICIT) != 0, uses);
    }

    private static Set<OnDemandPaging.Use> uses(long at) {
        return OnDemandPaging.Use.ofBits(Memory.getInt(at));
    }

    private Set<Capability> capabilities() {
        var found = EnumSet.of(Capability.RC, Capability.RDMA_READ, Capability.RDMA_WRITE);
        int flags = number("device_cap_flags");
        if (!isIwarp()) {
            found.addAll(EnumSet.of(
                    Capability.UC,
                    Capability.UD,
                    Capability.IMMEDIATE_DATA,
                    Capability.SEND_WITH_IMMEDIATE,
                    Capability.SQ_DRAIN,
                    Capability.ENDPOINTS));
        }
        add(found, Capability.SRQ, number("max_srq") != 0);
        add(found, Capability.PATH_MIGRATION, (flags & VerbsConstants.IBV_DEVICE_AUTO_PATH_MIG) != 0);
        add(found, Capability.XRC, (flags & VerbsConstants.IBV_DEVICE_XRC) != 0 && !isIwarp());
        add(found, Capability.ATOMICS, number("atomic_cap") != 0);
        add(found, Capability.MULTICAST, number("max_mcast_grp") != 0 && !isIwarp());
        boolean manages = (flags & VerbsConstants.IBV_DEVICE_MEM_MGT_EXTENSIONS) != 0;
        add(found, Capability.SEND_WITH_INVALIDATE, manages);
        add(found, Capability.LOCAL_INVALIDATE, manages);
        add(found, Capability.ON_DEMAND_PAGING, onDemandPaging() != OnDemandPaging.NONE);
        add(
                found,
                Capability.DEVICE_MEMORY,
                deviceMemory() != 0 && ops.extended("ptr alloc_dm(ptr, ptr)").isPresent());
        add(found, Capability.CONNECTION_MANAGER, hasConnectionManager());
        tryOut(found);
        if (number("vendor_id") == SOFT_IWARP) {
            // It says and accepts what it does not do (Linux 6.1, rdma-core 44): addresses of choice have no effect,
            // and its library does not post an invalidate.
            found.removeAll(Set.of(Capability.IOVA, Capability.ZERO_BASED, Capability.LOCAL_INVALIDATE));
        }
        return found;
    }

    private long deviceMemory() {
        return Memory.getLong(at + DEVICE_ATTR_EX.at("max_dm_size"));
    }

    private long timestampMask() {
        return Memory.getLong(at + DEVICE_ATTR_EX.at("completion_timestamp_mask"));
    }

    private static void add(Set<Capability> to, Capability capability, boolean is) {
        if (is) {
            to.add(capability);
        }
    }

    private boolean isIwarp() {
        return device.transportType() == TransportType.IWARP;
    }

    private static boolean hasConnectionManager() {
        return CmLibrary.isThere() && Files.exists(Path.of("/dev/infiniband/rdma_cm"));
    }

    // ---- what it does

    private void tryOut(Set<Capability> found) {
        long pd = library.allocPd.call(context).value();
        if (pd == 0) {
            return; // a program that needs one is told why
        }
        try {
            tryRegions(pd, found);
            tryWindows(pd, found);
            tryQueues(pd, found);
            tryTimestamps(found);
        } finally {
            library.deallocPd.call(pd);
        }
    }

    private void tryRegions(long pd, Set<Capability> found) {
        long memory = arena.allocate(4096, 4096).address();
        int access = Access.LOCAL_WRITE.bit();
        long mr = library.regMr.call(pd, memory, 4096L, access).value();
        if (mr != 0) {
            int flags = VerbsConstants.IBV_REREG_MR_CHANGE_ACCESS;
            int error = library.reregMr
                    .call(mr, flags, 0L, 0L, 0L, access | Access.REMOTE_READ.bit())
                    .error();
            add(found, Capability.REREGISTER, error == 0);
            library.deregMr.call(mr);
        }
        long moved = library.regMrIova
                .map(register -> register.call(pd, memory, 4096L, 0L, access).value())
                .orElse(0L);
        if (moved != 0) {
            found.add(Capability.IOVA);
            found.add(Capability.ZERO_BASED);
            library.deregMr.call(moved);
        }
        long none = ops.extended(ALLOCATE_NULL)
                .map(allocate -> allocate.call(pd).value())
                .orElse(0L);
        if (none != 0) {
            found.add(Capability.NULL_REGION);
            library.deregMr.call(none);
        }
        // A descriptor that is none: a device that takes no dma-buf at all says something else.
        int said = library.regDmabufMr
                .map(register ->
                        register.call(pd, 0L, 4096L, 0L, NOBODYS, access).errno())
                .orElse(Errno.EOPNOTSUPP.code);
        add(found, Capability.DMA_BUF, Errno.EBADF.is(said));
    }

    private void tryWindows(long pd, Set<Capability> found) {
        for (int type = 1; type <= 2; type++) {
            int of = type;
            long mw = ops.of("ptr alloc_mw(ptr, u32)")
                    .map(allocate -> allocate.call(pd, of).value())
                    .orElse(0L);
            if (mw != 0) {
                found.add(type == 1 ? Capability.MEMORY_WINDOW_TYPE_1 : Capability.MEMORY_WINDOW_TYPE_2);
                ops.of("u32 dealloc_mw(ptr)").ifPresent(free -> free.call(mw));
            }
        }
    }

    private void tryQueues(long pd, Set<Capability> found) {
        long cq = library.createCq.call(context, 4, 0L, 0L, 0).value();
        if (cq == 0) {
            return;
        }
        for (int bytes : INLINE_SIZES) {
            if (isMade(library.createQp.call(pd, smallQp(cq, bytes)))) {
                maxInline = bytes;
                break;
            }
        }
        if (ops.extended("ptr ibv_create_flow(ptr, ptr)").isPresent()) {
            long raw = smallQp(cq, 0);
            Memory.putInt(raw + QP_INIT_ATTR.at("qp_type"), VerbsConstants.IBV_QPT_RAW_PACKET);
            add(found, Capability.RAW_PACKET, isMade(library.createQp.call(pd, raw)));
        }
        tryExtension(Capability.FLUSH, FLUSHES_GLOBAL, pd, cq, found);
        tryExtension(Capability.ATOMIC_WRITE, WRITES_ATOMICALLY, pd, cq, found);
        add(found, Capability.RESIZE_CQ, library.resizeCq.call(cq, 8).error() == 0);
        library.destroyCq.call(cq);
    }

    /// Tries an extension. The device claims it by a bit, and the device's library proves it by making such a queue
    /// pair.
    private void tryExtension(Capability extension, long bit, long pd, long cq, Set<Capability> found) {
        if ((Memory.getLong(at + DEVICE_ATTR_EX.at("device_cap_flags_ex")) & bit) != 0) {
            var made = ExtendedSends.createQp(ops, context, pd, smallQp(cq, 0), Set.of(extension));
            add(found, extension, isMade(made));
        }
    }

    /// Returns a `struct ibv_qp_init_attr_ex` of the smallest queue pair.
    private long smallQp(long cq, int inlineBytes) {
        long init = arena.allocate(QP_INIT_ATTR_EX.size(), 8).address();
        Memory.putLong(init + QP_INIT_ATTR.at("send_cq"), cq);
        Memory.putLong(init + QP_INIT_ATTR.at("recv_cq"), cq);
        Memory.putInt(init + QP_INIT_ATTR.at("cap.max_send_wr"), 1);
        Memory.putInt(init + QP_INIT_ATTR.at("cap.max_recv_wr"), 1);
        Memory.putInt(init + QP_INIT_ATTR.at("cap.max_send_sge"), 1);
        Memory.putInt(init + QP_INIT_ATTR.at("cap.max_recv_sge"), 1);
        Memory.putInt(init + QP_INIT_ATTR.at("cap.max_inline_data"), inlineBytes);
        Memory.putInt(init + QP_INIT_ATTR.at("qp_type"), VerbsConstants.IBV_QPT_RC);
        return init;
    }

    /// Returns whether the queue pair was made; it is destroyed by then.
    private boolean isMade(NativeFunction.Result qp) {
        if (!qp.isNull()) {
            library.destroyQp.call(qp.value());
        }
        return !qp.isNull();
    }

    private void tryTimestamps(Set<Capability> found) {
        long cq = timestampMask() == 0
                ? 0
                : TimestampedPoll.createCq(ops, context, 4, 0L, 0L, 0).value();
        if (cq != 0) {
            found.add(Capability.COMPLETION_TIMESTAMPS);
            library.destroyCq.call(cq);
        }
    }
}

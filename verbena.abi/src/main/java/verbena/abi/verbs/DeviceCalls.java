package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.AH_ATTR;
import static verbena.foreign.rdma.VerbsStructs.ASYNC_EVENT;
import static verbena.foreign.rdma.VerbsStructs.DEVICE;
import static verbena.foreign.rdma.VerbsStructs.DEVICE_ATTR;
import static verbena.foreign.rdma.VerbsStructs.DEVICE_ATTR_EX;
import static verbena.foreign.rdma.VerbsStructs.GID_ENTRY;
import static verbena.foreign.rdma.VerbsStructs.PORT_ATTR;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.Threads;
import verbena.foreign.Memory;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.LinkLayer;
import verbena.verbs.OnDemandPaging;
import verbena.verbs.PortAttributes;
import verbena.verbs.QpType;
import verbena.verbs.internal.QueryableDevice;

/// Devices, their ports and addresses, and their events.
final class DeviceCalls {
    private DeviceCalls() {}

    // ---- devices

    static long getDeviceList(long countPointer) {
        List<DeviceHandle> devices = DeviceHandle.list();
        long list = Native.allocate((devices.size() + 1L) * Long.BYTES);
        for (int i = 0; i < devices.size(); i++) {
            Memory.putLong(list + (long) i * Long.BYTES, devices.get(i).pointer());
        }
        if (countPointer != 0) {
            Memory.putInt(countPointer, devices.size());
        }
        return list;
    }

    static long freeDeviceList(long list) {
        Native.free(list);
        return 0;
    }

    static long getDeviceName(long device) {
        return Handles.get(device, DeviceHandle.class).pointer() + DEVICE.at("name");
    }

    /// Returns `EOPNOTSUPP`: the kernel has no index for it.
    static long getDeviceIndex(long device) {
        Handles.get(device, DeviceHandle.class);
        return Errno.EOPNOTSUPP;
    }

    static long getDeviceGuid(long device) {
        return Memory.swap(Handles.get(device, DeviceHandle.class).device().nodeGuid());
    }

    /// Makes the folder of [DeviceFiles] that `VERBENA_FILES` names, or one of this process's own.
    static long deviceFiles(long into, long size) {
        String wanted = System.getenv("VERBENA_FILES");
        byte[] path = DeviceFiles.make(wanted == null ? null : Path.of(wanted))
                .toString()
                .getBytes(StandardCharsets.UTF_8);
        if (path.length >= size) {
            return Errno.ENAMETOOLONG;
        }
        Native.at(into, size).fill((byte) 0);
        MemorySegment.copy(MemorySegment.ofArray(path), 0, Native.at(into, path.length), 0, path.length);
        return 0;
    }

    static long openDevice(long device) {
        var of = Handles.get(device, DeviceHandle.class);
        return Threads.make(() -> opened(of)).pointer;
    }

    /// Opens a device, which any number of programs may have open. Where another user's process has its port, the
    /// device only answers questions. A device that a process has once is the one that its connections use.
    private static ContextHandle opened(DeviceHandle of) {
        var queryable = of.device() instanceof QueryableDevice device ? device : null;
        try {
            return queryable != null && queryable.hasOneContext()
                    ? ContextHandle.another(of.shared())
                    : ContextHandle.of(of.device().open(), of);
        } catch (DeviceException e) {
            if (queryable != null) {
                return ContextHandle.of(queryable.openForQueries(e), of);
            }
            throw e;
        }
    }

    static long closeDevice(long context) {
        var handle = Handles.get(context, ContextHandle.class);
        if (handle.isPrograms()) {
            handle.destroy();
        } else {
            handle.dropObjects(); // the library keeps it open, for connections
        }
        return 0;
    }

    private static Context context(long pointer) {
        return Handles.get(pointer, ContextHandle.class).context;
    }

    // ---- what they can do

    static long queryDevice(long context, long into) {
        put(context(context).attributes(), Native.some(into));
        return 0;
    }

    private static void put(DeviceAttributes from, long into) {
        Native.at(into, DEVICE_ATTR.size()).fill((byte) 0);
        byte[] version = from.identity().firmwareVersion().getBytes(StandardCharsets.UTF_8);
        MemorySegment.copy(MemorySegment.ofArray(version), 0, Native.at(into, 63), 0, Math.min(version.length, 63));
        Memory.putLong(
                into + DEVICE_ATTR.at("node_guid"), Memory.swap(from.identity().nodeGuid()));
        Memory.putLong(
                into + DEVICE_ATTR.at("sys_image_guid"),
                Memory.swap(from.identity().systemImageGuid()));
        Memory.putLong(into + DEVICE_ATTR.at("max_mr_size"), from.memory().maxMemoryRegionBytes());
        Memory.putLong(into + DEVICE_ATTR.at("page_size_cap"), from.memory().pageSizeCapability());
        put(into, "vendor_id", from.identity().vendorId());
        put(into, "vendor_part_id", from.identity().vendorPartId());
        put(into, "hw_ver", from.identity().hardwareVersion());
        put(into, "max_qp", from.queues().maxQp());
        put(into, "max_qp_wr", from.queues().maxQpWr());
        put(into, "device_cap_flags", flags(from));
        put(into, "max_sge", from.queues().maxSge());
        put(into, "max_sge_rd", from.queues().maxSgeRead());
        put(into, "max_cq", from.queues().maxCq());
        put(into, "max_cqe", from.queues().maxCqe());
        put(into, "max_mr", from.memory().maxMr());
        put(into, "max_pd", from.memory().maxPd());
        put(into, "max_qp_rd_atom", from.transport().maxQpReadAtomic());
        put(into, "max_res_rd_atom", from.transport().maxResponderReadAtomic());
        put(into, "max_qp_init_rd_atom", from.transport().maxQpInitiatorReadAtomic());
        put(into, "atomic_cap", from.transport().atomicCapability().ordinal());
        put(into, "max_mw", from.memory().maxMw());
        put(into, "max_mcast_grp", from.datagrams().maxMulticastGroups());
        put(into, "max_mcast_qp_attach", from.datagrams().maxMulticastQpAttach());
        put(into, "max_total_mcast_qp_attach", from.datagrams().maxTotalMulticastQpAttach());
        put(into, "max_ah", from.datagrams().maxAh());
        put(into, "max_srq", from.queues().maxSrq());
        put(into, "max_srq_wr", from.queues().maxSrqWr());
        put(into, "max_srq_sge", from.queues().maxSrqSge());
        Memory.putShort(into + DEVICE_ATTR.at("max_pkeys"), from.maxPkeys());
        Memory.putByte(
                into + DEVICE_ATTR.at("local_ca_ack_delay"), from.transport().localAckDelay());
        Memory.putByte(into + DEVICE_ATTR.at("phys_port_cnt"), from.physicalPorts());
    }

    private static void put(long into, String field, int value) {
        Memory.putInt(into + DEVICE_ATTR.at(field), value);
    }

    private static int flags(DeviceAttributes from) {
        int flags = VerbsConstants.IBV_DEVICE_CURR_QP_STATE_MOD
                | VerbsConstants.IBV_DEVICE_RC_RNR_NAK_GEN
                | VerbsConstants.IBV_DEVICE_SYS_IMAGE_GUID
                | VerbsConstants.IBV_DEVICE_PORT_ACTIVE_EVENT;
        if (from.has(Capability.MEMORY_WINDOW_TYPE_1)) {
            flags |= VerbsConstants.IBV_DEVICE_MEM_WINDOW;
        }
        if (from.has(Capability.MEMORY_WINDOW_TYPE_2)) {
            flags |= VerbsConstants.IBV_DEVICE_MEM_WINDOW_TYPE_2B;
        }
        if (from.has(Capability.XRC)) {
            flags |= VerbsConstants.IBV_DEVICE_XRC;
        }
        if (from.has(Capability.PATH_MIGRATION)) {
            flags |= VerbsConstants.IBV_DEVICE_AUTO_PATH_MIG;
        }
        if (from.has(Capability.LOCAL_INVALIDATE) && from.has(Capability.SEND_WITH_INVALIDATE)) {
            flags |= VerbsConstants.IBV_DEVICE_MEM_MGT_EXTENSIONS;
        }
        return flags;
    }

    /// Writes as many attributes as the program's struct has room for; it was larger in each version.
    static long queryDeviceEx(long context, long input, long into, long size) {
        if (input != 0 && Memory.getInt(input) != 0) { // a mask of what a later version asks for
            return Errno.EINVAL;
        }
        if (size < DEVICE_ATTR.size() + Integer.BYTES) {
            return Errno.EINVAL;
        }
        Native.at(into, size).fill((byte) 0);
        DeviceAttributes from = context(context).attributes();
        put(from, into);
        putOnDemand(from.memory().onDemandPaging(), into, size);
        putIfRoom(into, size, "completion_timestamp_mask", -1L);
        putIfRoom(into, size, "hca_core_clock", CompletionQueueHandle.CLOCK_KILOHERTZ);
        putIfRoom(into, size, "max_dm_size", from.memory().maxDeviceMemoryBytes());
        putIfRoom(into, size, "device_cap_flags_ex", Integer.toUnsignedLong(flags(from)));
        if (size >= DEVICE_ATTR_EX.size()) {
            Memory.putInt(into + DEVICE_ATTR_EX.at("phys_port_cnt_ex"), from.physicalPorts());
        }
        return 0;
    }

    private static void putOnDemand(OnDemandPaging from, long into, long size) {
        if (from != OnDemandPaging.NONE) {
            int general = VerbsConstants.IBV_ODP_SUPPORT
                    | (from.hasAddressSpace() ? VerbsConstants.IBV_ODP_SUPPORT_IMPLICIT : 0);
            putIfRoom(into, size, "odp_caps.general_caps", general);
        }
        putUses(from, QpType.RC, "odp_caps.per_transport_caps.rc_odp_caps", into, size);
        putUses(from, QpType.UC, "odp_caps.per_transport_caps.uc_odp_caps", into, size);
        putUses(from, QpType.UD, "odp_caps.per_transport_caps.ud_odp_caps", into, size);
        putUses(from, QpType.XRC_TARGET, "xrc_odp_caps", into, size);
    }

    private static void putUses(OnDemandPaging from, QpType type, String field, long into, long size) {
        long at = DEVICE_ATTR_EX.at(field);
        if (at + Integer.BYTES <= size) {
            Memory.putInt(into + at, OnDemandPaging.Use.bits(from.uses(type)));
        }
    }

    private static void putIfRoom(long into, long size, String field, long value) {
        long at = DEVICE_ATTR_EX.at(field);
        if (at + Long.BYTES <= size) {
            Memory.putLong(into + at, value);
        }
    }

    /// Writes `struct ibv_values_ex`: a mask of the values that are wanted, and the clock's time as a `timespec`.
    static long queryRtValues(long context, long values) {
        context(context);
        if (Memory.getInt(Native.some(values)) != 1) { // IBV_VALUES_MASK_RAW_CLOCK
            return Errno.EINVAL;
        }
        Memory.putLong(values + 8, 0);
        Memory.putLong(values + 16, System.nanoTime());
        return 0;
    }

    // ---- ports

    static long queryPort(long context, long port, long into, long size) {
        PortAttributes from = context(context).port((int) port & 0xFF);
        long known = PORT_ATTR.size();
        long older = PORT_ATTR.at("link_layer") + 2; // without a size, the struct ends with the link layer and flags
        long bytes = size == 0 ? older : Math.min(size, known);
        Native.at(into, size == 0 ? older : size).fill((byte) 0);
        long scratch = Native.allocate(known);
        try {
            fill(from, scratch);
            MemorySegment.copy(Native.at(scratch, bytes), 0, Native.at(into, bytes), 0, bytes);
        } finally {
            Native.free(scratch);
        }
        return 0;
    }

    private static void fill(PortAttributes from, long into) {
        boolean isEthernet = from.linkLayer() == LinkLayer.ETHERNET;
        Memory.putInt(into + PORT_ATTR.at("state"), from.state().ordinal());
        Memory.putInt(into + PORT_ATTR.at("max_mtu"), from.maxMtu().code());
        Memory.putInt(into + PORT_ATTR.at("active_mtu"), from.activeMtu().code());
        Memory.putInt(into + PORT_ATTR.at("gid_tbl_len"), from.gidTableLength());
        Memory.putInt(into + PORT_ATTR.at("port_cap_flags"), from.capabilityFlags());
        Memory.putInt(into + PORT_ATTR.at("max_msg_sz"), (int) Math.min(from.maxMessageBytes(), 1L << 31));
        Memory.putShort(into + PORT_ATTR.at("pkey_tbl_len"), from.pkeyTableLength());
        Memory.putShort(into + PORT_ATTR.at("lid"), from.lids().lid());
        Memory.putShort(into + PORT_ATTR.at("sm_lid"), from.lids().subnetManagerLid());
        Memory.putByte(into + PORT_ATTR.at("lmc"), from.lids().maskControl());
        Memory.putByte(into + PORT_ATTR.at("max_vl_num"), 1);
        Memory.putByte(into + PORT_ATTR.at("active_width"), from.link().width().code());
        Memory.putByte(into + PORT_ATTR.at("active_speed"), from.link().speed().code());
        Memory.putByte(into + PORT_ATTR.at("phys_state"), from.link().state().code());
        Memory.putByte(
                into + PORT_ATTR.at("link_layer"),
                isEthernet ? VerbsConstants.IBV_LINK_LAYER_ETHERNET : VerbsConstants.IBV_LINK_LAYER_INFINIBAND);
        Memory.putByte(into + PORT_ATTR.at("flags"), isEthernet ? 1 : 0); // IBV_QPF_GRH_REQUIRED
    }

    static long queryPkey(long context, long port, long index, long into) {
        int pkey = context(context).pkey((int) port & 0xFF, (int) index);
        Memory.putShort(Native.some(into), Memory.swapShort(pkey));
        return 0;
    }

    static long getPkeyIndex(long context, long port, long pkey) {
        int length = context(context).port((int) port & 0xFF).pkeyTableLength();
        for (int i = 0; i < length; i++) {
            if ((short) Memory.swapShort(context(context).pkey((int) port & 0xFF, i)) == (short) pkey) {
                return i;
            }
        }
        return Errno.ENOENT;
    }

    // ---- addresses

    static long queryGid(long context, long port, long index, long into) {
        put(context(context).gid((int) port & 0xFF, (int) index).gid(), Native.some(into));
        return 0;
    }

    static void put(Gid gid, long into) {
        Memory.putLong(into, Memory.swap(gid.high()));
        Memory.putLong(into + 8, Memory.swap(gid.low()));
    }

    static Gid gid(long from) {
        return new Gid(Memory.swap(Memory.getLong(from)), Memory.swap(Memory.getLong(from + 8)));
    }

    static long queryGidEx(long context, long port, long index, long into, long flags, long size) {
        if (flags != 0 || size < GID_ENTRY.size()) {
            return Errno.EINVAL;
        }
        GidEntry entry = entry(context(context), (int) port, (int) index);
        if (entry == null) {
            return -61; // ENODATA: an empty entry
        }
        put(entry, (int) port, Native.some(into));
        return 0;
    }

    private static @Nullable GidEntry entry(Context context, int port, int index) {
        if (index < 0 || index >= context.port(port).gidTableLength()) {
            throw new IllegalArgumentException("gid_index: " + index + " is not in the table");
        }
        return context.gids(port).stream()
                .filter(each -> each.index() == index)
                .findFirst()
                .orElse(null);
    }

    private static void put(GidEntry entry, int port, long into) {
        put(entry.gid(), into);
        Memory.putInt(into + GID_ENTRY.at("gid_index"), entry.index());
        Memory.putInt(into + GID_ENTRY.at("port_num"), port);
        Memory.putInt(into + GID_ENTRY.at("gid_type"), type(entry.type()));
        Memory.putInt(into + GID_ENTRY.at("ndev_ifindex"), entry.interfaceIndex());
    }

    private static int type(GidType type) {
        return switch (type) {
            case IB, IWARP -> VerbsConstants.IBV_GID_TYPE_IB;
            case ROCE_V1 -> VerbsConstants.IBV_GID_TYPE_ROCE_V1;
            case ROCE_V2 -> VerbsConstants.IBV_GID_TYPE_ROCE_V2;
        };
    }

    static long queryGidTable(long context, long into, long max, long flags, long size) {
        if (flags != 0 || size < GID_ENTRY.size()) {
            return Errno.EINVAL;
        }
        List<GidEntry> entries = context(context).gids(1);
        if (entries.size() > max) {
            return Errno.EINVAL;
        }
        for (int i = 0; i < entries.size(); i++) {
            put(entries.get(i), 1, into + i * size);
        }
        return entries.size();
    }

    /// Returns the type as sysfs names it: `IB/RoCE v1` and `RoCE v2` only.
    static long queryGidType(long context, long port, long index, long into) {
        GidEntry entry = entry(context(context), (int) port & 0xFF, (int) index);
        Memory.putInt(Native.some(into), entry != null && entry.type() == GidType.ROCE_V2 ? 1 : 0);
        return 0;
    }

    /// Leaves the hardware's address to the kernel, whose business it is here: it stays zero.
    static long resolveEthL2(long context, long attributes, long mac, long vlan) {
        context(context);
        if (Memory.getByte(Native.some(attributes) + AH_ATTR.at("is_global")) == 0) {
            return Errno.EINVAL;
        }
        Native.at(mac, 6).fill((byte) 0);
        if (vlan != 0) {
            Memory.putShort(vlan, 0xFFFF);
        }
        return 0;
    }

    // ---- events

    static long asyncFd(long context) {
        return Handles.get(context, ContextHandle.class).asyncFd();
    }

    /// Takes the oldest event; answers `ENOENT` when there is none.
    static long takeAsyncEvent(long context, long event) {
        return Handles.get(context, ContextHandle.class).takeEvent(Native.some(event));
    }

    static long ackAsyncEvent(long event) {
        Handle of = about(Native.some(event));
        if (of != null) {
            of.onEventsAcknowledged(1);
        }
        return 0;
    }

    private static @Nullable Handle about(long event) {
        return isAboutAnObject(event) ? Handles.find(Memory.getLong(event), Handle.class) : null;
    }

    private static boolean isAboutAnObject(long event) {
        int type = Memory.getInt(event + ASYNC_EVENT.at("event_type"));
        return switch (AsyncEvent.Type.values()[type]) {
            case CQ_ERR,
                    QP_FATAL,
                    QP_REQ_ERR,
                    QP_ACCESS_ERR,
                    COMM_EST,
                    SQ_DRAINED,
                    PATH_MIG,
                    PATH_MIG_ERR,
                    SRQ_ERR,
                    SRQ_LIMIT_REACHED,
                    QP_LAST_WQE_REACHED -> true;
            case DEVICE_FATAL,
                    PORT_ACTIVE,
                    PORT_ERR,
                    LID_CHANGE,
                    PKEY_CHANGE,
                    SM_CHANGE,
                    CLIENT_REREGISTER,
                    GID_CHANGE -> false;
        };
    }
}

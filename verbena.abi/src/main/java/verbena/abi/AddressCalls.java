package verbena.abi;

import static verbena.foreign.rdma.VerbsStructs.AH_ATTR;
import static verbena.foreign.rdma.VerbsStructs.GRH;
import static verbena.foreign.rdma.VerbsStructs.WC;

import verbena.foreign.Memory;
import verbena.verbs.AddressVector;
import verbena.verbs.WorkCompletion;

/// Where datagrams go.
final class AddressCalls {
    private AddressCalls() {}

    static long createAh(long pd, long attributes) {
        var domain = DomainHandle.get(pd);
        return AddressHandleHandle.of(domain.domain.createAddressHandle(vector(Native.some(attributes))), domain)
                .pointer;
    }

    static long destroyAh(long ah) {
        Handles.byNumber(ah, AddressHandleHandle.class).destroy();
        return 0;
    }

    static long createAhFromWc(long pd, long wc, long grh, long port) {
        var domain = DomainHandle.get(pd);
        if (!hasGrh(wc)) {
            return Errno.EINVAL;
        }
        var to = AddressVector.toSender(Native.at(grh, GRH.size()), domain.domain.context());
        return AddressHandleHandle.of(domain.domain.createAddressHandle(to), domain).pointer;
    }

    static long initAhFromWc(long context, long port, long wc, long grh, long into) {
        var of = Handles.get(context, ContextHandle.class).context;
        if (!hasGrh(wc)) {
            return Errno.EINVAL;
        }
        Native.at(into, AH_ATTR.size()).fill((byte) 0);
        put(AddressVector.toSender(Native.at(grh, GRH.size()), of), into);
        return 0;
    }

    private static boolean hasGrh(long wc) {
        return (Memory.getInt(Native.some(wc) + WC.at("wc_flags")) & WorkCompletion.GRH) != 0;
    }

    /// `struct ibv_ah_attr`. Over Ethernet and IP every way has a GRH.
    static AddressVector vector(long from) {
        if (Memory.getByte(from + AH_ATTR.at("is_global")) == 0) {
            throw new IllegalArgumentException("is_global: 1, and the peer's GID: LIDs are InfiniBand's own");
        }
        return new AddressVector(
                DeviceCalls.gid(from + AH_ATTR.at("grh.dgid")),
                number(from, "grh.sgid_index"),
                number(from, "port_num"),
                number(from, "grh.traffic_class"),
                Math.max(1, number(from, "grh.hop_limit")), // 0 gets as far as 1 does
                Memory.getInt(from + AH_ATTR.at("grh.flow_label")) & 0xF_FFFF,
                number(from, "sl"),
                0);
    }

    private static int number(long from, String field) {
        return Memory.getByte(from + AH_ATTR.at(field)) & 0xFF;
    }

    static void put(AddressVector from, long into) {
        DeviceCalls.put(from.destination(), into + AH_ATTR.at("grh.dgid"));
        Memory.putInt(into + AH_ATTR.at("grh.flow_label"), from.flowLabel());
        Memory.putByte(into + AH_ATTR.at("grh.sgid_index"), from.sourceGidIndex());
        Memory.putByte(into + AH_ATTR.at("grh.hop_limit"), from.hopLimit());
        Memory.putByte(into + AH_ATTR.at("grh.traffic_class"), from.trafficClass());
        Memory.putByte(into + AH_ATTR.at("sl"), from.serviceLevel());
        Memory.putByte(into + AH_ATTR.at("is_global"), 1);
        Memory.putByte(into + AH_ATTR.at("port_num"), from.port());
    }
}

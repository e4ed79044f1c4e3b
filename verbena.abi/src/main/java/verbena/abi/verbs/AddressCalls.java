package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.AH_ATTR;
import static verbena.foreign.rdma.VerbsStructs.GRH;
import static verbena.foreign.rdma.VerbsStructs.WC;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.verbs.AddressVector;
import verbena.verbs.Context;
import verbena.verbs.Gid;
import verbena.verbs.StaticRate;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.CompletionAccess;

/// The calls for address handles, the destinations of datagrams.
public final class AddressCalls {
    private static final Gid NONE = new Gid(0, 0);

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
        AddressVector back = back(wc, grh, domain.domain.context(), port);
        return back == null
                ? Errno.EINVAL
                : AddressHandleHandle.of(domain.domain.createAddressHandle(back), domain).pointer;
    }

    static long initAhFromWc(long context, long port, long wc, long grh, long into) {
        var of = Handles.get(context, ContextHandle.class).context;
        AddressVector back = back(wc, grh, of, port);
        if (back == null) {
            return Errno.EINVAL;
        }
        Native.at(into, AH_ATTR.size()).fill((byte) 0);
        put(back, into);
        return 0;
    }

    /// Returns the address of the sender of a datagram. C has its completion, and perhaps a GRH; null when it has
    /// neither a GRH nor a LID.
    private static @Nullable AddressVector back(long wc, long grh, Context context, long port) {
        int flags = Memory.getInt(Native.some(wc) + WC.at("wc_flags")) & CompletionAccess.GRH;
        int lid = Memory.getUnsignedShort(wc + WC.at("slid"));
        if (flags == 0 && lid == 0) {
            return null;
        }
        var received = new WorkCompletion();
        long sender = lid == 0 ? 0 : CompletionAccess.sender(0, lid, Memory.getByte(wc + WC.at("sl")) & 0xF, 0);
        CompletionAccess.fill(received, 0, WcStatus.SUCCESS, WcOpcode.RECV, 0, 0, 0, 0, sender, flags, "");
        // Without a GRH, C need not have one to pass.
        MemorySegment area = flags == 0 ? MemorySegment.NULL : Native.at(grh, GRH.size());
        return AddressVector.toSender(received, area, context, (int) port & 0xFF);
    }

    /// Reads `struct ibv_ah_attr`. Every address over Ethernet and IP has a GRH; without a GRH InfiniBand uses the
    /// LID alone.
    static AddressVector vector(long from) {
        int lid = Memory.getUnsignedShort(from + AH_ATTR.at("dlid"));
        boolean isGlobal = Memory.getByte(from + AH_ATTR.at("is_global")) != 0;
        if (!isGlobal && lid == 0) {
            throw new IllegalArgumentException(
                    "is_global: 1 and the peer's GID, or dlid: the peer's LID on InfiniBand");
        }
        if (!isGlobal) {
            return AddressVector.to(NONE, 0)
                    .withPort(number(from, "port_num"))
                    .withServiceLevel(number(from, "sl"))
                    .withDestinationLid(lid)
                    .withSourcePathBits(number(from, "src_path_bits") & 0x7F)
                    .withStaticRate(rate(from));
        }
        return new AddressVector(
                DeviceCalls.gid(from + AH_ATTR.at("grh.dgid")),
                number(from, "grh.sgid_index"),
                number(from, "port_num"),
                number(from, "grh.traffic_class"),
                Math.max(1, number(from, "grh.hop_limit")), // 0 gets as far as 1 does
                Memory.getInt(from + AH_ATTR.at("grh.flow_label")) & 0xF_FFFF,
                number(from, "sl"),
                lid,
                number(from, "src_path_bits") & 0x7F,
                rate(from));
    }

    private static StaticRate rate(long from) {
        int code = number(from, "static_rate");
        return StaticRate.ofCode(code)
                .orElseThrow(() -> new IllegalArgumentException("static_rate: a value of enum ibv_rate, got " + code));
    }

    private static int number(long from, String field) {
        return Memory.getByte(from + AH_ATTR.at(field)) & 0xFF;
    }

    public static void put(AddressVector from, long into) {
        DeviceCalls.put(from.destination(), into + AH_ATTR.at("grh.dgid"));
        Memory.putInt(into + AH_ATTR.at("grh.flow_label"), from.flowLabel());
        Memory.putByte(into + AH_ATTR.at("grh.sgid_index"), from.sourceGidIndex());
        Memory.putByte(into + AH_ATTR.at("grh.hop_limit"), from.hopLimit());
        Memory.putByte(into + AH_ATTR.at("grh.traffic_class"), from.trafficClass());
        Memory.putByte(into + AH_ATTR.at("sl"), from.serviceLevel());
        boolean isGlobal = !NONE.equals(from.destination());
        Memory.putByte(into + AH_ATTR.at("is_global"), isGlobal ? 1 : 0);
        Memory.putShort(into + AH_ATTR.at("dlid"), from.destinationLid());
        Memory.putByte(into + AH_ATTR.at("src_path_bits"), from.sourcePathBits());
        Memory.putByte(into + AH_ATTR.at("static_rate"), from.staticRate().code());
        Memory.putByte(into + AH_ATTR.at("port_num"), from.port());
    }
}

package verbena.ibverbs.lib;

import static verbena.foreign.rdma.VerbsStructs.AH_ATTR;

import java.util.Optional;
import verbena.foreign.Memory;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.StaticRate;

/// `struct ibv_ah_attr`, there and back.
public final class AddressVectors {
    private AddressVectors() {}

    /// Writes the attributes of an address handle.
    ///
    /// @param at a zeroed `struct ibv_ah_attr`
    public static void write(AddressVector to, long at) {
        Gid gid = to.destination();
        boolean isGlobal = gid.high() != 0 || gid.low() != 0;
        Memory.putGid(at + AH_ATTR.at("grh.dgid"), gid);
        Memory.putInt(at + AH_ATTR.at("grh.flow_label"), to.flowLabel());
        Memory.putByte(at + AH_ATTR.at("grh.sgid_index"), to.sourceGidIndex());
        Memory.putByte(at + AH_ATTR.at("grh.hop_limit"), to.hopLimit());
        Memory.putByte(at + AH_ATTR.at("grh.traffic_class"), to.trafficClass());
        Memory.putShort(at + AH_ATTR.at("dlid"), to.destinationLid());
        Memory.putByte(at + AH_ATTR.at("sl"), to.serviceLevel());
        Memory.putByte(at + AH_ATTR.at("src_path_bits"), to.sourcePathBits());
        Memory.putByte(at + AH_ATTR.at("static_rate"), to.staticRate().code());
        Memory.putByte(at + AH_ATTR.at("is_global"), isGlobal ? 1 : 0);
        Memory.putByte(at + AH_ATTR.at("port_num"), to.port());
    }

    /// Reads an address vector; empty when none is set.
    public static Optional<AddressVector> read(long at) {
        int port = Memory.getUnsignedByte(at + AH_ATTR.at("port_num"));
        if (port == 0) {
            return Optional.empty();
        }
        return Optional.of(new AddressVector(
                Memory.getGid(at + AH_ATTR.at("grh.dgid")),
                Memory.getUnsignedByte(at + AH_ATTR.at("grh.sgid_index")),
                port,
                Memory.getUnsignedByte(at + AH_ATTR.at("grh.traffic_class")),
                Math.max(1, Memory.getUnsignedByte(at + AH_ATTR.at("grh.hop_limit"))),
                Memory.getInt(at + AH_ATTR.at("grh.flow_label")) & 0xF_FFFF,
                Memory.getUnsignedByte(at + AH_ATTR.at("sl")) & 15,
                Memory.getUnsignedShort(at + AH_ATTR.at("dlid")),
                Memory.getUnsignedByte(at + AH_ATTR.at("src_path_bits")) & 0x7F,
                StaticRate.ofCode(Memory.getUnsignedByte(at + AH_ATTR.at("static_rate")))
                        .orElse(StaticRate.PORT)));
    }
}

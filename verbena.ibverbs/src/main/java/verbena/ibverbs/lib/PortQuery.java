package verbena.ibverbs.lib;

import static verbena.foreign.rdma.VerbsStructs.PORT_ATTR;

import java.util.OptionalInt;
import verbena.foreign.Memory;
import verbena.verbs.LinkLayer;
import verbena.verbs.Mtu;
import verbena.verbs.PortAttributes;
import verbena.verbs.PortAttributes.Link;
import verbena.verbs.PortState;

/// The state of a port that C reports: a `struct ibv_port_attr`.
public final class PortQuery {
    private PortQuery() {}

    /// Reads the attributes of a port.
    ///
    /// @param gids entries of the GID table, when it is not the device's own
    public static PortAttributes attributes(long at, OptionalInt gids) {
        int state = Memory.getInt(at + PORT_ATTR.at("state"));
        return new PortAttributes(
                state >= 0 && state < PortState.values().length ? PortState.values()[state] : PortState.NOP,
                // Unspecified means InfiniBand, as in ibv_query_port(3).
                Memory.getUnsignedByte(at + PORT_ATTR.at("link_layer")) == 2
                        ? LinkLayer.ETHERNET
                        : LinkLayer.INFINIBAND,
                new Link(
                        Link.State.ofCode(Memory.getUnsignedByte(at + PORT_ATTR.at("phys_state"))),
                        Link.Width.ofCode(Memory.getUnsignedByte(at + PORT_ATTR.at("active_width"))),
                        Link.Speed.ofCode(Memory.getUnsignedByte(at + PORT_ATTR.at("active_speed")))),
                new PortAttributes.Lids(
                        Memory.getUnsignedShort(at + PORT_ATTR.at("lid")),
                        Memory.getUnsignedShort(at + PORT_ATTR.at("sm_lid")),
                        Memory.getUnsignedByte(at + PORT_ATTR.at("lmc"))),
                mtu(Memory.getInt(at + PORT_ATTR.at("max_mtu"))),
                mtu(Memory.getInt(at + PORT_ATTR.at("active_mtu"))),
                gids.orElse(Memory.getInt(at + PORT_ATTR.at("gid_tbl_len"))),
                Memory.getUnsignedShort(at + PORT_ATTR.at("pkey_tbl_len")),
                Integer.toUnsignedLong(Memory.getInt(at + PORT_ATTR.at("max_msg_sz"))),
                Memory.getInt(at + PORT_ATTR.at("port_cap_flags")));
    }

    /// Returns the MTU of a code; a device of streams may have none.
    public static Mtu mtu(int code) {
        return code < 1 || code > 5 ? Mtu.MTU_256 : Mtu.ofCode(code);
    }
}

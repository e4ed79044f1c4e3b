package verbena.tools.device;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.LinkLayer;
import verbena.verbs.PortAttributes;
import verbena.verbs.TransportType;

/// The report of `ibv_devinfo` on an opened device: same names, same order, same columns, so that two reports can
/// be compared by diff. What the verbs API does not tell is left out; what only InfiniBand's reliable datagrams
/// had is 0.
final class DeviceReport {
    /// The flags of `enum ibv_device_cap_flags` that follow from capabilities, in the order of their bits.
    private enum CapFlag {
        RC_RNR_NAK_GEN(12, Capability.RC),
        MEM_WINDOW(17, Capability.MEMORY_WINDOW_TYPE_1),
        XRC(20, Capability.XRC),
        MEM_MGT_EXTENSIONS(21, Capability.LOCAL_INVALIDATE),
        MEM_WINDOW_TYPE_2B(24, Capability.MEMORY_WINDOW_TYPE_2);

        private final int bit;
        private final Capability capability;

        CapFlag(int bit, Capability capability) {
            this.bit = bit;
            this.capability = capability;
        }

        static List<CapFlag> of(DeviceAttributes attributes) {
            return Arrays.stream(values())
                    .filter(flag -> attributes.has(flag.capability))
                    .toList();
        }
    }

    private final PrintWriter out;
    private final Context context;

    private DeviceReport(PrintWriter out, Context context) {
        this.out = out;
        this.context = context;
    }

    /// Prints the device and one port, or all.
    ///
    /// @throws CommandFailed when there is no such port
    static void print(PrintWriter out, Context context, Optional<Integer> onlyPort, boolean verbose) {
        var report = new DeviceReport(out, context);
        int ports = context.attributes().physicalPorts();
        if (onlyPort.isPresent() && onlyPort.get() > ports) {
            throw new CommandFailed("device " + context.device().name() + " has "
                    + (ports == 1 ? "port 1 only" : "ports 1 to " + ports) + ", not port " + onlyPort.get());
        }
        report.device(verbose);
        for (int port = 1; port <= ports; port++) {
            if (onlyPort.isEmpty() || onlyPort.get() == port) {
                report.port(port, verbose);
            }
        }
        out.flush();
    }

    private void device(boolean verbose) {
        DeviceAttributes a = context.attributes();
        TransportType transport = context.device().transportType();
        out.println("hca_id:\t" + context.device().name());
        line("\ttransport:\t\t\t%s (%d)".formatted(transport, transport.code()));
        if (!a.identity().firmwareVersion().isEmpty()) {
            line("\tfw_ver:\t\t\t\t%s".formatted(a.identity().firmwareVersion()));
        }
        line("\tnode_guid:\t\t\t%s".formatted(Addresses.guid(a.identity().nodeGuid())));
        line("\tsys_image_guid:\t\t\t%s".formatted(Addresses.guid(a.identity().systemImageGuid())));
        line("\tvendor_id:\t\t\t0x%04x".formatted(a.identity().vendorId()));
        line("\tvendor_part_id:\t\t\t%d".formatted(a.identity().vendorPartId()));
        line("\thw_ver:\t\t\t\t0x%X".formatted(a.identity().hardwareVersion()));
        line("\tphys_port_cnt:\t\t\t%d".formatted(a.physicalPorts()));
        if (verbose) {
            limits(a);
        }
    }

    private void limits(DeviceAttributes a) {
        line("\tmax_mr_size:\t\t\t0x%x".formatted(a.memory().maxMemoryRegionBytes()));
        line("\tpage_size_cap:\t\t\t0x%x".formatted(a.memory().pageSizeCapability()));
        line("\tmax_qp:\t\t\t\t%d".formatted(a.queues().maxQp()));
        line("\tmax_qp_wr:\t\t\t%d".formatted(a.queues().maxQpWr()));
        List<CapFlag> flags = CapFlag.of(a);
        int bits = flags.stream().mapToInt(flag -> 1 << flag.bit).sum();
        line("\tdevice_cap_flags:\t\t0x%08x".formatted(bits));
        flags.forEach(flag -> line("\t\t\t\t\t" + flag));
        line("\tmax_sge:\t\t\t%d".formatted(a.queues().maxSge()));
        line("\tmax_sge_rd:\t\t\t%d".formatted(a.queues().maxSgeRead()));
        line("\tmax_cq:\t\t\t\t%d".formatted(a.queues().maxCq()));
        line("\tmax_cqe:\t\t\t%d".formatted(a.queues().maxCqe()));
        line("\tmax_mr:\t\t\t\t%d".formatted(a.memory().maxMr()));
        line("\tmax_pd:\t\t\t\t%d".formatted(a.memory().maxPd()));
        line("\tmax_qp_rd_atom:\t\t\t%d".formatted(a.transport().maxQpReadAtomic()));
        line("\tmax_ee_rd_atom:\t\t\t0");
        line("\tmax_res_rd_atom:\t\t%d".formatted(a.transport().maxResponderReadAtomic()));
        line("\tmax_qp_init_rd_atom:\t\t%d".formatted(a.transport().maxQpInitiatorReadAtomic()));
        line("\tmax_ee_init_rd_atom:\t\t0");
        line("\tatomic_cap:\t\t\t%s (%d)"
                .formatted(
                        a.transport().atomicCapability(),
                        a.transport().atomicCapability().ordinal()));
        line("\tmax_ee:\t\t\t\t0");
        line("\tmax_rdd:\t\t\t0");
        line("\tmax_mw:\t\t\t\t%d".formatted(a.memory().maxMw()));
        line("\tmax_raw_ipv6_qp:\t\t0");
        line("\tmax_raw_ethy_qp:\t\t0");
        line("\tmax_mcast_grp:\t\t\t%d".formatted(a.datagrams().maxMulticastGroups()));
        line("\tmax_mcast_qp_attach:\t\t%d".formatted(a.datagrams().maxMulticastQpAttach()));
        line("\tmax_total_mcast_qp_attach:\t%d".formatted(a.datagrams().maxTotalMulticastQpAttach()));
        line("\tmax_ah:\t\t\t\t%d".formatted(a.datagrams().maxAh()));
        line("\tmax_fmr:\t\t\t0");
        line("\tmax_srq:\t\t\t%d".formatted(a.queues().maxSrq()));
        if (a.queues().maxSrq() != 0) {
            line("\tmax_srq_wr:\t\t\t%d".formatted(a.queues().maxSrqWr()));
            line("\tmax_srq_sge:\t\t\t%d".formatted(a.queues().maxSrqSge()));
        }
        line("\tmax_pkeys:\t\t\t%d".formatted(a.maxPkeys()));
        line("\tlocal_ca_ack_delay:\t\t%d".formatted(a.transport().localAckDelay()));
        // Beyond ibv_devinfo: what Verbena's API tells besides.
        line("\tmax_inline_data:\t\t%d".formatted(a.queues().maxInlineBytes()));
        line("\tmax_msg_sz:\t\t\t0x%x".formatted(a.transport().maxMessageBytes()));
        if (a.has(Capability.COMPLETION_TIMESTAMPS)) {
            line("\tcompletion_timestamp_mask:\t0x%016x".formatted(a.clock().timestampMask()));
            line("\thca_core_clock:\t\t\t%d kHz".formatted(a.clock().timestampKilohertz()));
        }
        line("\tcapabilities:");
        for (Capability capability : Capability.values()) {
            line("\t\t\t\t\t%s%s".formatted(capability, a.has(capability) ? "" : "\t(not supported)"));
        }
    }

    private void port(int number, boolean verbose) {
        PortAttributes p = context.port(number);
        line("\t\tport:\t%d".formatted(number));
        line("\t\t\tstate:\t\t\t%s (%d)".formatted(p.state(), p.state().ordinal()));
        line("\t\t\tmax_mtu:\t\t%s (%d)".formatted(p.maxMtu(), p.maxMtu().code()));
        line("\t\t\tactive_mtu:\t\t%s (%d)"
                .formatted(p.activeMtu(), p.activeMtu().code()));
        line("\t\t\tsm_lid:\t\t\t%d".formatted(p.lids().subnetManagerLid()));
        line("\t\t\tport_lid:\t\t%d".formatted(p.lids().lid()));
        line("\t\t\tport_lmc:\t\t0x%02x".formatted(p.lids().maskControl()));
        line("\t\t\tlink_layer:\t\t%s".formatted(p.linkLayer()));
        if (verbose) {
            line("\t\t\tmax_msg_sz:\t\t0x%x".formatted(p.maxMessageBytes()));
            line("\t\t\tport_cap_flags:\t\t0x%08x".formatted(p.capabilityFlags()));
            line("\t\t\tpkey_tbl_len:\t\t%d".formatted(p.pkeyTableLength()));
            line("\t\t\tgid_tbl_len:\t\t%d".formatted(p.gidTableLength()));
            PortAttributes.Link link = p.link();
            line("\t\t\tactive_width:\t\t%s (%d)"
                    .formatted(link.width(), link.width().code()));
            line("\t\t\tactive_speed:\t\t%s (%d)"
                    .formatted(link.speed(), link.speed().code()));
            if (context.device().transportType() == TransportType.INFINIBAND) {
                line("\t\t\tphys_state:\t\t%s (%d)"
                        .formatted(link.state(), link.state().code()));
            }
            for (GidEntry entry : context.gids(number)) {
                gid(entry, p.linkLayer());
            }
            for (int i = 0; i < p.pkeyTableLength(); i++) {
                line("\t\t\tP_Key[%3d]:\t\t0x%04x".formatted(i, context.pkey(number, i)));
            }
        }
        out.println();
    }

    private void gid(GidEntry entry, LinkLayer linkLayer) {
        boolean asIp = entry.type() == GidType.ROCE_V2;
        String type = linkLayer == LinkLayer.ETHERNET ? ", " + entry.type() : "";
        String on = entry.networkInterface().isEmpty() ? "" : ", " + entry.networkInterface();
        String gid = asIp ? Addresses.gid(entry.gid()) : entry.gid().groups();
        line("\t\t\tGID[%3d]:\t\t%s%s%s".formatted(entry.index(), gid, type, on));
    }

    private void line(String text) {
        out.println(text);
    }
}

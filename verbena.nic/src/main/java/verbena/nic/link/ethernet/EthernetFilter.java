package verbena.nic.link.ethernet;

import static verbena.foreign.linux.LinuxAbi.BPF_ABS;
import static verbena.foreign.linux.LinuxAbi.BPF_B;
import static verbena.foreign.linux.LinuxAbi.BPF_H;
import static verbena.foreign.linux.LinuxAbi.BPF_JEQ;
import static verbena.foreign.linux.LinuxAbi.BPF_JMP;
import static verbena.foreign.linux.LinuxAbi.BPF_K;
import static verbena.foreign.linux.LinuxAbi.BPF_LD;
import static verbena.foreign.linux.LinuxAbi.BPF_RET;

import java.util.ArrayList;
import java.util.List;
import verbena.foreign.linux.LinuxAbi;
import verbena.nic.link.sharing.Steering.Instruction;
import verbena.wire.roce.Ethernet;
import verbena.wire.roce.RoceV1;
import verbena.wire.roce.RoceV2;

/// The programs by which the kernel chooses frames before they are copied (BPF, "Linux Socket Filtering"). A
/// frame's outer tag is not among its bytes when they run.
final class EthernetFilter {
    private static final int ALL = 0x4_0000;
    private static final int TYPE = 12;
    private static final int IPV4_PROTOCOL = 23;
    private static final int IPV4_PORT = 36;
    private static final int IPV6_PROTOCOL = 20;
    private static final int IPV6_PORT = 56;

    /// The filter for arrivals of RoCE v1. A socket of its type alone would get them too, but without their tags.
    static final List<Instruction> ROCE_V1 = List.of(
            load(BPF_B, LinuxAbi.SKF_AD_OFF + LinuxAbi.SKF_AD_PKTTYPE),
            when(LinuxAbi.PACKET_OUTGOING, 3, 0),
            load(BPF_H, TYPE),
            when(RoceV1.ETHER_TYPE, 0, 1),
            answer(ALL),
            answer(0));

    /// The filter that accepts nothing.
    static final List<Instruction> NOTHING = List.of(answer(0));

    private EthernetFilter() {}

    /// Returns the filter for arrivals to ports of UDP. A packet of IPv4 that has options or is a fragment may pass
    /// or not: it is no RoCE.
    static List<Instruction> roceV2(List<Integer> ports) {
        int n = ports.size();
        var all = new ArrayList<Instruction>(List.of(
                load(BPF_B, LinuxAbi.SKF_AD_OFF + LinuxAbi.SKF_AD_PKTTYPE),
                when(LinuxAbi.PACKET_OUTGOING, 10 + 2 * n, 0),
                load(BPF_H, TYPE),
                when(Ethernet.TYPE_IPV4, 0, 3 + n),
                load(BPF_B, IPV4_PROTOCOL),
                when(RoceV2.PROTOCOL_UDP, 0, 6 + 2 * n),
                load(BPF_H, IPV4_PORT)));
        addPorts(all, ports, 4 + n);
        all.add(when(Ethernet.TYPE_IPV6, 0, 4 + n));
        all.add(load(BPF_B, IPV6_PROTOCOL));
        all.add(when(RoceV2.PROTOCOL_UDP, 0, 2 + n));
        all.add(load(BPF_H, IPV6_PORT));
        addPorts(all, ports, 0);
        all.add(answer(ALL));
        all.add(answer(0));
        return all;
    }

    /// Adds comparisons with ports, which jump to the last two instructions.
    ///
    /// @param between instructions between these and those two
    private static void addPorts(List<Instruction> to, List<Integer> ports, int between) {
        for (int i = ports.size() - 1; i >= 0; i--) {
            to.add(when(ports.get(i), i + between, i == 0 ? 1 + between : 0));
        }
    }

    private static Instruction load(int size, int at) {
        return new Instruction(BPF_LD | size | BPF_ABS, 0, 0, at);
    }

    private static Instruction when(int k, int jumpTrue, int jumpFalse) {
        return new Instruction(BPF_JMP | BPF_JEQ | BPF_K, jumpTrue, jumpFalse, k);
    }

    private static Instruction answer(int bytes) {
        return new Instruction(BPF_RET | BPF_K, 0, 0, bytes);
    }
}

package verbena.tools.explain;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import verbena.tools.explain.Event.Contents;
import verbena.tools.explain.Event.Part;
import verbena.wire.BigEndian;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Lrh;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Vcrc;
import verbena.wire.mad.LinearForwarding;
import verbena.wire.mad.Mad;
import verbena.wire.mad.NodeDescription;
import verbena.wire.mad.NodeInfo;
import verbena.wire.mad.Notice;
import verbena.wire.mad.PathRecord;
import verbena.wire.mad.PkeyTable;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.Sa;
import verbena.wire.mad.SlToVl;
import verbena.wire.mad.SmInfo;
import verbena.wire.mad.Smp;
import verbena.wire.mad.SwitchInfo;
import verbena.wire.mad.VlArbitration;

/// The text for a management packet on a cable of InfiniBand: LRH through VCRC, without a GRH (IBTA 13.4, 14.2).
final class ManagementText {
    private static final int MAD = Lrh.BYTES + Bth.BYTES + Deth.BYTES;
    /// The bytes of a packet without a GRH.
    private static final int BYTES = MAD + Mad.BYTES + Packet.ICRC_BYTES + Vcrc.BYTES;

    /// The offset at which the attribute of a subnet management packet begins.
    private static final int SMP_HEADER_BYTES = 64;
    private static final int SHOWN_BYTES = 8;

    private final MemorySegment packet;
    private final MemorySegment mad;
    private final List<Part> parts = new ArrayList<>();
    private int at;

    /// @param packet a copy
    ManagementText(byte[] packet) {
        this.packet = MemorySegment.ofArray(packet);
        this.mad = this.packet.asSlice(MAD, Mad.BYTES);
    }

    static boolean isManagement(int bytes) {
        return bytes == BYTES;
    }

    boolean isSet() {
        return !isAdministration() && Mad.method(mad) == Mad.METHOD_SET;
    }

    /// Returns whether it asks for a port's new state.
    boolean isActivation() {
        return isSet()
                && Mad.attributeId(mad) == PortInfo.ATTRIBUTE
                && PortInfo.PORT_STATE.getInt(data()) >= PortInfo.ARMED;
    }

    private boolean isAdministration() {
        return Mad.managementClass(mad) == Mad.CLASS_SUBNET_ADMINISTRATION;
    }

    private MemorySegment data() {
        return isAdministration() ? Sa.data(mad) : Smp.data(mad);
    }

    // ---- in a few words

    /// Returns a label such as `GetResp NodeInfo switch`.
    String label() {
        return (method() + " " + attribute() + " " + said()).strip();
    }

    private String method() {
        return switch (Mad.method(mad)) {
            case Mad.METHOD_GET -> "Get";
            case Mad.METHOD_SET -> "Set";
            case Mad.METHOD_GET_RESPONSE -> "GetResp";
            case Mad.METHOD_TRAP -> "Trap";
            case Mad.METHOD_TRAP_REPRESS -> "TrapRepress";
            default -> "method 0x%02x".formatted(Mad.method(mad));
        };
    }

    private String attribute() {
        return switch (Mad.attributeId(mad)) {
            case NodeInfo.ATTRIBUTE -> "NodeInfo";
            case NodeDescription.ATTRIBUTE -> "NodeDescription";
            case SwitchInfo.ATTRIBUTE -> "SwitchInfo";
            case PortInfo.ATTRIBUTE -> "PortInfo";
            case PkeyTable.ATTRIBUTE -> "P_KeyTable";
            case SlToVl.ATTRIBUTE -> "SLtoVL";
            case VlArbitration.ATTRIBUTE -> "VLArb";
            case LinearForwarding.ATTRIBUTE -> "LFT";
            case SmInfo.ATTRIBUTE -> "SMInfo";
            case Notice.ATTRIBUTE -> "Notice";
            case PathRecord.ATTRIBUTE -> "PathRecord";
            default -> "attribute 0x%02x".formatted(Mad.attributeId(mad));
        };
    }

    /// Returns the content of the attribute; empty when it has none to show.
    private String said() {
        MemorySegment data = data();
        boolean isQuestion = Mad.method(mad) == Mad.METHOD_GET;
        int modifier = Mad.attributeModifier(mad);
        return switch (Mad.attributeId(mad)) {
            case NodeInfo.ATTRIBUTE ->
                isQuestion ? "" : NodeInfo.NODE_TYPE.getInt(data) == NodeInfo.SWITCH ? "switch" : "adapter";
            case NodeDescription.ATTRIBUTE -> isQuestion ? "" : NodeDescription.get(data);
            case PortInfo.ATTRIBUTE ->
                (modifier & 0xFF) + (isSet() && !isActivation() ? lid(data) : isQuestion ? "" : state(data));
            case LinearForwarding.ATTRIBUTE -> isQuestion ? "" : ways(data, modifier * LinearForwarding.ENTRIES);
            case SlToVl.ATTRIBUTE -> "%d to %d".formatted(modifier >> 8 & 0xFF, modifier & 0xFF);
            case Notice.ATTRIBUTE -> Notice.TRAP_NUMBER.getInt(data) + " of LID " + Notice.ISSUER_LID.getInt(data);
            case PathRecord.ATTRIBUTE ->
                isQuestion
                        ? "to adapter a"
                        : "LID " + PathRecord.SLID.getInt(data) + " to " + PathRecord.DLID.getInt(data);
            default -> "";
        };
    }

    /// Returns the text for the LID of a port. Ports of a switch have no LID but that of port 0.
    private static String lid(MemorySegment portInfo) {
        int lid = PortInfo.LID.getInt(portInfo);
        return lid == 0 ? "" : " LID " + lid;
    }

    private static String state(MemorySegment portInfo) {
        int state = PortInfo.PORT_STATE.getInt(portInfo);
        return state == 0 ? "" : " " + PortInfo.stateName(state);
    }

    /// Returns a text such as `1:0 2:1`: each LID with the port that leads to it.
    private static String ways(MemorySegment block, int first) {
        var ways = new ArrayList<String>();
        for (int i = 0; i < LinearForwarding.ENTRIES; i++) {
            if (LinearForwarding.get(block, i) != LinearForwarding.NO_PORT) {
                ways.add((first + i) + ":" + LinearForwarding.get(block, i));
            }
        }
        return String.join(" ", ways);
    }

    // ---- in sentences

    /// Returns the text for a reader who sees such a packet for the first time.
    String text() {
        return (Mad.method(mad) & Mad.RESPONSE) != 0 ? answer() : meaning() + way();
    }

    private String answer() {
        MemorySegment data = data();
        return "The answer: "
                + switch (Mad.attributeId(mad)) {
                    case NodeInfo.ATTRIBUTE ->
                        (NodeInfo.NODE_TYPE.getInt(data) == NodeInfo.SWITCH ? "a switch" : "a host channel adapter")
                                + ", ports " + NodeInfo.NUM_PORTS.getInt(data)
                                + ", GUID 0x%016x.".formatted(NodeInfo.NODE_GUID.get(data));
                    case NodeDescription.ATTRIBUTE -> "its name is " + NodeDescription.get(data) + ".";
                    case PortInfo.ATTRIBUTE ->
                        "LID " + PortInfo.LID.getInt(data) + ", state" + state(data) + ", LID of the manager "
                                + PortInfo.MASTER_SM_LID.getInt(data) + ".";
                    case PathRecord.ATTRIBUTE ->
                        "from LID " + PathRecord.SLID.getInt(data) + " to LID " + PathRecord.DLID.getInt(data)
                                + ", MTU code " + PathRecord.MTU.getInt(data) + ", rate code "
                                + PathRecord.RATE.getInt(data) + ". The REQ of a connection has these.";
                    default -> "what stands there now.";
                };
    }

    private String way() {
        if (!Smp.isDirected(mad)) {
            return isAdministration()
                    ? " It goes from queue pair 1 to queue pair 1, and by LID, as any packet."
                    : " It goes by LID: the forwarding tables know the way.";
        }
        var ports = new ArrayList<String>();
        for (int hop = 1; hop <= Smp.HOP_COUNT.getInt(mad); hop++) {
            ports.add(Integer.toString(Smp.initialPath(mad, hop)));
        }
        return " It goes by directed route, out of port " + String.join(", then ", ports)
                + ": no LID is needed, so this works before there is one.";
    }

    private String meaning() {
        boolean isSet = isSet();
        return switch (Mad.attributeId(mad)) {
            case NodeInfo.ATTRIBUTE ->
                "What is at the end of this way? NodeInfo tells its kind, its ports, and its GUID.";
            case NodeDescription.ATTRIBUTE -> "The name of a node, for people.";
            case SwitchInfo.ATTRIBUTE ->
                isSet
                        ? "The manager tells the switch how many LIDs its table has, or that it has seen a change of its ports."
                        : "How large are the tables of the switch? It tells also whether the state of a port has changed.";
            case PortInfo.ATTRIBUTE ->
                isActivation()
                        ? "The manager moves the port to its next state: in ARMED data may arrive, in ACTIVE they may leave."
                        : isSet
                                ? "The manager writes what the port is to have: its LID, the LID of the manager, MTU and lanes."
                                : "What a port can do, and in which state it is.";
            case PkeyTable.ATTRIBUTE ->
                "The partitions of a port. It takes part in those whose P_Key is in its table, and in no other.";
            case SlToVl.ATTRIBUTE -> "On which virtual lane the packets of each service level go.";
            case VlArbitration.ATTRIBUTE -> "How much each virtual lane may send in its turn.";
            case LinearForwarding.ATTRIBUTE ->
                "The forwarding table of the switch: for each LID the port where its packets leave. Port 0 is the switch itself.";
            case SmInfo.ATTRIBUTE -> "Is there another manager, and which has the higher priority?";
            case Notice.ATTRIBUTE ->
                Mad.method(mad) == Mad.METHOD_TRAP
                        ? "Trap 128: the switch tells the manager that the state of one of its links has changed."
                        : "The manager has heard of it; the switch need not repeat its trap.";
            case PathRecord.ATTRIBUTE ->
                "A path record has all that a queue pair needs to reach a peer: LIDs, MTU, rate, service level.";
            default -> "Something else that the manager reads or writes.";
        };
    }

    // ---- field by field

    Contents contents() {
        String way = "LID " + Lrh.sourceLid(packet, 0) + " to LID " + Lrh.destinationLid(packet, 0) + ", lane "
                + Lrh.virtualLane(packet, 0);
        return new Contents(way, packet.toArray(ValueLayout.JAVA_BYTE), parts());
    }

    private List<Part> parts() {
        String lrh = "LRH, local route header";
        part(lrh, "lane, version", 1, "virtual lane " + Lrh.virtualLane(packet, 0), "15 is that of subnet management");
        part(lrh, "SL, next header", 1, "service level " + Lrh.serviceLevel(packet, 0), "a BTH is next, without a GRH");
        part(lrh, "destination LID", 2, lid(Lrh.destinationLid(packet, 0)), "where a switch looks to forward it");
        part(lrh, "length", 2, Lrh.packetLengthWords(packet, 0) + " words", "of 4 bytes, through the ICRC");
        part(lrh, "source LID", 2, lid(Lrh.sourceLid(packet, 0)), "");
        String to = "a datagram, to queue pair " + Bth.destinationQp(packet, at);
        hex("BTH, base transport header", "BTH", Bth.BYTES, to);
        String from = "from queue pair " + Deth.sourceQp(packet, at);
        hex("DETH, datagram extended header", "DETH", Deth.BYTES, from);
        String header = "MAD, common header";
        hex(header, "base version", 1, "");
        hex(header, "class", 1, isAdministration() ? "subnet administration" : "subnet management");
        hex(header, "class version", 1, "");
        part(header, "method", 1, method(), "");
        hex(header, "status, hops", 4, "0 when all is well; of a directed route also which hop it is at");
        hex(header, "transaction", 8, "the answer has the same");
        part(header, "attribute", 2, attribute(), "what it is about");
        hex(header, "reserved", 2, "");
        hex(header, "modifier", 4, "which of several: a port, or a block of a table");
        int rest = MAD + (isAdministration() ? Sa.HEADER_BYTES : SMP_HEADER_BYTES) - at;
        hex(isAdministration() ? "RMPP and SA headers" : "SMP header", "keys and more", rest, "");
        int data = isAdministration() ? Sa.DATA_BYTES : Smp.DATA_BYTES;
        part("attribute", attribute(), data, said().isEmpty() ? some(data) : said(), "");
        if (!isAdministration()) {
            hex(
                    "paths",
                    "initial and return path",
                    MAD + Mad.BYTES - at,
                    "the ports of a directed route, out and back");
        }
        hex("ICRC", "ICRC", Packet.ICRC_BYTES, "checksum of what does not change on the way");
        hex("VCRC", "VCRC", Vcrc.BYTES, "checksum of this cable: of all bytes");
        return parts;
    }

    private static String lid(int lid) {
        return lid == Smp.PERMISSIVE_LID ? "0xffff, by directed route" : Integer.toString(lid);
    }

    private void part(String header, String name, int bytes, String value, String meaning) {
        parts.add(new Part(header, name, value, meaning, at, bytes));
        at += bytes;
    }

    private void hex(String header, String name, int bytes, String meaning) {
        part(header, name, bytes, some(bytes), meaning);
    }

    private String some(int bytes) {
        int shown = Math.min(bytes, SHOWN_BYTES);
        var first = new byte[shown];
        for (int i = 0; i < shown; i++) {
            first[i] = (byte) BigEndian.u8(packet, (long) at + i);
        }
        return "0x" + HexFormat.of().formatHex(first)
                + (bytes > shown ? String.format(Locale.ROOT, " ... (%d bytes)", bytes) : "");
    }
}

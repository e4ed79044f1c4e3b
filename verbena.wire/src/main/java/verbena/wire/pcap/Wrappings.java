package verbena.wire.pcap;

/// Names of what a captured packet has where no header is taken off. Packets are counted by these names.
final class Wrappings {
    static final String TUNNELS = "more than four tunnels";
    static final String NO_IP = "IP of another version";
    static final String FOREIGN = "InfiniBand without a BTH";
    static final String TCP = "TCP that no host takes";
    static final String UDP = "UDP to other ports";

    private static final String MACSEC = "MACsec, encrypted";
    private static final String ESP = "ESP, encrypted";

    private Wrappings() {}

    /// Returns the name of an EtherType, or of a value that [LinkHeaders] has in place of it.
    static String ofType(int type) {
        return switch (type) {
            case LinkHeaders.LLC -> "LLC without SNAP";
            case LinkHeaders.TAGS -> "more than eight tags";
            case LinkHeaders.NO_IP -> "neither IPv4 nor IPv6 in MPLS, a tunnel or raw IP";
            default -> {
                String number = String.format("0x%04x", type & 0xFFFF);
                yield switch (type & ~0xFFFF) {
                    case LinkHeaders.PPP -> "protocol " + number + " of PPP";
                    case LinkHeaders.FAMILY -> "address family " + (type & 0xFFFF);
                    default -> named(etherType(type), "EtherType " + number);
                };
            }
        };
    }

    private static String etherType(int type) {
        return switch (type) {
            case 0x0806 -> "ARP";
            case 0x22F1 -> "ROHC, compressed";
            case 0x4305 -> "batman-adv without a whole frame";
            case 0x8808 -> "Ethernet flow control";
            case 0x8809 -> "LACP";
            case 0x8863 -> "PPPoE discovery";
            case 0x888E -> "EAPOL";
            case 0x88CC -> "LLDP";
            case 0x88E5 -> MACSEC;
            case 0x88F7 -> "PTP";
            case 0x8906 -> "FCoE";
            case 0x8914 -> "FIP";
            case LinkHeaders.TYPE_NSH -> "NSH without IP, Ethernet or MPLS";
            default -> "";
        };
    }

    /// Returns the name of what a header of IP says that it carries.
    static String ofProtocol(int protocol) {
        return named(
                switch (protocol) {
                    case 1, 58 -> "ICMP";
                    case 2 -> "IGMP";
                    case 44 -> "a fragment of IPv6";
                    case 0, 43, 51, 60 -> "IP with extension headers";
                    case 47 -> "GRE of PPP";
                    case 50 -> ESP;
                    case 89 -> "OSPF";
                    case 108 -> "IPComp, compressed";
                    case 115 -> "L2TP";
                    case 132 -> "SCTP";
                    default -> "";
                },
                "IP protocol " + protocol);
    }

    /// Returns the name of what goes to a port of UDP.
    static String ofPort(int port) {
        return switch (port) {
            case 1701 -> "L2TP (UDP port 1701)";
            case 2152 -> "GTP-U without data of a user (UDP port 2152)";
            case 3544 -> "Teredo (UDP port 3544)";
            case 4500 -> ESP + " (UDP port 4500)";
            case 4789, 4790, 6081 -> "a tunnel that is cut or has an unknown content (UDP port " + port + ")";
            case 5247 -> "CAPWAP (UDP port 5247)";
            case 8472 -> "VXLAN at Linux's own port (UDP port 8472)";
            case 37008 -> "TZSP (UDP port 37008)";
            case 51820 -> "WireGuard, encrypted (UDP port 51820)";
            default -> UDP;
        };
    }

    private static String named(String name, String number) {
        return name.isEmpty() ? number : name + " (" + number + ")";
    }
}

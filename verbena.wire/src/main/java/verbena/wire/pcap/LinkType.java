package verbena.wire.pcap;

/// The kind of the first header of a captured packet (the registry at tcpdump.org, LINKTYPE_ values). Files may hold
/// any number; these are the kinds that Verbena takes apart.
public final class LinkType {
    /// The family of addresses in the order of the capturing host, and then IP: loopback of BSD.
    public static final int NULL = 0;
    /// An Ethernet header.
    public static final int ETHERNET = 1;
    /// PPP, perhaps with address and control.
    public static final int PPP = 9;
    /// [#RAW_IP] as some systems of BSD number it.
    public static final int RAW_IP_BSD = 12;
    /// [#RAW_IP] as OpenBSD numbers it.
    public static final int RAW_IP_OPENBSD = 14;
    /// PPP in frames like HDLC's, or Cisco's HDLC.
    public static final int PPP_HDLC = 50;
    /// A header of PPPoE, and then PPP.
    public static final int PPP_ETHERNET = 51;
    /// An IPv4 or IPv6 header, as its version shows.
    public static final int RAW_IP = 101;
    /// Cisco's HDLC: address, control, EtherType.
    public static final int CISCO_HDLC = 104;
    /// The counterpart of [#NULL] in network order: loopback of OpenBSD.
    public static final int LOOP = 108;
    /// Linux "cooked" capture, 16 bytes before the network header.
    public static final int LINUX_COOKED = 113;
    /// A record header of the Extensible Record Format ([ErfHeader]), and behind it the packet of the record's
    /// type.
    public static final int ERF = 197;
    /// An IPv4 header.
    public static final int IPV4 = 228;
    /// An IPv6 header.
    public static final int IPV6 = 229;
    /// A local route header of InfiniBand ([verbena.wire.ib.Lrh]), and everything behind it through the VCRC.
    public static final int INFINIBAND = 247;
    /// Linux "cooked" capture version 2, 20 bytes before the network header.
    public static final int LINUX_COOKED_2 = 276;

    private LinkType() {}
}

package verbena.wire.pcap;

/// What the first byte of a captured packet is (the registry at tcpdump.org, LINKTYPE_ values). Files may hold any
/// number; these are the ones that Verbena takes apart.
public final class LinkType {
    /// An Ethernet header.
    public static final int ETHERNET = 1;
    /// An IPv4 or IPv6 header, told apart by its version.
    public static final int RAW_IP = 101;
    /// Linux "cooked" capture, 16 bytes before the network header.
    public static final int LINUX_COOKED = 113;
    /// A record header of the Extensible Record Format ([ErfHeader]), and what its type says behind it.
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

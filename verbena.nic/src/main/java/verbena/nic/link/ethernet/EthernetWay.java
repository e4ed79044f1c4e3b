package verbena.nic.link.ethernet;

/// The transport of the frames of an interface: by AF_XDP for one queue, or by a packet socket for all of them.
///
/// @param queue the first queue by AF_XDP, from 0; negative for a packet socket
/// @param pollsBusily whether a look for frames by AF_XDP works for the interface itself
public record EthernetWay(int queue, boolean pollsBusily) {
    public static final EthernetWay PACKET_SOCKET = new EthernetWay(-1, false);
    public static final EthernetWay XDP = new EthernetWay(0, false);

    public boolean isXdp() {
        return queue >= 0;
    }
}

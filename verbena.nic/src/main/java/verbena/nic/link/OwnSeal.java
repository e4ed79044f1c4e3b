package verbena.nic.link;

/// A link whose packets are sealed otherwise than by a [UdpSeal] at the port of RoCE v2.
public interface OwnSeal {
    /// Makes a seal like that of this link, for a caller that shows packets which have not passed it.
    Seal newSeal();
}

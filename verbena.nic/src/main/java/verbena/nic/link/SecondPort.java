package verbena.nic.link;

/// A link of UDP that may have a second port beside its own, at each of its addresses. Packets go from there to the
/// same port of the peer where [verbena.wire.Frame#secondPort]
/// names it.
public interface SecondPort {
    /// Returns the port; 0 when there is none. Never changes.
    int secondPort();
}

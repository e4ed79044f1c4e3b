package verbena.nic.link;

import verbena.transport.DirectPackets;

/// A link that shows observers requests which needed no packets.
public interface DirectObserver {
    /// Shows a request that needed no packets. Called like [Link#transmit].
    void showDirect(DirectPackets packets);
}

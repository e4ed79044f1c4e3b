package verbena.nic.link.udp;

import verbena.nic.link.LinkKind;

/// The options of a [UdpLink].
///
/// @param kind the implementation
/// @param receiveBufferBytes the receive buffer to ask the system for, per address; the system may give less
///     ([UdpLink#receiveBufferBytes()])
/// @param sendBufferBytes the send buffer to ask the system for; it may give less
/// @param shared whether other processes of the same user may open a link at the same addresses, with the same
///     option; [DatagramChannelLink] ignores it
/// @param wrapped whether a link around it seals packets, which then leave and arrive as they are
/// @param secondPort the port that a link around it would like beside its own, where the system permits it; 0 for
///     none. [DatagramChannelLink] ignores it
public record UdpOptions(
        LinkKind kind, int receiveBufferBytes, int sendBufferBytes, boolean shared, boolean wrapped, int secondPort) {
    /// [LinkKind#AUTO], not shared; 16 MiB of receive buffer and 4 MiB of send buffer. The system counts a full
    /// packet with up to twice its size, so some 2,000 of them may wait.
    public static final UdpOptions DEFAULT = new UdpOptions(LinkKind.AUTO, 16 << 20, 4 << 20, false, false, 0);

    public UdpOptions {
        if (receiveBufferBytes < 1 || sendBufferBytes < 1) {
            throw new IllegalArgumentException(
                    "buffers: at least 1 byte, got " + receiveBufferBytes + " and " + sendBufferBytes);
        }
    }

    /// Returns these options with another kind.
    public UdpOptions with(LinkKind other) {
        return new UdpOptions(other, receiveBufferBytes, sendBufferBytes, shared, wrapped, secondPort);
    }

    /// Returns these options for a link inside a link that seals.
    ///
    /// @param second the port that it would like, 0 for none
    public UdpOptions wrap(int second) {
        return new UdpOptions(kind, receiveBufferBytes, sendBufferBytes, shared, true, second);
    }

    /// Returns these options for a link that shares its addresses with other links.
    public UdpOptions share() {
        return new UdpOptions(kind, receiveBufferBytes, sendBufferBytes, true, wrapped, secondPort);
    }
}

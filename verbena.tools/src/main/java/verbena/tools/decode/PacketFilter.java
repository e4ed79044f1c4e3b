package verbena.tools.decode;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.pcap.PspUnwrapper;
import verbena.wire.pcap.Unwrapped;

/// A choice of packets: all that fit every part which is not empty.
///
/// @param queuePairs numbers that a packet is to; empty for any
/// @param opcodes parts of opcodes' names, in capitals; empty for any
/// @param addresses that it is from or to; empty for any
/// @param ports of TCP that it is from or to; empty for any, and for what is not TCP
/// @param onlyDropped only what was dropped, as the capture's comments say
/// @param fromNanos and later, since the first packet
/// @param toNanos and before, since the first packet
public record PacketFilter(
        Set<Integer> queuePairs,
        List<String> opcodes,
        Set<Gid> addresses,
        Set<Integer> ports,
        boolean onlyDropped,
        long fromNanos,
        long toNanos) {
    /// Returns whether nothing but the time counts: then also packets that are not RoCE are wanted.
    public boolean isAboutTimeOnly() {
        return queuePairs.isEmpty() && opcodes.isEmpty() && addresses.isEmpty() && ports.isEmpty() && !onlyDropped;
    }

    public boolean wantsTime(long nanosSinceFirst) {
        return nanosSinceFirst >= fromNanos && nanosSinceFirst < toNanos;
    }

    /// Returns whether a packet of RoCE is wanted, but for its time.
    public boolean wants(Frame frame, @Nullable Opcode opcode, String comment) {
        return (queuePairs.isEmpty() || queuePairs.contains(Bth.destinationQp(frame.slot, frame.start)))
                && (opcodes.isEmpty() || (opcode != null && hasOpcode(opcode.name())))
                && hasAddress(frame.sourceHigh, frame.sourceLow, frame.destinationHigh, frame.destinationLow)
                && ports.isEmpty()
                && (!onlyDropped || isDropped(comment));
    }

    /// Returns whether a frame or FPDU of iWARP is wanted, but for its time.
    public boolean wants(Unwrapped.Tcp packet, IwarpStreams.Said said) {
        return queuePairs.isEmpty()
                && (opcodes.isEmpty() || hasOpcode(said.name()))
                && hasAddress(
                        packet.sourceHigh(), packet.sourceLow(), packet.destinationHigh(), packet.destinationLow())
                && (ports.isEmpty() || ports.contains(packet.sourcePort()) || ports.contains(packet.destinationPort()))
                && !onlyDropped;
    }

    /// Returns whether a packet of PSP is wanted that was not opened, but for its time.
    public boolean wants(PspUnwrapper.Found packet) {
        return queuePairs.isEmpty()
                && opcodes.isEmpty()
                && hasAddress(
                        packet.sourceHigh(), packet.sourceLow(), packet.destinationHigh(), packet.destinationLow())
                && ports.isEmpty()
                && !onlyDropped;
    }

    private boolean hasAddress(long sourceHigh, long sourceLow, long destinationHigh, long destinationLow) {
        return addresses.isEmpty()
                || addresses.contains(new Gid(sourceHigh, sourceLow))
                || addresses.contains(new Gid(destinationHigh, destinationLow));
    }

    private boolean hasOpcode(String name) {
        return opcodes.stream().anyMatch(name.toUpperCase(Locale.ROOT)::contains);
    }

    /// Returns whether a comment, as [verbena.nic.capture.Capture] writes it, says that the packet was dropped.
    private static boolean isDropped(String comment) {
        return comment.startsWith("dropped:")
                || comment.contains("; this one: dropped:")
                || comment.startsWith("not sent:");
    }
}

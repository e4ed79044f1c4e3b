package verbena.tools.decode;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import verbena.wire.pcap.Unwrapped.Tcp;

/// The TCP connections of a capture, as far as they are iWARP: what each packet completes of what is said there.
public final class IwarpStreams {
    static final String MPA_REQUEST = "MPA_REQUEST";
    static final String MPA_REPLY = "MPA_REPLY";
    /// The names of the frames of MPA.
    public static final List<String> MPA_NAMES = List.of(MPA_REQUEST, MPA_REPLY);

    /// The connection that was quiet longest is forgotten then.
    private static final int CONNECTIONS_MAX = 1 << 14;

    /// One frame of MPA or FPDU, or what became of the stream.
    ///
    /// @param name the opcode's, one of [#MPA_NAMES], or empty
    /// @param text one line
    /// @param isCrcBad its CRC is wrong; never when the connection uses none
    /// @param isMalformed no receiver accepts it
    public record Said(String name, String text, boolean isCrcBad, boolean isMalformed) {}

    private record End(long high, long low, int port) {
        static End source(Tcp packet) {
            return new End(packet.sourceHigh(), packet.sourceLow(), packet.sourcePort());
        }

        static End destination(Tcp packet) {
            return new End(packet.destinationHigh(), packet.destinationLow(), packet.destinationPort());
        }
    }

    private record Way(End from, End to) {}

    private final Map<Way, StreamDirection> directions = new LinkedHashMap<>(64, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Way, StreamDirection> eldest) {
            return size() > 2 * CONNECTIONS_MAX;
        }
    };
    private long packets;

    /// Returns the frames and FPDUs that this packet completes, in order; empty when there are none, or this is no
    /// iWARP.
    public List<Said> add(Tcp packet) {
        End from = End.source(packet);
        End to = End.destination(packet);
        StreamDirection there = direction(from, to);
        StreamDirection back = direction(to, from);
        boolean knew = there.isIwarp() || back.isIwarp();
        List<Said> said = there.add(packet, back);
        there.packets++;
        if (there.isIwarp() || back.isIwarp()) {
            packets += knew ? 1 : there.packets + back.packets; // those before it was known, too
        }
        return said;
    }

    private StreamDirection direction(End from, End to) {
        return directions.computeIfAbsent(new Way(from, to), _ -> new StreamDirection());
    }

    /// Returns the number of packets of connections that are iWARP.
    public long packets() {
        return packets;
    }
}

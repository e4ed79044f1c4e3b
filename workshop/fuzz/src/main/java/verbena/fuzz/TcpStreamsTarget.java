package verbena.fuzz;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import verbena.tools.decode.IwarpStreams;
import verbena.wire.pcap.Unwrapped.Tcp;

/// Streams of TCP as a capture shows them: segments lost, doubled, cut and out of order, in both directions. A
/// stream that is seen whole has the same bytes however it is cut into segments.
final class TcpStreamsTarget {
    private static final int WRAP = 0xFFFF_FF00;

    private TcpStreamsTarget() {}

    static void run(byte[] data) {
        var in = new Input(data);
        if (in.bool()) {
            anySegments(in);
        } else {
            cutAnywhere(in);
        }
    }

    private static void anySegments(Input in) {
        var streams = new IwarpStreams();
        int[] next = {WRAP, 7};
        for (int i = 0; i < 200 && in.hasMore(); i++) {
            int choices = in.u8();
            int from = choices & 1;
            int flags = ((choices & 2) != 0 ? Tcp.SYN : 0) | (choices & 4) << 2 | ((choices & 24) == 24 ? Tcp.FIN : 0);
            int sequence =
                    next[from] + ((choices & 32) != 0 ? (byte) in.u8() * ((choices & 64) != 0 ? 1 << 20 : 1) : 0);
            byte[] payload = in.take(in.u8());
            int missing = (choices & 128) != 0 ? in.u8() : 0;
            next[from] = sequence + payload.length + missing + ((flags & Tcp.SYN) != 0 ? 1 : 0);
            List<IwarpStreams.Said> said =
                    streams.add(segment(from, sequence, next[1 - from], flags, payload, missing));
            for (IwarpStreams.Said each : said) {
                Contract.holds(!each.text().isEmpty(), "said something");
            }
        }
        Contract.holds(streams.packets() >= 0, "packets counted");
    }

    private static void cutAnywhere(Input in) {
        int cuts = in.u8();
        byte[] first = in.take(in.u16() % 2_048);
        byte[] second = in.take(in.u16() % 2_048);
        Contract.equal(tell(first, second, Integer.MAX_VALUE), tell(first, second, 1 + cuts), "said when it is cut");
    }

    private static List<String> tell(byte[] first, byte[] second, int piece) {
        var streams = new IwarpStreams();
        var said = new ArrayList<String>();
        streams.add(segment(0, 99, 0, Tcp.SYN, new byte[0], 0));
        streams.add(segment(1, 499, 100, Tcp.SYN | Tcp.ACK, new byte[0], 0));
        for (int from = 0; from < 2; from++) {
            byte[] all = from == 0 ? first : second;
            for (int at = 0; at < all.length; at += Math.min(piece, all.length - at)) {
                byte[] part = java.util.Arrays.copyOfRange(all, at, at + Math.min(piece, all.length - at));
                for (var each : streams.add(segment(from, (from == 0 ? 100 : 500) + at, 0, 0, part, 0))) {
                    said.add(each.toString());
                }
            }
        }
        return said;
    }

    private static Tcp segment(int from, int sequence, int acknowledgement, int flags, byte[] payload, int missing) {
        return new Tcp(
                0,
                1 + from,
                1_000 + from,
                0,
                2 - from,
                1_001 - from,
                sequence,
                acknowledgement,
                flags,
                payload.length + missing,
                MemorySegment.ofArray(payload));
    }
}

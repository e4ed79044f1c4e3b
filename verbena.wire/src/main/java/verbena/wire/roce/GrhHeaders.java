package verbena.wire.roce;

import java.lang.foreign.MemorySegment;
import verbena.wire.Frame;
import verbena.wire.ib.Grh;

/// The GRH of RoCE v1 (IBTA A16).
public final class GrhHeaders implements NetworkHeaders {
    private static final int VERSION = 6;

    private final RoceV1 roce = new RoceV1();

    /// Makes a reader and writer of headers, for one owner.
    public GrhHeaders() {}

    @Override
    public int etherType(Frame frame) {
        return RoceV1.ETHER_TYPE;
    }

    @Override
    public int bytes(Frame frame) {
        return Grh.BYTES;
    }

    @Override
    public void seal(Frame frame) {
        frame.local.isRoceV1 = true;
        frame.sourcePort = 0;
        roce.seal(frame);
    }

    @Override
    public void write(Frame frame) {
        Grh.write(
                frame.slot,
                (long) frame.start - Grh.BYTES,
                frame.trafficClass,
                0,
                frame.length,
                Grh.NEXT_HEADER_BTH,
                NetworkHeaders.hopLimit(frame),
                frame.sourceHigh,
                frame.sourceLow,
                frame.destinationHigh,
                frame.destinationLow);
    }

    @Override
    public int read(int etherType, MemorySegment memory, int at, int end, Frame frame) {
        if (etherType != RoceV1.ETHER_TYPE) {
            return FOREIGN;
        }
        int start = at + Grh.BYTES;
        if (start > end || Grh.version(memory, at) != VERSION) {
            return MALFORMED;
        }
        if (Grh.nextHeader(memory, at) != Grh.NEXT_HEADER_BTH) {
            return FOREIGN;
        }
        int length = Grh.payloadLength(memory, at);
        if (!NetworkHeaders.isPossible(length, end - start)) {
            return MALFORMED;
        }
        frame.local.isRoceV1 = true;
        frame.length = length;
        frame.sourceHigh = Grh.sourceHigh(memory, at);
        frame.sourceLow = Grh.sourceLow(memory, at);
        frame.destinationHigh = Grh.destinationHigh(memory, at);
        frame.destinationLow = Grh.destinationLow(memory, at);
        frame.trafficClass = Grh.trafficClass(memory, at);
        frame.hopLimit = Grh.hopLimit(memory, at);
        frame.sourcePort = 0;
        return start;
    }

    @Override
    public boolean verify(Frame frame) {
        return roce.verify(frame);
    }
}

package verbena.nic.link;

import verbena.wire.Frame;
import verbena.wire.roce.NetworkHeaders;

/// The seal where Verbena writes the network headers itself: nothing is hidden, so the judgement of an arrival
/// is exact.
public final class HeaderSeal implements Seal {
    private final NetworkHeaders headers;

    /// @param headers of the frame that is judged next, or fresh ones for packets that were sent
    public HeaderSeal(NetworkHeaders headers) {
        this.headers = headers;
    }

    /// Writes, beside the seal, the values of headers that a frame has: their kind, and the source port.
    @Override
    public void seal(Frame frame, int identification) {
        headers.seal(frame);
        if (frame.marks.damagedBit >= 0) {
            frame.flip(frame.marks.damagedBit);
        }
    }

    @Override
    public void judge(Frame frame, int likelyIdentification) {
        frame.icrcValid = headers.verify(frame);
    }
}

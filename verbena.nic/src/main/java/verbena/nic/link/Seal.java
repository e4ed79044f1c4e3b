package verbena.nic.link;

import verbena.wire.Frame;

/// The seal for departures of a link, which also judges its arrivals. No other place knows the contents of the four
/// bytes of the ICRC ([decision 01](../../../../../../../docs/decisions/01-the-icrc.md)).
///
/// For one thread at a time. Allocates nothing.
public interface Seal {
    /// Completes a departing packet: its ICRC, and then the damage that a [FaultyLink] asks for
    /// ([Frame#marks]).
    ///
    /// @param identification the IPv4 identification that the packet leaves with, where a socket chooses it
    void seal(Frame frame, int identification);

    /// Judges an arrival ([Frame#icrcValid]).
    ///
    /// @param position the packet's place in its message of the operating system, from 0, where a socket hides the
    ///     IPv4 identification: the right guess makes the judgement faster
    void judge(Frame frame, int position);

    /// Gives an arrival the ICRC that it would have come with over a wire, where packets carry none.
    default void sealAsIfFromAWire(Frame frame) {}

    /// Completes a packet whose link has sent a copy, as if the packet had left alone. A complete packet stays
    /// unchanged.
    default void sealWhereACopyWas(Frame frame) {
        boolean before = frame.icrcValid;
        judge(frame, 0);
        if (frame.marks.damagedBit < 0 && !frame.icrcValid) {
            seal(frame, 0);
        }
        frame.icrcValid = before;
    }
}

package verbena.messages.protocol;

import java.util.Collections;
import java.util.List;
import verbena.verbs.RemoteMemory;

/// The limits that two workers have agreed on, and the limits of the messages that this worker keeps for the other
/// without a request of the program.
///
/// @param frameBytes of the longest frame, that both ends can take
/// @param window frames that the other end may send before it hears of more; one of them is the reserve
/// @param crowdedBytes of whole messages that no receive waits for, behind which the other end is asked to offer
/// @param offersMax offers of one kind that the other end may have here at once
/// @param offersMaxThere the same at the other end
/// @param rails of the two
public record PeerLimits(int frameBytes, int window, long crowdedBytes, int offersMax, int offersMaxThere, int rails) {
    /// The cost of a message that waits, beside its bytes.
    public static final int KEPT_COST = 128;
    /// Bytes of the longest header of an active message, which an offer brings along.
    static final int HEADER_MAX = 128;

    public PeerLimits {
        if (window < 2 || window > Frame.CREDITS_MAX) {
            throw new IllegalArgumentException("window: 2 to " + Frame.CREDITS_MAX + ", got " + window);
        }
    }

    /// Returns the memory of an offer without bytes, which has none by any rail.
    List<RemoteMemory> noMemory() {
        return Collections.nCopies(rails, new RemoteMemory(0, 0, 0));
    }
}

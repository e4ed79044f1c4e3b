package verbena.nic.link;

import verbena.wire.Frame;

/// A link on which two packets may arrive in one piece.
public interface PacketPairs {
    /// Returns whether these packets arrive in one piece when one is transmitted right after the other, so that the
    /// receiver gets both at once.
    boolean keepsTogether(Frame first, Frame next);
}

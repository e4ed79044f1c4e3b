package verbena.wire.psp;

/// A receiver's verdict on a packet of PSP. The first check that fails decides; checks are made in this order.
public enum PspVerdict {
    /// A length in it contradicts another, or something has no room.
    LENGTH,
    /// A version or an SPI that is reserved, a version that its SPI is not for, or the bit that is always one is
    /// not.
    BAD,
    /// No key is known for its SPI.
    UNKNOWN,
    /// Its IV is so far behind the newest one that it may be a repetition.
    OLD,
    /// A packet with its IV was accepted before.
    REPEATED,
    /// Its ICV is wrong: it was changed, or made without the key.
    FORGED,
    /// An authentic packet that holds what is not expected there.
    UNEXPECTED,
    /// An authentic and new packet, whose text is in the clear now.
    ACCEPTED
}

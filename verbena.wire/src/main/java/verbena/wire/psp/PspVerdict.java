package verbena.wire.psp;

/// What a receiver finds of a packet of PSP. The first check that fails decides; checks are made in this order.
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
    /// It is authentic, but holds what is not expected there.
    UNEXPECTED,
    /// It is authentic and new, and its text is in the clear now.
    ACCEPTED
}

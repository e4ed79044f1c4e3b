package verbena.messages.rail;

/// The numbers of requests. The upper half of a number says what the request is, the lower half which. Those of
/// receives are slots, without an upper half.
final class RequestIds {
    /// A frame that is sent.
    static final long SEND = 1L << 32;
    /// A part of a long transfer.
    static final long PART = 2L << 32;
    /// A ring of a [Bell].
    static final long RING = 3L << 32;
    /// A one-sided operation.
    static final long OPERATION = 4L << 32;
    /// A frame that tells of rails.
    static final long TELL = 5L << 32;
    /// The last request of a connection.
    static final long END = 6L << 32;

    private RequestIds() {}

    /// Returns whether the completion of this number is a frame that has arrived.
    static boolean isFrame(long number) {
        return number < SEND;
    }

    /// Returns whether the completion of this number is a frame that was sent.
    static boolean isSend(long number) {
        return number >= SEND && number < PART;
    }
}

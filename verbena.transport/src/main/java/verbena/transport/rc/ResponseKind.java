package verbena.transport.rc;

/// The kinds of response that a responder owes for a request.
enum ResponseKind {
    /// ACK, NAK or RNR NAK, by its syndrome.
    ACKNOWLEDGE,
    READ,
    ATOMIC,
    /// The response to an ATOMIC WRITE or FLUSH.
    EMPTY
}

package verbena.transport;

/// The fate of an arriving packet. Every packet gets exactly one, and each has a counter of its own, so that the
/// packets received are always the sum of these (goal S10).
public enum PacketFate {
    /// Carried out, or an answer to one of our requests.
    ACCEPTED("accepted"),
    /// Seen before: answered again where the protocol asks for it, not carried out again.
    DUPLICATE("duplicate"),
    /// A request that was refused with a NAK; see the NAK counters for which.
    REFUSED("refused"),
    /// A request ahead of a gap; the first of them draws a NAK.
    OUT_OF_SEQUENCE("out-of-sequence"),
    /// A request that found no receive posted, answered with an RNR NAK.
    RECEIVER_NOT_READY("receiver-not-ready"),

    // Dropped before any queue pair saw it.
    DROPPED_MALFORMED("dropped.malformed"),
    DROPPED_ICRC("dropped.icrc"),
    DROPPED_UNKNOWN_QP("dropped.unknown-qp"),
    /// A packet for a queue pair that was closed not long ago.
    DROPPED_CLOSED_QP("dropped.closed-qp"),
    DROPPED_WRONG_SERVICE("dropped.wrong-service"),

    // Dropped by a queue pair.
    DROPPED_STATE("dropped.state"),
    DROPPED_PKEY("dropped.pkey"),
    DROPPED_QKEY("dropped.qkey"),
    DROPPED_SOURCE("dropped.source"),
    /// A duplicate READ or atomic whose replay resource is gone or does not fit.
    DROPPED_NO_REPLAY("dropped.no-replay"),
    /// More answers are owed than there is room for; the peer will ask again.
    DROPPED_BUSY("dropped.busy"),
    /// An acknowledgement of something that was never sent.
    DROPPED_GHOST_ACK("dropped.ghost-ack"),
    /// A response that comes before an earlier one of the same READ; the READ is asked for again.
    DROPPED_EARLY_RESPONSE("dropped.early-response"),
    /// A message of an unreliable service that broke off or found no receive.
    DROPPED_MESSAGE("dropped.message"),
    /// A notification of congestion that changes nothing: it comes too soon after another, or nothing here heeds
    /// it.
    DROPPED_NOTIFICATION("dropped.notification"),
    /// A management datagram that is none, or whose class has no agent here.
    DROPPED_MANAGEMENT("dropped.management");

    private final String label;

    PacketFate(String label) {
        this.label = label;
    }

    /// Returns whether a peer that knows its connection never gets this fate. Many of them mean that a peer is
    /// trying numbers.
    public boolean isGuess() {
        return switch (this) {
            case DROPPED_UNKNOWN_QP, DROPPED_SOURCE, DROPPED_PKEY, DROPPED_QKEY -> true;
            default -> false;
        };
    }

    /// Returns the counter's name.
    public String label() {
        return label;
    }
}

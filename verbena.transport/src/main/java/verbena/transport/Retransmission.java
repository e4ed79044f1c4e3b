package verbena.transport;

/// The reasons why a reliable connection sends unanswered packets again.
public enum Retransmission {
    /// No answer came in time.
    ACK_TIMEOUT("no answer to PSN "),
    /// The peer has reported a gap.
    SEQUENCE_NAK("the peer misses PSN "),
    /// A later answer came, and shows that this one was lost.
    LOST_RESPONSE("a later answer came, and none to PSN ");

    private final String text;

    Retransmission(String text) {
        this.text = text;
    }

    /// Returns the reason in words.
    public String text(int psn) {
        return text + psn;
    }
}

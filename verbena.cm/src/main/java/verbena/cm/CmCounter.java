package verbena.cm;

/// What a [CommunicationManager] counts.
public enum CmCounter {
    RECEIVED("cm.received"),
    SENT("cm.sent"),
    /// Of what was sent: what had been sent before.
    REPEATED("cm.repeated"),
    /// Of what was received: what had been received before.
    DUPLICATES("cm.duplicates"),
    /// Management datagrams that are no message of the communication manager, or of a kind that it does not know.
    UNREADABLE("cm.unreadable"),
    /// Messages that fit no connection, request or state.
    STRAYS("cm.strays"),
    /// Requests that were refused here, without asking an owner.
    REFUSED("cm.refused"),
    /// Of these: requests for a queue pair that has, or has just had, a connection.
    STALE("cm.stale"),
    /// Requests that were refused because they, or this side, have no secret, or another one.
    UNPROVEN("cm.unproven"),
    /// Requests that were passed over for a moment, or refused, because of what their sender's connections have
    /// asked for ([CmSuspects]).
    SUSPECTED("cm.suspected"),
    /// Requests whose senders were asked to wait because there was no room.
    PUT_OFF("cm.put-off"),
    /// Requests that were forgotten because there were too many.
    SHED("cm.shed");

    private final String label;

    CmCounter(String label) {
        this.label = label;
    }

    /// The counter's name.
    public String label() {
        return label;
    }
}

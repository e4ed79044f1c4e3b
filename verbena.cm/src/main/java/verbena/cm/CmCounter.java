package verbena.cm;

/// The counters of a [CommunicationManager].
public enum CmCounter {
    RECEIVED("cm.received"),
    SENT("cm.sent"),
    /// Messages sent that had been sent before.
    REPEATED("cm.repeated"),
    /// Messages received that had been received before.
    DUPLICATES("cm.duplicates"),
    /// Management datagrams that are no message of the communication manager, or of a kind that it does not know.
    UNREADABLE("cm.unreadable"),
    /// Messages that fit no connection, request or state.
    STRAYS("cm.strays"),
    /// Requests that were refused here, without asking an owner.
    REFUSED("cm.refused"),
    /// Requests among these for a queue pair that has, or has just had, a connection.
    STALE("cm.stale"),
    /// Requests that were refused because they, or this side, have no secret, or another one.
    UNPROVEN("cm.unproven"),
    /// Requests that were passed over for a moment, or refused, because of what their sender's connections have
    /// asked for ([CmSuspects]).
    SUSPECTED("cm.suspected"),
    /// Requests whose senders were asked to wait because there was no room.
    PUT_OFF("cm.put.off"),
    /// Requests that were forgotten because there were too many.
    SHED("cm.shed");

    private final String label;

    CmCounter(String label) {
        this.label = label;
    }

    /// Returns the counter's name.
    public String label() {
        return label;
    }
}

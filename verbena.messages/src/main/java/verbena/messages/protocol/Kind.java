package verbena.messages.protocol;

import java.util.Optional;

/// What a message is for. The order is that of the wire.
public enum Kind {
    /// For the receive whose tag it matches.
    TAGGED,
    /// Asks for an answer.
    CALL,
    /// The answer to a call.
    ANSWER,
    /// A call has failed: the text of why.
    FAULT,
    /// The caller does not wait for its answer any more.
    CANCEL,
    /// For a handler: a header and data.
    ACTIVE;

    /// Whether it comes without a receive or a call of this end, so that its memory has to be this end's.
    boolean isUnasked() {
        return this == CALL || this == ACTIVE;
    }

    private static final Kind[] ALL = values();

    /// Empty when no kind has this number.
    static Optional<Kind> of(int number) {
        return number >= 0 && number < ALL.length ? Optional.of(ALL[number]) : Optional.empty();
    }
}

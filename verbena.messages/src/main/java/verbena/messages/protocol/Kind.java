package verbena.messages.protocol;

import java.util.Optional;

/// The purpose of a message. The order is that of the wire.
public enum Kind {
    /// A message for the receive whose tag it matches.
    TAGGED,
    /// A request for an answer.
    CALL,
    /// The answer to a call.
    ANSWER,
    /// A call has failed: the text of why.
    FAULT,
    /// The caller does not wait for its answer any more.
    CANCEL,
    /// A message for a handler: a header and data.
    ACTIVE;

    /// Returns whether it comes without a receive or a call of this end, so that its memory has to be this end's.
    boolean isUnasked() {
        return this == CALL || this == ACTIVE;
    }

    private static final Kind[] ALL = values();

    /// Returns the kind of this number; empty when no kind has it.
    static Optional<Kind> of(int number) {
        return number >= 0 && number < ALL.length ? Optional.of(ALL[number]) : Optional.empty();
    }
}

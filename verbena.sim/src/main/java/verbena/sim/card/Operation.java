package verbena.sim.card;

import java.util.Locale;

/// The operation of a request.
public enum Operation {
    WRITE,
    READ,
    SEND,
    ATOMIC;

    /// Returns its name in texts, such as `read`.
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// Returns whether the peer answers it with data.
    boolean isAnswered() {
        return this == READ || this == ATOMIC;
    }
}

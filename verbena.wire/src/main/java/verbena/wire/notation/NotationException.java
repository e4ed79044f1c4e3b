package verbena.wire.notation;

/// Text that is no packet in the notation; the message says which word and why.
public final class NotationException extends IllegalArgumentException {
    NotationException(String text, String what) {
        super("packet \"" + text + "\": " + what);
    }
}

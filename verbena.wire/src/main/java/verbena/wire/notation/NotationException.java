package verbena.wire.notation;

/// Text that is no packet in the notation; the message names the wrong word and the reason.
public final class NotationException extends IllegalArgumentException {
    NotationException(String text, String what) {
        super("packet \"" + text + "\": " + what);
    }
}

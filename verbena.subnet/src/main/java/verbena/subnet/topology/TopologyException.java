package verbena.subnet.topology;

/// A text that is no topology; the message has the line.
public final class TopologyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    TopologyException(int line, String message) {
        super("line " + line + ": " + message);
    }
}

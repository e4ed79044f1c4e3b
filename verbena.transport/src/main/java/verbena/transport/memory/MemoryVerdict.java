package verbena.transport.memory;

/// The memory table's answer to an access. Memory was touched only when it is `OK`.
public enum MemoryVerdict {
    OK("allowed"),
    NO_SUCH_KEY("no region or window has this key"),
    NOT_BOUND("the window is not bound"),
    WRONG_DOMAIN("the key belongs to another protection domain"),
    WRONG_QUEUE_PAIR("the window is bound for another queue pair"),
    NO_RIGHT("the region or window does not grant this right"),
    OUT_OF_BOUNDS("the range is not inside the region or window"),
    GONE("the memory has been freed or cannot be accessed"),
    /// The scatter list is shorter than the message.
    TOO_SHORT("the scatter list is shorter than the message"),
    /// The window or region cannot be bound or invalidated like this.
    NOT_ALLOWED("the window or region does not allow this");

    private final String explanation;

    MemoryVerdict(String explanation) {
        this.explanation = explanation;
    }

    /// Returns a clause that explains the error to a person.
    public String explanation() {
        return explanation;
    }
}

package verbena.transport;

/// Carries out requests that need neither packet nor time, on the thread that has posted them. What an engine
/// schedules may be one too.
public interface Shortcut {
    /// Returns whether [#carryOut()] may be of use. Any thread.
    boolean mayCarryOut();

    /// Carries out what was posted, as far as possible. Returns true when nothing of it is left; otherwise the rest
    /// is done when the queue pair is polled. Engine-confined.
    boolean carryOut();
}

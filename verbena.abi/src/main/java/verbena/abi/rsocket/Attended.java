package verbena.abi.rsocket;

/// A connection with completions that no call of the program may be looking for.
interface Attended {
    /// Handles a completion, and returns whether to [#lookAfter] it. Called by the thread that works for the
    /// device. A thread in a call of this rsocket looks by itself, and without one that waits there is no need.
    boolean onNotification();

    /// Looks for those who wait. A call that armed it meanwhile has looked.
    void lookAfter();

    /// Returns whether the looker need not come again. Called for a connection that was left behind; one that the
    /// program has not touched since the last time is watched.
    boolean isDoneWith();
}

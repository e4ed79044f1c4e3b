package verbena.abi.rsocket;

/// A connection with completions that no call of the program may be looking for.
interface Attended {
    /// By the thread that works for the device: something has come. Whether to [#lookAfter] it. A caller that is in
    /// a call of this rsocket looks by itself, and without a thread that waits there is no need.
    boolean onNotification();

    /// Looks for those who wait. A call that armed it meanwhile has looked.
    void lookAfter();

    /// By the looker, for one that was left behind: whether it need not come again. It watches one that the
    /// program has not touched since the last time.
    boolean isDoneWith();
}

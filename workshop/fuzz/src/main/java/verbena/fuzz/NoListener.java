package verbena.fuzz;

import verbena.transport.queue.CompletionRing;

/// No program waits for completions; more of them than requests are a failure.
record NoListener() implements CompletionRing.Listener {
    @Override
    public void onNotification() {}

    @Override
    public void onWake() {}

    @Override
    public void onOverflow() {
        throw new AssertionError("more completions than requests");
    }
}

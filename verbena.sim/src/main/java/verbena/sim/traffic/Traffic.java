package verbena.sim.traffic;

import verbena.verbs.AsyncEvent;

/// Requests at random between ends that check everything that comes of them.
interface Traffic {
    /// Takes what has completed, checks it, and posts more. After each step of the world.
    void turn();

    /// Handles an event of a device; called after [#turn()].
    void onEvent(AsyncEvent event);

    /// Returns the number of requests that are still to be posted.
    long toPost();

    /// Posts next to nothing more, and does no harm any more.
    void stop();

    /// Returns whether nothing is outstanding; after [#stop()] that has to come.
    boolean isDone();

    /// Compares all memory with the model; when done after [#stop()].
    void checkEnd();

    /// Gives everything back; when done after [#stop()].
    void close();

    /// Returns the number of requests that have succeeded.
    long completed();

    /// Returns the number of requests that have failed.
    long failed();

    /// Returns the number of times that a connection broke.
    long broke();
}

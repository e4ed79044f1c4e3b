package verbena.sim.traffic;

import verbena.verbs.AsyncEvent;

/// Requests at random between ends that check everything that comes of them.
interface Traffic {
    /// Takes what has completed, checks it, and posts more. After each step of the world.
    void turn();

    /// A device has told of something; after [#turn()].
    void onEvent(AsyncEvent event);

    /// Requests that are still to be posted.
    long toPost();

    /// Posts next to nothing more, and does no harm any more.
    void stop();

    /// Whether nothing is outstanding; after [#stop()] that has to come.
    boolean isDone();

    /// Compares all memory with the model; when done after [#stop()].
    void checkEnd();

    /// Gives everything back; when done after [#stop()].
    void close();

    /// Requests that have succeeded.
    long completed();

    /// Requests that have failed.
    long failed();

    /// How often a connection broke.
    long broke();
}

package verbena.sim.explore;

import java.util.List;

/// A protocol of ours, small enough to be explored: real objects of both ends, what lies on the way between
/// them, a program at each, and a time that only [steps][Step] move. [Explorer] takes every order of the steps.
///
/// The same steps in the same order make the same world: no thread, no clock, no chance, and no order of
/// hashes. Everything that the future depends on is in the fields of the world, or behind them, because states
/// are compared by them ([Fingerprint]).
public interface SmallWorld extends AutoCloseable {
    /// What may happen next, always in the same order. Changes nothing. A step that turns out to change nothing
    /// costs only time.
    List<Step> steps();

    /// Fails when something is wrong that must never be. Asked after each step.
    void check();

    /// Fails when something is missing that must have happened. Asked when nothing can happen any more: then no
    /// wait ever ends.
    void checkAtRest();

    /// Nanoseconds. A world begins at [Fingerprint#BEGINNING].
    long now();

    @Override
    default void close() {}
}

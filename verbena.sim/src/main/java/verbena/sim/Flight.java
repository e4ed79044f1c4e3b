package verbena.sim;

import verbena.wire.Frame;

/// A packet on its way through the network; used again and again.
final class Flight {
    final Frame frame;

    SimLink from;
    SimLink to;

    long arrivalNanos;
    /// Breaks ties, so that the order is always the same.
    long number;
    /// Place in the heap, -1 when not in it.
    int heapIndex = -1;
    /// Place among those that wait to be overtaken, -1 when it does not.
    int waitingPlace = -1;

    Flight(Frame frame, SimLink from, SimLink to) {
        this.frame = frame;
        this.from = from;
        this.to = to;
    }
}

package verbena.cm;

/// Something with a deadline of its own, which [CmOutbox#schedule] sets.
abstract class Timed {
    /// No deadline.
    static final long NEVER = Long.MAX_VALUE;

    private long deadlineNanos = NEVER;
    private long order;

    Timed() {}

    final long deadlineNanos() {
        return deadlineNanos;
    }

    /// Sets the deadline. While the object waits in an ordered set this must not change.
    final void deadline(long nanos, long order) {
        this.deadlineNanos = nanos;
        this.order = order;
    }

    /// Compares two deadlines: the earliest is first; at the same time, the first that was scheduled.
    static int compare(Timed a, Timed b) {
        int byTime = Long.compare(a.deadlineNanos, b.deadlineNanos);
        return byTime != 0 ? byTime : Long.compare(a.order, b.order);
    }

    abstract void onDeadline(long now);
}

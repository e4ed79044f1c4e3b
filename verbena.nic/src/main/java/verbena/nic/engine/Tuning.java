package verbena.nic.engine;

/// The engine's numbers, in one table. Each names the decision with the measurement that chose it; "a bound" means
/// that no measurement did, and why a number has to be there. A change of a number needs a new measurement, by the
/// means of the decision.
///
/// | numbers | measured with |
/// |---|---|
/// | a piece of work | `bench`, rows of bandwidth and of small messages (decision 13) |
/// | who works | `perf write-lat`, `bench waiting` |
/// | `SPIN` | `bench waiting`, and `SpinPolicyTest`, which simulates processors and neighbours |
/// | `YIELD` | `perf write-lat` on one core and on two |
/// | `BURST` | `bench --only "8 B"` |
final class Tuning {
    // ---- a piece of work

    /// The most frames each way, and the most commands and deadlines, in one piece of work. The system sends as
    /// many segments as one message (decision 02).
    static final int BATCH = 64;
    /// The most frames that one queue pair may fill before the next has its turn: a bound, a quarter of a batch, so
    /// that one batch serves four.
    static final int TURN = 16;
    /// The number of consecutive pieces of work of which at least one receives (decision 13): looks and
    /// acknowledgements cost a system call each.
    static final int SENDS_ONLY_MAX = 8;
    /// The number of arrivals after which more are likely to wait (decision 13).
    static final int MANY = 16;
    /// The most consecutive pieces of work that handle arrivals only (decision 13).
    static final int RECEIVES_ONLY_MAX = 2;
    /// The most consecutive pieces of work that postpone deadlines because more packets may have arrived before
    /// them: a bound. Together they receive more than a socket's buffer holds.
    static final int DEADLINES_LATER_MAX = 64;
    /// The number of batches that may still leave when the engine is closed: a bound, as many frames as the deepest
    /// queue has requests.
    static final int LAST_BATCHES = 256;

    // ---- who works, and for how long

    /// The number of pieces of work that a poster does for its own requests before it leaves the rest to the
    /// engine's thread (decision 13): a bound for posters, whose time is the program's.
    static final int POSTER_PIECES = 4;
    /// The number of pieces of work that a poller does for arrivals: one that receives and one that answers
    /// (decision 13).
    static final int POLLER_PIECES = 2;
    /// The answers to this many packets may wait for the next step of a thread that polls without pause (decision
    /// 13: one way took 8.4 µs, of which 2 µs were the acknowledgement before the answer).
    static final int FEW = 2;
    /// The largest number of polls in a row that only look at the link (decision 19). The next one looks for
    /// everything: deadlines, sockets.
    static final int GLANCES_MAX = 32;
    /// The number of looks at shared memory for each reading of the clock: a look takes less time than that
    /// (decision 26).
    static final int LOOKS_AT_ONCE = 4;
    /// The average time between the polls of a thread that polls without pause, at most: a bound, some polls in
    /// vain with a yield between them.
    static final long POLL_NANOS = 25_000;
    /// The fewest polls that count as polling without pause: a bound, one poll is no habit.
    static final int POLLS_MIN = 8;
    /// The time that the caller of a command waits before it checks again whether it can run the command itself: a
    /// bound, as a command takes.
    static final long COMMAND_NANOS = 20_000;
    /// The time to wait before the next try when the link has no room, or another thread owns the engine: a bound.
    /// While another thread owns the engine, the wait doubles each time, because on a single processor the owner
    /// may need the processor of the thread that waits.
    static final long RETRY_NANOS = 50_000;
    /// The number of times that it doubles.
    static final int RETRY_DOUBLINGS = 4;

    // ---- the place of the engine's thread while others do its work (decision 13)

    /// The first absence of the engine's thread. It doubles each time.
    static final long ABSENCE_NANOS_MIN = 250_000;
    /// The longest one, and how long a thread that wants the place parks unless it is woken.
    static final long ABSENCE_NANOS_MAX = 1_000_000;
    /// The longest one when threads poll so often that they are unlikely to stop. A look costs 12 µs: p99 of a wait
    /// was 72 µs with one each millisecond, and is 57.
    static final long ABSENCE_NANOS_OFTEN = 4_000_000;
    /// The average time between polls up to which a thread polls often.
    static final long OFTEN_NANOS = 100_000;

    // ---- whether a waiter spins (decision 13)

    /// The number of waits in a trial, and of waits that have to be known before a trial.
    static final int SPIN_TRIAL = 16;
    /// The time that a trial lasts before it has failed. A scheduler takes some ticks to give two spinning peers a
    /// processor each.
    static final long SPIN_TRIAL_NANOS = 10_000_000;
    /// The longest wait that justifies a processor.
    static final long SPIN_WORTHWHILE_NANOS = 100_000;
    /// The longest wait that is worth a trial.
    static final long SPIN_HOPELESS_NANOS = 500_000;
    /// A single wait counts for no more than this, so that one long wait is soon forgotten.
    static final long SPIN_WAIT_NANOS_MAX = 1_000_000;
    /// The shortest time for which a thread looks.
    static final long SPIN_LOOK_NANOS_MIN = 50_000;
    /// The longest time for which a look can work: it moves a batch of packets each way, and copies what is in
    /// them.
    static final long SPIN_WORK_NANOS_MAX = 1_000_000;
    /// The weight of one wait in the average is one in this number.
    static final int SPIN_WEIGHT = 16;
    /// Spinning that has paid for this long was no mistake.
    static final long SPIN_LASTING_NANOS = 50_000_000;
    /// The longest pause between two trials when looking did not pay.
    static final long SPIN_PAUSE_NANOS_MAX = 1_000_000_000;

    // ---- of spinning, yielding and bursts

    /// The longest look or yield in which no other thread used the processor (decision 13).
    static final long TAKEN_NANOS = 200_000;
    /// The shortest pause after a mistake: a trial that failed, a doorbell that was forgotten. It doubles each time
    /// (decisions 13 and 14).
    static final long PAUSE_NANOS_MIN = 2_000_000;
    /// The longest pause when the mistake may be over soon: a doorbell was forgotten, or the processor was taken
    /// away, by a compiler or a neighbour on the same host.
    static final long PAUSE_NANOS_MAX = 100_000_000;

    // ---- when a poller yields (decision 13: one way on one core took 33 µs, and takes 10)

    /// The longest time of polls in vain before a yield.
    static final long YIELD_AFTER_NANOS_MAX = 30_000;
    /// The shortest time of polls in vain before a yield.
    static final long YIELD_AFTER_NANOS_MIN = 1_000;
    /// A shorter yield has found no other thread that wants the processor.
    static final long YIELD_ALONE_NANOS = 3_000;

    // ---- doorbells that leave together (decision 14: 0.13 million small messages a second alone, 2 in batches)

    /// The most requests that wait. Together they make a long batch for the operating system.
    static final int BURST_REQUESTS_MAX = 32;
    /// The most bytes of the messages that wait. Larger messages fill a batch by themselves.
    static final int BURST_BYTES_MAX = 4096;
    /// A doorbell that rings this long after the first of a burst does not wait.
    static final long BURST_NANOS_MAX = 20_000;
    /// A doorbell that has waited this long has been forgotten.
    static final long BURST_FORGOTTEN_NANOS = 100_000;
    /// A burst that ends well shortens the next pause by this fraction of it.
    static final int BURST_FORGIVENESS = 64;

    private Tuning() {}
}

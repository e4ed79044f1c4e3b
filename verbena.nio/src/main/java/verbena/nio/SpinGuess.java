package verbena.nio;

/// Whether a selecting thread looks for a short while before it sleeps. It learns from its own waits: looking is worth
/// while as long as most of them are short. By the selecting thread.
final class SpinGuess {
    /// As long as it takes to sleep and be woken, or thereabouts.
    private static final long LOOK_NANOS = 50_000;

    private static final long SHORT_NANOS = 200_000;
    private static final int CREDIT_MAX = 16;
    private static final int CREDIT_WANTED = 8;

    private final boolean isAlone = Runtime.getRuntime().availableProcessors() < 2;
    private int credit;
    private long start;

    /// A wait begins.
    void begin() {
        start = System.nanoTime();
    }

    /// Whether to look once more.
    boolean looks() {
        return !isAlone && credit >= CREDIT_WANTED && System.nanoTime() - start < LOOK_NANOS;
    }

    /// The wait is over.
    void end() {
        boolean isShort = System.nanoTime() - start < SHORT_NANOS;
        credit = isShort ? Math.min(credit + 1, CREDIT_MAX) : Math.max(credit - 2, 0);
    }
}

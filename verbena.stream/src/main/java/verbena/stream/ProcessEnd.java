package verbena.stream;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Preview;

/// The work that is left when the process ends. The kernel sends what the sockets of a process that has ended have
/// left, and then the end of each stream; the memory of a stream goes with its process.
///
/// A shutdown hook waits for the streams that were closed. It runs beside those of the program, which may write
/// still: so open streams are left alone, and their peers find them reset. A caller that runs behind all hooks can
/// do more, by [#expect] and [#run].
@Preview
public final class ProcessEnd {
    private static final Duration LONGEST = Duration.ofSeconds(10);

    private static volatile boolean isExpected;
    /// The closes that are under way; null when no stream was closed.
    private static volatile @Nullable Closes closes;

    private ProcessEnd() {}

    /// Streams that were closed and have bytes on their way.
    @FunctionalInterface
    interface Closes {
        /// Waits until none is left; false when the time is over.
        boolean await(Duration timeout) throws InterruptedException;
    }

    /// Notes that the caller is going to call [#run] behind all shutdown hooks. Before the first stream.
    public static void expect() {
        isExpected = true;
    }

    /// Notes that there are closed streams to wait for. Called once.
    static void waitsFor(Closes some) {
        closes = some;
        if (!isExpected) {
            try {
                Runtime.getRuntime()
                        .addShutdownHook(new Thread(() -> awaitCloses(System.nanoTime()), "verbena-stream-end"));
            } catch (IllegalStateException e) {
                // the process ends already
            }
        }
    }

    private static void awaitCloses(long begun) {
        Closes some = closes;
        if (some == null) {
            return;
        }
        try {
            boolean _ = some.await(Duration.ofNanos(left(begun)));
        } catch (InterruptedException e) {
            // the process is to end now
        }
    }

    /// Announces to the peers of all streams that nothing more comes, and waits until they have all written bytes:
    /// ten seconds at most. Threads of the program do not see it. From now on no thread writes.
    public static void run() {
        if (closes == null && !DeviceWatch.hasStreams()) {
            return;
        }
        boolean _ = Thread.interrupted(); // of the thread that ends the process, before
        long begun = System.nanoTime();
        List<DeviceWatch.Stream> streams = DeviceWatch.streams();
        try {
            for (DeviceWatch.Stream stream : streams) {
                stream.sayLast(left(begun)); // all at once
            }
            for (DeviceWatch.Stream stream : streams) {
                stream.awaitLast(left(begun));
            }
        } catch (InterruptedException e) {
            return; // the process is to end now
        }
        awaitCloses(begun);
    }

    private static long left(long begun) {
        return Math.max(1, LONGEST.toNanos() - (System.nanoTime() - begun));
    }
}

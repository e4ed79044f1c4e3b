package verbena.stream.waiting;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The end of the process, for its streams. The kernel sends the bytes that the sockets of an ended process have
/// left, and then the end of each stream. The memory of a stream ends with its process, so its bytes have to leave
/// before.
///
/// A shutdown hook waits for the closed streams. It runs at the same time as the program's hooks, which may still
/// write. So it leaves open streams alone, and their peers find them reset. A caller that runs after all hooks can
/// end them too, by [#expect] and [#run]. Any thread may call it.
public final class ProcessEnd {
    private static final Duration LONGEST = Duration.ofSeconds(10);

    private static volatile boolean isExpected;
    /// The closes that are under way; null when no stream was closed.
    private static volatile @Nullable Closes closes;

    private ProcessEnd() {}

    /// Streams that were closed and have bytes on their way.
    @FunctionalInterface
    public interface Closes {
        /// Waits until none is left; false when the time is over.
        boolean await(Duration timeout) throws InterruptedException;
    }

    /// Notes that the caller will call [#run] after all shutdown hooks. The call comes before the first stream.
    public static void expect() {
        isExpected = true;
    }

    /// Notes that there are closed streams to wait for. Called once.
    public static void waitsFor(Closes some) {
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

    /// Announces the end of the data to the peers of all streams, and waits until all written bytes have arrived,
    /// for ten seconds at most. Threads of the program do not notice it. No thread may write any more.
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

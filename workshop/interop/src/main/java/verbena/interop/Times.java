package verbena.interop;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/// Times of calls that a client makes one after the other, rates of batches, and figures as a line of text.
public final class Times {
    private static final int SAMPLES_MAX = 2_000_000;
    private static final int FIRST_SECONDS = 5;
    private static final int WARM_UP_SECONDS = 20;
    private static final int SECONDS = 5;

    private Times() {}

    /// The call that is measured.
    @FunctionalInterface
    public interface Call {
        /// Returns when the answer is there.
        void make() throws Exception;
    }

    /// Calls in the first seconds, then until the compilers have done most of their work, and then for some
    /// seconds.
    ///
    /// @param what the name of the figures
    /// @return the last seconds' median, and what 99.9 % do not exceed, and of the first seconds the median and the
    ///     processor time of this process for a call, in microseconds
    public static SequencedMap<String, Double> measure(String what, Job job, Call call) throws Exception {
        Samples samples = take(job, call);
        var found = new LinkedHashMap<String, Double>();
        found.put(what + ", us", samples.median());
        found.put(what + ", 99.9 %, us", samples.most());
        found.put(what + ", first " + FIRST_SECONDS + " s, us", samples.first());
        found.put(what + ", first " + FIRST_SECONDS + " s, processor, us", samples.firstProcessor());
        return found;
    }

    /// Makes batches at the same times as the calls of [#measure].
    ///
    /// @param what the name of the figures
    /// @param size how much a batch brings
    /// @return how much the last seconds' batches brought in a second, and the same of the first seconds, by their
    ///     medians; and the processor time of this process for a batch of the first seconds, in microseconds
    public static SequencedMap<String, Double> rate(String what, int size, Job job, Call batch) throws Exception {
        Samples samples = take(job, batch);
        var found = new LinkedHashMap<String, Double>();
        found.put(what + ", a second", size / samples.median() * 1e6);
        found.put(what + ", a second, first " + FIRST_SECONDS + " s", size / samples.first() * 1e6);
        found.put(what + ", a batch, first " + FIRST_SECONDS + " s, processor, us", samples.firstProcessor());
        return found;
    }

    /// The durations of calls, in microseconds.
    ///
    /// @param first the first seconds' median
    /// @param firstProcessor the processor time that this process took for a call in the first seconds
    /// @param median that of the last seconds
    /// @param most what 99.9 % of the last seconds' do not exceed
    private record Samples(double first, double firstProcessor, double median, double most) {}

    private static Samples take(Job job, Call call) throws Exception {
        long[] nanos = new long[SAMPLES_MAX];
        long processor = processorNanos();
        int calls = make(nanos, nanos(job, FIRST_SECONDS), call);
        double firstProcessor = (processorNanos() - processor) / 1e3 / calls;
        double first = median(nanos, calls);
        int _ = make(nanos, nanos(job, WARM_UP_SECONDS), call);
        int count = make(nanos, nanos(job, SECONDS), call);
        return new Samples(first, firstProcessor, median(nanos, count), nanos[(int) (count * 0.999)] / 1e3);
    }

    private static long processorNanos() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .orElse(Duration.ZERO)
                .toNanos();
    }

    private static long nanos(Job job, int seconds) {
        return TimeUnit.SECONDS.toNanos(job.size(1, seconds));
    }

    /// Sorts the first `count` durations, and returns their median in microseconds.
    private static double median(long[] nanos, int count) {
        Arrays.sort(nanos, 0, count);
        return nanos[count / 2] / 1e3;
    }

    /// Returns how often it was called: at least once.
    private static int make(long[] nanos, long enough, Call call) throws Exception {
        long start = System.nanoTime();
        long before = start;
        int count = 0;
        do {
            call.make();
            long now = System.nanoTime();
            nanos[count++] = now - before;
            before = now;
        } while (before - start < enough && count < nanos.length);
        return count;
    }

    static String text(SequencedMap<String, Double> figures) {
        return figures.entrySet().stream()
                .map(each -> each.getKey() + "=" + each.getValue())
                .collect(Collectors.joining("; "));
    }

    static SequencedMap<String, Double> parse(String text) {
        var found = new LinkedHashMap<String, Double>();
        for (String each : text.isEmpty() ? new String[0] : text.split("; ", -1)) {
            int at = each.lastIndexOf('=');
            found.put(each.substring(0, at), Double.valueOf(each.substring(at + 1)));
        }
        return found;
    }
}

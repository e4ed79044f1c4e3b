package verbena.tools.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.stream.IntStream;
import verbena.tools.CommandFailed;
import verbena.verbs.QpType;

/// The loop that measures latency: one message at a time, there and back. For one thread, once for each size.
final class LatencyRun {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    private final PerfEnd end;
    private final Options options;
    private final Progress progress;
    private final int size;
    private final long limit;
    private final Clock clock;
    private final Patience patience;
    private final long[] postedAt;
    private long sent;
    private long completed;
    private long received;
    private long sampled;
    private boolean interrupted;

    LatencyRun(PerfEnd end, int size, Progress progress) {
        this.end = end;
        this.size = size;
        this.progress = progress;
        options = end.options;
        limit = options.isDuration() ? Long.MAX_VALUE : options.iterations;
        clock = new Clock(options);
        patience = new Patience(options.patience());
        postedAt = new long[options.isDuration() ? 0 : options.iterations];
        end.begin(size);
        if (options.verb.takesReceives()) {
            end.postReceives(0, options.receiveDepth);
        }
    }

    /// Runs to the end, or until the thread is interrupted.
    void run() {
        switch (options.verb) {
            case WRITE -> writes();
            case SEND, WRITE_IMM -> pingPong();
            case READ, ATOMIC -> questions();
        }
        clock.stop(System.nanoTime());
    }

    // A ping-pong of WRITEs: each end waits until the last byte in its memory has the next number. The server begins.
    private void writes() {
        MemorySegment memory = end.region.segment();
        long last = size - 1L;
        long theirs = end.layout.remoteOffset(0) + last;
        clock.start(System.nanoTime());
        while (sent < limit || received < limit) {
            if (received < limit && !(sent == 0 && !options.isClient())) {
                byte next = (byte) ++received;
                while ((byte) BYTE.getAcquire(memory, theirs) != next) {
                    if (end.pollSend() >= 0) {
                        completed++;
                    }
                    if (isOver()) {
                        return;
                    }
                }
                patience.progress();
            }
            if (sent < limit) {
                stamp();
                memory.set(ValueLayout.JAVA_BYTE, last, (byte) ++sent);
                end.postOne(true);
                while (completed < sent) {
                    if (end.pollSend() >= 0) {
                        completed++;
                        count();
                    } else if (isOver()) {
                        return;
                    }
                }
            }
        }
    }

    // A ping-pong of messages that take receives. The client begins.
    private void pingPong() {
        if (options.isClient()) {
            clock.start(System.nanoTime());
        }
        while (sent < limit || received < limit) {
            if (received < limit && !(sent == 0 && options.isClient())) {
                while (end.pollReceive() < 0) {
                    if (isOver()) {
                        return;
                    }
                }
                if (!clock.isStarted()) {
                    clock.start(System.nanoTime());
                }
                received++;
                count();
                if (received + options.receiveDepth <= limit) {
                    end.postReceives(0, 1);
                }
            }
            if (sent < limit) {
                stamp();
                sent++;
                end.postOne(true);
                while (end.pollSend() < 0) {
                    if (isOver()) {
                        return;
                    }
                }
                patience.progress();
            }
        }
    }

    // READs and atomics: the completion is the answer.
    private void questions() {
        clock.start(System.nanoTime());
        while (sent < limit) {
            stamp();
            sent++;
            end.postOne(true);
            while (end.pollSend() < 0) {
                if (isOver()) {
                    return;
                }
            }
            count();
        }
    }

    private void stamp() {
        if (options.gapMicros > 0) {
            long until = System.nanoTime() + options.gapMicros * 1_000L;
            while (System.nanoTime() < until) {
                Thread.onSpinWait();
            }
        }
        if (!options.isDuration()) {
            postedAt[(int) sent] = System.nanoTime();
        }
    }

    private void count() {
        patience.progress();
        progress.at(sent);
        if (options.isDuration()) {
            clock.tick(System.nanoTime());
            if (clock.samples()) {
                sampled++;
            }
        }
    }

    // Nothing has come: whether to go on waiting.
    private boolean isOver() {
        if (options.isDuration()) {
            clock.tick(System.nanoTime());
            if (clock.isOver()) {
                return true;
            }
        }
        if (Thread.currentThread().isInterrupted()) {
            interrupted = true;
            return true;
        }
        boolean isOver = options.events ? !end.sleep(options.patience()) : patience.isOver();
        if (isOver && Thread.currentThread().isInterrupted()) {
            interrupted = true;
            return true;
        }
        if (isOver && clock.isStarted()) {
            throw new CommandFailed(silence());
        }
        return false;
    }

    private String silence() {
        Duration waited = options.patience();
        String hint = options.type == QpType.RC
                ? "has the peer stopped, or has it other options?"
                : "what is lost is not sent again: was something lost? Or has the peer other options?";
        return "nothing happened for " + waited.toSeconds() + " s after " + sent + " messages sent, " + received
                + " received, of " + (options.isDuration() ? "any number" : limit) + ": " + hint;
    }

    /// Whether it was ended before its time.
    boolean isInterrupted() {
        return interrupted;
    }

    /// Messages that were counted.
    long messages() {
        return options.isDuration() ? sampled : sent;
    }

    /// The times between two posts, in nanoseconds.
    long[] betweenPosts() {
        return IntStream.range(1, (int) Math.max(1, sent))
                .mapToLong(i -> postedAt[i] - postedAt[i - 1])
                .toArray();
    }

    /// With a duration: how long was counted.
    long sampleNanos() {
        return clock.sampleNanos();
    }
}

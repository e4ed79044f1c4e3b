package verbena.bench;

import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.GroupThreads;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Control;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.SendQueue;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.SendOperation;

/// The rings between an application and the engine: the cost of filling and emptying them by one thread, and the
/// time from one thread to another.
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RingBenchmark {
    private static final int CAPACITY = 128;

    @State(Scope.Thread)
    public static class OneThread {
        final SendQueue sends = new SendQueue(CAPACITY, 1, 0, Arena.ofAuto());
        final CompletionRing completions = newRing();
        final WorkCompletion wc = new WorkCompletion();
    }

    /// Two threads with a ring in each direction.
    @State(Scope.Group)
    public static class TwoThreads {
        final CompletionRing there = newRing();
        final CompletionRing back = newRing();
        final WorkCompletion wcThere = new WorkCompletion();
        final WorkCompletion wcBack = new WorkCompletion();
        boolean isUnderWay;
    }

    private static CompletionRing newRing() {
        return new CompletionRing(CAPACITY, new CompletionRing.Listener() {
            @Override
            public void onNotification() {}

            @Override
            public void onWake() {}

            @Override
            public void onOverflow() {
                throw new IllegalStateException("the ring is full");
            }
        });
    }

    /// Measures a request: a slot is filled, published, read, and retired.
    @Benchmark
    public long sendQueue(OneThread state) {
        SendQueue sends = state.sends;
        sends.claim().begin(SendOperation.WRITE, 1);
        sends.publish();
        long position = sends.published() - 1;
        long wrId = sends.at(position).wrId;
        sends.retire(position + 1);
        return wrId;
    }

    /// Measures a completion that is pushed and polled.
    @Benchmark
    public long completionRing(OneThread state) {
        push(state.completions);
        state.completions.poll(state.wc);
        return state.wc.wrId();
    }

    /// Measures two hand-overs between two threads that poll.
    @Benchmark
    @Group("handOff")
    @GroupThreads(1)
    public void ping(TwoThreads state, Control control) {
        if (!state.isUnderWay) {
            push(state.there);
            state.isUnderWay = true;
        }
        while (!state.back.poll(state.wcBack)) {
            if (control.stopMeasurement) {
                return; // it comes in the next iteration
            }
            Thread.onSpinWait();
        }
        state.isUnderWay = false;
    }

    @Benchmark
    @Group("handOff")
    @GroupThreads(1)
    public void pong(TwoThreads state, Control control) {
        while (!state.there.poll(state.wcThere)) {
            if (control.stopMeasurement) {
                return;
            }
            Thread.onSpinWait();
        }
        push(state.back);
    }

    private static void push(CompletionRing ring) {
        ring.push(1, WcStatus.SUCCESS, WcOpcode.RDMA_WRITE, 0, 8, 0, 7, 0, 0, "", false);
    }
}

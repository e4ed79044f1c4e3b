package verbena.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// One request from its posting to its completion, between two devices over UDP on loopback; the `gc` profiler says
/// what it allocates, which is to be nothing.
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 3, time = 2)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED"})
public class QueuePairBenchmark {
    /// Bytes of a request.
    @Param({"8", "65536"})
    public int bytes;

    private End near;
    private End far;
    private final WorkCompletion wc = new WorkCompletion();

    private static final class End {
        final Context context = Device.named("rocev2").open();
        final ProtectionDomain domain = context.allocateProtectionDomain();
        final CompletionQueue cq = context.createCompletionQueue(256);
        final QueuePair queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
        final MemoryRegion memory = domain.allocate(1 << 20, Access.remoteAll());

        void close() {
            queuePair.close();
            memory.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    /// Two devices, connected.
    @Setup(Level.Trial)
    public void connect() {
        near = new End();
        far = new End();
        near.queuePair.connect(far.queuePair.endpoint());
        far.queuePair.connect(near.queuePair.endpoint());
    }

    /// Closes both.
    @TearDown(Level.Trial)
    public void close() {
        near.close();
        far.close();
    }

    /// A WRITE, and spinning until it is acknowledged.
    @Benchmark
    public void write() {
        near.queuePair.postWrite(1, near.memory, 0, bytes, far.memory.address(), far.memory.rkey());
        complete();
    }

    /// A READ, and spinning until the data is here.
    @Benchmark
    public void read() {
        near.queuePair.postRead(1, near.memory, 0, bytes, far.memory.address(), far.memory.rkey());
        complete();
    }

    private void complete() {
        while (!near.cq.poll(wc)) {
            Thread.onSpinWait();
        }
        if (!wc.ok()) {
            throw new IllegalStateException(wc.toString());
        }
    }
}

package verbena.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
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
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;

/// Requests through the whole device: post, packets over UDP on loopback, completion. With `-prof gc` it shows
/// that nothing is allocated on either side.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class VerbsBenchmark {
    private static final int BATCH = 64;

    /// The size of a WRITE in bytes.
    @Param({"8", "65536"})
    private int bytes;

    private Context contextA;
    private Context contextB;
    private ProtectionDomain domainA;
    private ProtectionDomain domainB;
    private CompletionQueue cqA;
    private CompletionQueue cqB;
    private QueuePair qpA;
    private QueuePair qpB;
    private QueuePair flushing;
    private MemoryRegion memoryA;
    private MemoryRegion memoryB;
    private LocalMemory from;
    private RemoteMemory to;
    private final WorkCompletion wc = new WorkCompletion();

    @Setup(Level.Trial)
    public void open() {
        contextA = Device.named("rocev2").open();
        contextB = Device.named("rocev2").open();
        domainA = contextA.allocateProtectionDomain();
        domainB = contextB.allocateProtectionDomain();
        cqA = contextA.createCompletionQueue(1_024);
        cqB = contextB.createCompletionQueue(1_024);
        qpA = domainA.createQueuePair(QueuePairOptions.rc(cqA));
        qpB = domainB.createQueuePair(QueuePairOptions.rc(cqB));
        qpA.connect(qpB.endpoint());
        qpB.connect(qpA.endpoint());
        flushing = domainA.createQueuePair(QueuePairOptions.rc(cqA));
        flushing.modify(new Transition.ToError());
        memoryA = domainA.allocate(1 << 16, Access.remoteAll());
        memoryB = domainB.allocate(1 << 16, Access.remoteAll());
        from = memoryA.slice(0, bytes);
        to = memoryB.remote();
    }

    @TearDown(Level.Trial)
    public void close() {
        flushing.close();
        qpA.close();
        qpB.close();
        memoryA.close();
        memoryB.close();
        cqA.close();
        cqB.close();
        domainA.close();
        domainB.close();
        contextA.close();
        contextB.close();
    }

    /// Measures one WRITE at a time: the time of a round trip. The engine's thread serves the peer's side.
    @Benchmark
    public void write() {
        qpA.postWrite(1, from, to);
        take(1);
    }

    /// Measures 64 WRITEs with one doorbell and one completion.
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void writeBatch() {
        long address = memoryB.address();
        int rkey = memoryB.rkey();
        try (SendBatch batch = qpA.sendBatch()) {
            for (int i = 1; i < BATCH; i++) {
                batch.write(i, address, rkey).sge(memoryA, 0, bytes);
            }
            batch.write(BATCH, address, rkey).sge(memoryA, 0, bytes).signaled();
            batch.submit();
        }
        take(1);
    }

    /// Measures the cost of posting and polling alone: the requests end at once, because the queue pair is in ERR.
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public void postAndPoll() {
        long address = memoryB.address();
        int rkey = memoryB.rkey();
        try (SendBatch batch = flushing.sendBatch()) {
            for (int i = 0; i < BATCH; i++) {
                batch.write(i, address, rkey).sge(memoryA, 0, bytes).signaled();
            }
            batch.submit();
        }
        take(BATCH);
    }

    private void take(int completions) {
        int left = completions;
        while (left > 0) {
            if (cqA.poll(wc)) {
                left--;
            } else {
                Thread.onSpinWait();
            }
        }
    }
}

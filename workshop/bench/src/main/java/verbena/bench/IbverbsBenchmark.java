package verbena.bench;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
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
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;

/// The additional cost of `verbena.ibverbs` in posting and polling. It measures a WRITE and its completion through
/// a libibverbs whose operations do nothing (`stub.c`, compiled here), and two C loops that do the same. Needs cc
/// and `infiniband/verbs.h`. On a machine with other users, take medians, `-bm sample`.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
public class IbverbsBenchmark {
    private static final int REQUESTS = 1_024;

    /// Requests of one post and one poll.
    @Param({"1", "16"})
    private int batch;

    private MethodHandle loop;
    private Context context;
    private ProtectionDomain domain;
    private CompletionQueue cq;
    private QueuePair qp;
    private MemoryRegion memory;
    private final WorkCompletion wc = new WorkCompletion();
    private WorkCompletion[] completions;

    @Setup(Level.Trial)
    public void open() throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("verbena-stub");
        Path source = folder.resolve("stub.c");
        Path library = folder.resolve("libstub.so");
        try (var text = Objects.requireNonNull(IbverbsBenchmark.class.getResourceAsStream("/verbena/ibverbs/stub.c"))) {
            Files.copy(text, source);
        }
        int status = new ProcessBuilder("cc", "-O2", "-shared", "-fPIC", source.toString(), "-o", library.toString())
                .inheritIO()
                .start()
                .waitFor();
        if (status != 0) {
            throw new IllegalStateException("needs cc and libibverbs-dev (rdma-core-devel)");
        }
        setEnvironment("STUB_NOTHING", Integer.toString(batch));
        System.setProperty("verbena.libibverbs", library.toString());
        loop = Linker.nativeLinker()
                .downcallHandle(
                        SymbolLookup.libraryLookup(library, Arena.global())
                                .find("stub_loop")
                                .orElseThrow(),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_INT));
        context = Device.named("stub0").open();
        domain = context.allocateProtectionDomain();
        cq = context.createCompletionQueue(64);
        qp = domain.createQueuePair(QueuePairOptions.rc(cq));
        qp.modify(new Transition.ToInit(Access.remoteAll()));
        qp.modify(new Transition.ToRtr(
                AddressVector.to(Gid.parse("192.0.2.8"), 3), Mtu.MTU_1024, 1, 0, 1, new RnrTimer(12)));
        qp.modify(new Transition.ToRts(0, new AckTimeout(14), 7, 7, 1));
        memory = domain.allocate(4096, Access.remoteAll());
        completions = new WorkCompletion[batch];
        for (int i = 0; i < batch; i++) {
            completions[i] = new WorkCompletion();
        }
        for (Path each : new Path[] {library, source, folder}) {
            Files.delete(each);
        }
    }

    /// Sets a variable that the library reads when a device is opened.
    private static void setEnvironment(String name, String value) {
        try (Arena arena = Arena.ofConfined()) {
            Linker.nativeLinker()
                    .downcallHandle(
                            Linker.nativeLinker().defaultLookup().find("setenv").orElseThrow(),
                            FunctionDescriptor.of(
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.ADDRESS,
                                    ValueLayout.ADDRESS,
                                    ValueLayout.JAVA_INT))
                    .invokeWithArguments(arena.allocateFrom(name), arena.allocateFrom(value), 1);
        } catch (Throwable e) {
            throw new IllegalStateException("setenv", e);
        }
    }

    @TearDown(Level.Trial)
    public void close() {
        qp.close();
        memory.close();
        cq.close();
        domain.close();
        context.close();
    }

    /// Writes those fields of a request that Verbena writes, and reads those of a completion that Verbena reads.
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public long c() throws Throwable {
        return (long) loop.invokeExact((long) REQUESTS, batch, 0);
    }

    /// Makes each request by writing the whole struct, as most programs do.
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public long cWholeStruct() throws Throwable {
        return (long) loop.invokeExact((long) REQUESTS, batch, 1);
    }

    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public long verbena() {
        long good = 0;
        for (int i = 0; i < REQUESTS; i += batch) {
            try (SendBatch requests = qp.sendBatch()) {
                for (int j = 0; j < batch; j++) {
                    requests.write(i + j, 8192, 2).sge(memory, 0, 8).signaled();
                }
                requests.submit();
            }
            if (batch == 1) {
                good += cq.poll(wc) && wc.ok() ? 1 : 0;
            } else {
                int n = cq.poll(completions);
                for (int j = 0; j < n; j++) {
                    good += completions[j].ok() ? 1 : 0;
                }
            }
        }
        return good;
    }
}

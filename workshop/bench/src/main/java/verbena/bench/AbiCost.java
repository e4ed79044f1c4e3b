package verbena.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// The additional cost of a post and a poll in a C program through libibverbs.so.1, compared with a Java program.
/// Both do the same on a queue pair in ERR, where requests end at once. They take turns, each in a process of its
/// own, warmed up.
public final class AbiCost {
    private static final int BATCH = 16;
    private static final int ROUNDS = 5;
    private static final long WARM_NANOS = 3_000_000_000L;
    private static final long NANOS = 1_000_000_000L;

    private AbiCost() {}

    /// @param args the C source; `java` for the process that does it in Java
    public static void main(String[] args) throws Exception {
        if (args[0].equals("java")) {
            inJava();
        } else {
            compare(Path.of(args[0]));
        }
    }

    private static void compare(Path source) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("verbena-cost");
        Path program = folder.resolve("cost");
        try {
            output(List.of("cc", "-O2", "-o", program.toString(), source.toString(), "-libverbs"));
            var java = List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:+UseSerialGC",
                    "-Dverbena.libibverbs=none",
                    "-cp",
                    ManagementFactory.getRuntimeMXBean().getClassPath(),
                    AbiCost.class.getName(),
                    "java");
            double[][] ours = new double[2][ROUNDS];
            double[][] theirs = new double[2][ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                put(output(java), ours, round);
                put(output(List.of(program.toString())), theirs, round);
            }
            System.out.println("post and poll, ns for each request, median of " + ROUNDS + " rounds");
            print("one at a time", ours[0], theirs[0]);
            print(BATCH + " with one call", ours[1], theirs[1]);
        } finally {
            Files.deleteIfExists(program);
            Files.delete(folder);
        }
    }

    private static String output(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(command.getFirst() + " ended with " + process.exitValue() + ": " + said);
        }
        return said;
    }

    private static void put(String line, double[][] into, int round) {
        String[] numbers = line.strip().split(" ", -1);
        into[0][round] = Double.parseDouble(numbers[0]);
        into[1][round] = Double.parseDouble(numbers[1]);
    }

    private static void print(String what, double[] ours, double[] theirs) {
        Arrays.sort(ours);
        Arrays.sort(theirs);
        int middle = ROUNDS / 2;
        System.out.printf(
                Locale.ROOT,
                "%-18s Java %6.1f (%.1f to %.1f)   C %6.1f (%.1f to %.1f)   %+.1f%n",
                what,
                ours[middle],
                ours[0],
                ours[ROUNDS - 1],
                theirs[middle],
                theirs[0],
                theirs[ROUNDS - 1],
                theirs[middle] - ours[middle]);
    }

    // ---- the same in Java

    private static void inJava() {
        try (Context context = Device.named("rocev2").open();
                var domain = context.allocateProtectionDomain();
                var cq = context.createCompletionQueue(4 * BATCH);
                var memory = domain.allocate(64, Set.of(Access.LOCAL_WRITE));
                var qp = domain.createQueuePair(QueuePairOptions.rc(cq).withDepth(4 * BATCH, 1))) {
            qp.modify(new QpModification().withState(QpState.ERR));
            var wc = new WorkCompletion();
            class Loop {
                double nanos(int count, long duration) {
                    long done = 0;
                    long start = System.nanoTime();
                    long end = start;
                    while (end - start < duration) {
                        for (int round = 0; round < 1_000; round++) {
                            try (var batch = qp.sendBatch()) {
                                for (int i = 0; i < count; i++) {
                                    batch.write(i, memory.address(), memory.rkey())
                                            .sge(memory, 0, 8)
                                            .signaled();
                                }
                                batch.submit();
                            }
                            int left = count;
                            while (left > 0) {
                                if (cq.poll(wc)) {
                                    left--;
                                }
                            }
                            done += count;
                        }
                        end = System.nanoTime();
                    }
                    return (double) (end - start) / done;
                }
            }
            var loop = new Loop();
            loop.nanos(BATCH, WARM_NANOS);
            loop.nanos(1, WARM_NANOS);
            double one = loop.nanos(1, NANOS);
            System.out.printf(Locale.ROOT, "%.1f %.1f%n", one, loop.nanos(BATCH, NANOS));
        }
    }
}

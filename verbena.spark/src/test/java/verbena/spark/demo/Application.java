package verbena.spark.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;
import verbena.verbs.Counters;

/// A Spark application, in a process of its own: runs jobs, and prints what came out and what Spark and the
/// executors have counted. Its settings are system properties, as `spark-submit` sets them.
///
/// A line is `result JOB NANOS TEXT`, `metric NAME NUMBER` of Spark, or `counter NAME NUMBER` of all executors. An
/// application that is told its jobs one by one prints `ready` and its name before the first, and `end` after the
/// metrics of each.
public final class Application {
    /// In place of jobs: the standard input names them, a line each.
    static final String ASKED = "-";

    /// The number of the executor that no task ends.
    static final String SURVIVOR = "0";
    /// Records of each task of the job whose executor is ended.
    static final int RECORDS = 400;

    private static final int RECORD_BYTES = 1_024;
    private static final int EXECUTORS = 2;
    private static final int ATTEMPTS = 20;

    private Application() {}

    /// Runs the jobs.
    ///
    /// @param args records, partitions, partitions of the job with small blocks, a file of text, jobs by name and
    /// with commas or [#ASKED]; and a file to be made by the task that ends its executor, or nothing
    public static void main(String[] args) throws IOException, TimeoutException, InterruptedException {
        try (SparkSession session = SparkSession.builder().appName("spark-demo").getOrCreate()) {
            var metrics = new Metrics();
            session.sparkContext().addSparkListener(metrics);
            var jobs = new Jobs(
                    session, Integer.parseInt(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]), args[3]);
            if (args.length > 5) {
                killInShuffle(session, jobs.partitions(), Path.of(args[5]));
            }
            if (args[4].equals(ASKED)) {
                answer(session, jobs.all(), metrics);
            } else {
                for (String name : args[4].split(",", -1)) {
                    run(jobs.all(), name);
                }
                metrics.print(session);
            }
            counters(session).forEach((name, value) -> System.out.println("counter " + name + " " + value));
        }
    }

    private static void run(Map<String, Jobs.Job> jobs, String name) {
        long begin = System.nanoTime();
        String result = Objects.requireNonNull(jobs.get(name), name).run();
        System.out.println("result " + name + " " + (System.nanoTime() - begin) + " " + result);
    }

    private static void answer(SparkSession session, Map<String, Jobs.Job> jobs, Metrics metrics)
            throws IOException, TimeoutException, InterruptedException {
        while (session.sparkContext().statusTracker().getExecutorInfos().length <= EXECUTORS) { // and the driver
            Thread.sleep(20); // a job would change the samples that bounds of later ones come from
        }
        System.out.println("ready " + session.sparkContext().applicationId());
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String name = in.readLine(); name != null; name = in.readLine()) {
            metrics.forget(session);
            run(jobs, name);
            metrics.print(session);
            System.out.println("end " + name);
        }
    }

    /// A job of three stages. In the second a task ends its executor, once, after others have read from there, or
    /// where tasks fail. All of that stage write more than executors may have memory for.
    private static void killInShuffle(SparkSession session, int partitions, Path once) {
        String file = once.toString();
        long begin = System.nanoTime();
        Tuple2<Long, Long> result = JavaSparkContext.fromSparkContext(session.sparkContext())
                .parallelize(IntStream.range(0, 20_000).boxed().toList(), partitions)
                .mapToPair(i -> new Tuple2<>(i % 1_000, (long) i))
                .groupByKey(partitions)
                .mapPartitionsToPair(groups -> {
                    int partition = TaskContext.getPartitionId();
                    boolean isLate =
                            partition >= partitions / 2 || TaskContext.get().attemptNumber() > 0;
                    if (isLate && !SparkEnv.get().executorId().equals(SURVIVOR) && isFirst(file)) {
                        kill();
                    }
                    long sum = 0;
                    while (groups.hasNext()) {
                        for (long value : groups.next()._2()) {
                            sum += value;
                        }
                    }
                    long all = sum;
                    return IntStream.range(0, RECORDS)
                            .map(i -> partition * RECORDS + i)
                            .mapToObj(key -> new Tuple2<>(key, new Tuple2<>(key % RECORDS == 0 ? all : 0, bytes(key))))
                            .iterator();
                })
                .partitionBy(new HashPartitioner(partitions))
                .map(record ->
                        new Tuple2<>(record._2()._1(), Arrays.equals(record._2()._2(), bytes(record._1())) ? 1L : 0L))
                .reduce((a, b) -> new Tuple2<>(a._1() + b._1(), a._2() + b._2()));
        System.out.println("result killed " + (System.nanoTime() - begin) + " sum " + result._1() + ", " + result._2()
                + " whole records");
    }

    /// Ends this process as an operator would.
    private static void kill() throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid()))
                .start()
                .waitFor();
    }

    /// Returns what a record with this key has, which nothing compresses.
    private static byte[] bytes(int key) {
        var bytes = new byte[RECORD_BYTES];
        new SplittableRandom(key).nextBytes(bytes);
        return bytes;
    }

    private static boolean isFirst(String file) throws IOException {
        try {
            Files.writeString(
                    Path.of(file), Long.toString(ProcessHandle.current().pid()), StandardOpenOption.CREATE_NEW);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }

    /// Returns the counters of the shuffle in this process.
    private static SortedMap<String, Long> ofSpark() {
        var found = new TreeMap<String, Long>();
        Counters.ofProcess().forEach((name, value) -> {
            if (name.startsWith("spark.")) {
                found.put(name.substring("spark.".length()), value);
            }
        });
        return found;
    }

    /// Sums over all executors, which tasks fetch there.
    private static Map<String, Long> counters(SparkSession session) {
        Map<String, Map<String, Long>> byExecutor = new HashMap<>();
        JavaSparkContext spark = JavaSparkContext.fromSparkContext(session.sparkContext());
        for (int i = 0; i < ATTEMPTS && byExecutor.size() < EXECUTORS; i++) {
            spark.parallelize(List.of(1, 2, 3, 4, 5, 6, 7, 8), 8)
                    .map(task -> {
                        Thread.sleep(20); // so that no executor takes all of them
                        return new Tuple2<>(SparkEnv.get().executorId(), ofSpark());
                    })
                    .collect()
                    .forEach(each -> byExecutor.put(each._1(), each._2()));
        }
        var sums = new TreeMap<String, Long>();
        byExecutor.values().forEach(each -> each.forEach((name, value) -> sums.merge(name, value, Long::sum)));
        return sums;
    }

    /// What Spark's own pages show.
    private static final class Metrics extends SparkListener {
        private final Map<String, LongAdder> sums = new TreeMap<>();

        @Override
        public synchronized void onTaskEnd(SparkListenerTaskEnd end) {
            TaskMetrics task = end.taskMetrics();
            if (task == null) {
                return;
            }
            add("remote.bytes", task.shuffleReadMetrics().remoteBytesRead());
            add("remote.blocks", task.shuffleReadMetrics().remoteBlocksFetched());
            add("local.bytes", task.shuffleReadMetrics().localBytesRead());
            add("fetch.wait.ms", task.shuffleReadMetrics().fetchWaitTime());
            add("write.ns", task.shuffleWriteMetrics().writeTime());
            add("write.bytes", task.shuffleWriteMetrics().bytesWritten());
            add("cpu.ns", task.executorCpuTime());
            add("failed.tasks", end.taskInfo().failed() ? 1 : 0);
        }

        /// Of all tasks that have ended.
        private void print(SparkSession session) throws TimeoutException {
            session.sparkContext().listenerBus().waitUntilEmpty();
            sums.forEach((name, value) -> System.out.println("metric " + name + " " + value.sum()));
        }

        private void forget(SparkSession session) throws TimeoutException {
            session.sparkContext().listenerBus().waitUntilEmpty();
            sums.clear();
        }

        private void add(String name, long value) {
            sums.computeIfAbsent(name, added -> new LongAdder()).add(value);
        }
    }
}

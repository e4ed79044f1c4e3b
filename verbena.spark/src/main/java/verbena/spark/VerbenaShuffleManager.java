package verbena.spark;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.BypassMergeSortShuffleHandle;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.jspecify.annotations.Nullable;
import verbena.spark.device.Settings;
import verbena.spark.read.VerbenaShuffleReader;
import verbena.verbs.Preview;

/// A shuffle by one-sided READ, for Apache Spark 4: `spark.shuffle.manager=verbena.spark.VerbenaShuffleManager`.
///
/// Map outputs are written into registered memory, and Spark's own writers sort those that need it. Reducers READ
/// blocks of other executors there: within a host through shared memory, else over the network. Spark's own transport
/// carries other blocks: outputs in files, and all blocks of an executor without a device.
///
/// Spark makes one in the driver and in each executor, and stops it. Any thread may use it.
///
/// @since 0.1
@Preview
public final class VerbenaShuffleManager extends SortShuffleManager {
    private static final String IO_PLUGIN = "spark.shuffle.sort.io.plugin.class";
    private static final String HOST_LOCAL = "spark.shuffle.readHostLocalDisk";

    private final Settings settings;
    private final MemoryBlockResolver resolver;
    // Guarded by this.
    private @Nullable Executor executor;
    private boolean stopped;

    /// Called by Spark.
    ///
    /// @throws IllegalArgumentException when settings contradict each other; names them
    public VerbenaShuffleManager(SparkConf conf) {
        super(prepare(conf));
        this.settings = Settings.of(conf);
        this.resolver =
                new MemoryBlockResolver(conf, super.shuffleBlockResolver().taskIdMapsForShuffle(), this::executor);
    }

    /// Checks the settings, and sets those of Spark that follow from the choice of this manager.
    ///
    /// @throws IllegalArgumentException when two settings contradict each other; names them
    static SparkConf prepare(SparkConf conf) {
        refuse(
                conf,
                "spark.shuffle.service.enabled",
                "map outputs are in memory of executors, which that service cannot see");
        refuse(conf, "spark.shuffle.push.enabled", "map outputs are read where they are, and not pushed");
        String plugin = conf.get(IO_PLUGIN, VerbenaDataIO.class.getName());
        if (!plugin.equals(VerbenaDataIO.class.getName())) {
            throw new IllegalArgumentException(IO_PLUGIN + ": not with " + VerbenaShuffleManager.class.getName()
                    + ", which stores map outputs itself; got " + plugin);
        }
        conf.set(IO_PLUGIN, plugin);
        conf.set(HOST_LOCAL, "false"); // Spark would look for files of the host's other executors
        return conf;
    }

    private static void refuse(SparkConf conf, String setting, String why) {
        if (conf.getBoolean(setting, false)) {
            throw new IllegalArgumentException(
                    setting + ": false with " + VerbenaShuffleManager.class.getName() + ", because " + why);
        }
    }

    /// Returns the manager of this process.
    ///
    /// @throws IllegalStateException when Spark has another manager, or none
    static VerbenaShuffleManager current() {
        if (SparkEnv.get() != null && SparkEnv.get().shuffleManager() instanceof VerbenaShuffleManager manager) {
            return manager;
        }
        throw new IllegalStateException(
                "spark.shuffle.manager: " + VerbenaShuffleManager.class.getName() + " expected in this process");
    }

    /// Opens devices at the first call.
    synchronized Executor executor() {
        Executor open = executor;
        if (open == null) {
            if (stopped) {
                throw new IllegalStateException("the shuffle manager is stopped");
            }
            open = Executor.open(settings, SparkEnv.get());
            executor = open;
        }
        return open;
    }

    @Override
    public IndexShuffleBlockResolver shuffleBlockResolver() {
        return resolver;
    }

    @Override
    public <K, C> ShuffleReader<K, C> getReader(
            ShuffleHandle handle,
            int startMapIndex,
            int endMapIndex,
            int startPartition,
            int endPartition,
            TaskContext task,
            ShuffleReadMetricsReporter metrics) {
        @SuppressWarnings("unchecked") // Spark has the types of a handle by its number only
        var base = (BaseShuffleHandle<K, ?, C>) handle;
        var blocks = SparkEnv.get()
                .mapOutputTracker()
                .getMapSizesByExecutorId(handle.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition);
        var source =
                new VerbenaShuffleReader.Source(blocks.toSeq(), canUseBatchFetch(startPartition, endPartition, task));
        return new VerbenaShuffleReader<>(base.dependency(), source, executor().client(), task, metrics);
    }

    @Override
    public <K, V> ShuffleWriter<K, V> getWriter(
            ShuffleHandle handle, long mapId, TaskContext task, ShuffleWriteMetricsReporter metrics) {
        ShuffleWriter<K, V> ofSpark = super.getWriter(handle, mapId, task, metrics); // and Spark knows the output
        if (handle instanceof BypassMergeSortShuffleHandle<?, ?>) {
            @SuppressWarnings("unchecked") // Spark has the types of a handle by its number only
            var few = (BypassMergeSortShuffleHandle<K, V>) handle;
            var output = new UnsortedWriter.Output(mapId, resolver, executor());
            if (executor().outputs().isReadable() && few.dependency().rowBasedChecksums().length == 0) {
                return new UnsortedWriter<>(few.dependency(), output, metrics);
            }
        }
        return ofSpark;
    }

    /// Withdraws the keys of all outputs of the shuffle.
    @Override
    public boolean unregisterShuffle(int shuffleId) {
        Executor open;
        synchronized (this) {
            open = executor;
        }
        if (open != null) {
            open.client().forget(shuffleId);
        }
        return super.unregisterShuffle(shuffleId);
    }

    @Override
    public void stop() {
        Executor open;
        synchronized (this) {
            stopped = true;
            open = executor;
            executor = null;
        }
        if (open != null) {
            open.close();
        }
        super.stop();
    }
}

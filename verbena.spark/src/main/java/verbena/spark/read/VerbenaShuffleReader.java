package verbena.spark.read;

import java.io.InputStream;
import java.util.function.UnaryOperator;
import org.apache.spark.Aggregator;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.checksum.RowBasedChecksum;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.CompletionIterator;
import org.apache.spark.util.SystemClock;
import org.apache.spark.util.collection.ExternalSorter;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.math.Ordering;
import scala.runtime.BoxedUnit;

/// A reader of partitions of a shuffle. It uses Spark's iterator of blocks over the client of this project, its
/// streams and serialisers, and the aggregation and order that the dependency asks for. One task uses it.
public final class VerbenaShuffleReader<K, C> implements ShuffleReader<K, C> {
    /// The blocks to read.
    ///
    /// @param blocks by executor, each with its size and the index of its map task
    /// @param isWhole whether successive blocks may be fetched as one
    public record Source(Seq<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks, boolean isWhole) {
        /// Returns the approximate size, because the driver rounds sizes.
        private long bytes() {
            long bytes = 0;
            for (var executor : CollectionConverters.asJava(blocks)) {
                for (var block : CollectionConverters.asJava(executor._2())) {
                    bytes += (long) block._2();
                }
            }
            return bytes;
        }
    }

    private final ShuffleDependency<K, ?, C> dependency;
    private final Source source;
    private final BlockStoreClient client;
    private final TaskContext task;
    private final ShuffleReadMetricsReporter metrics;
    private final SparkEnv env = SparkEnv.get();

    public VerbenaShuffleReader(
            ShuffleDependency<K, ?, C> dependency,
            Source source,
            BlockStoreClient client,
            TaskContext task,
            ShuffleReadMetricsReporter metrics) {
        this.dependency = dependency;
        this.source = source;
        this.client = client;
        this.task = task;
        this.metrics = metrics;
    }

    @Override
    public Iterator<Product2<K, C>> read() {
        Iterator<Product2<K, C>> result = combined();
        return result instanceof InterruptibleIterator ? result : new InterruptibleIterator<>(task, result);
    }

    /// Returns all records as they lie in the blocks, each counted.
    ///
    /// @param stream what becomes of the stream of a block before its records are read
    private Iterator<Tuple2<Object, Object>> records(UnaryOperator<InputStream> stream) {
        SerializerInstance serializer = dependency.serializer().newInstance();
        Iterator<Tuple2<Object, Object>> counted = streams()
                .flatMap(block ->
                        serializer.deserializeStream(stream.apply(block._2())).asKeyValueIterator())
                .map(record -> {
                    metrics.incRecordsRead(1);
                    return record;
                });
        Iterator<Tuple2<Object, Object>> whole = CompletionIterator.apply(counted, () -> {
            task.taskMetrics().mergeShuffleReadMetrics();
            return BoxedUnit.UNIT;
        });
        return new InterruptibleIterator<>(task, whole);
    }

    private Iterator<Tuple2<BlockId, InputStream>> streams() {
        SparkConf conf = env.conf();
        SerializerManager streams = env.serializerManager();
        package$ names = package$.MODULE$;
        return new ShuffleBlockFetcherIterator(
                        task,
                        client,
                        env.blockManager(),
                        env.mapOutputTracker(),
                        source.blocks().iterator(),
                        streams::wrapStream,
                        (long) conf.get(names.REDUCER_MAX_SIZE_IN_FLIGHT()) << 20, // MiB
                        (int) conf.get(names.REDUCER_MAX_REQS_IN_FLIGHT()),
                        (int) conf.get(names.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
                        (long) conf.get(names.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
                        (int) conf.get(names.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
                        (boolean) conf.get(names.SHUFFLE_DETECT_CORRUPT()),
                        (boolean) conf.get(names.SHUFFLE_DETECT_CORRUPT_MEMORY()),
                        (boolean) conf.get(names.SHUFFLE_CHECKSUM_ENABLED()),
                        conf.get(names.SHUFFLE_CHECKSUM_ALGORITHM()),
                        metrics,
                        source.isWhole() && canBeFetchedWhole(conf),
                        new SystemClock())
                .toCompletionIterator();
    }

    /// Returns whether blocks of successive partitions are one stream, which they are only when serialised,
    /// compressed and encrypted parts can follow each other in it.
    private boolean canBeFetchedWhole(SparkConf conf) {
        package$ names = package$.MODULE$;
        boolean isCompressed = (boolean) conf.get(names.SHUFFLE_COMPRESS());
        CompressionCodec codec = CompressionCodec$.MODULE$.createCodec(conf);
        return dependency.serializer().supportsRelocationOfSerializedObjects()
                && (!isCompressed || CompressionCodec$.MODULE$.supportsConcatenationOfSerializedStreams(codec))
                && !(boolean) conf.get(names.SHUFFLE_USE_OLD_FETCH_PROTOCOL())
                && !(boolean) conf.get(names.IO_ENCRYPTION_ENABLED());
    }

    /// Records combined and in order, as the dependency wants them.
    @SuppressWarnings({"unchecked", "rawtypes"}) // what the values are, only the dependency knows
    private Iterator<Product2<K, C>> combined() {
        Aggregator<K, ?, C> ofValues = dependency.aggregator().getOrElse(() -> null);
        Aggregator<K, Object, C> aggregator =
                (Aggregator) (ofValues != null && dependency.mapSideCombine() ? merging(ofValues) : ofValues);
        Ordering<K> order = dependency.keyOrdering().getOrElse(() -> null);
        boolean isOneOfThem = (aggregator == null) != (order == null);
        if (!isOneOfThem || source.bytes() > RecordMemory.BYTES_MAX) {
            return combinedBySpark((Iterator) records(UnaryOperator.identity()), aggregator);
        }
        RecordMemory memory = RecordMemory.of(task);
        Iterator records = records(memory::counted);
        if (order != null) {
            Iterator<Product2<K, C>> unsorted = records;
            return FewRecords.sorted(unsorted, order, memory::fits, rest -> combinedBySpark(rest, null));
        }
        Iterator<Product2<K, Object>> values = records;
        return FewRecords.combined(
                values, aggregator, memory::fits, rest -> combinedBySpark(rest, merging(aggregator)));
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // as above
    private Iterator<Product2<K, C>> combinedBySpark(
            Iterator<? extends Product2<K, ?>> records, @Nullable Aggregator<K, ?, C> aggregator) {
        if (dependency.keyOrdering().isDefined()) {
            var sorter = new ExternalSorter(
                    task,
                    Option.apply(aggregator),
                    Option.empty(),
                    dependency.keyOrdering(),
                    dependency.serializer(),
                    new RowBasedChecksum[0]);
            return sorter.insertAllAndUpdateMetrics(records);
        }
        return (Iterator) (aggregator == null ? records : ((Aggregator) aggregator).combineValuesByKey(records, task));
    }

    /// Returns an aggregator for values that map tasks have combined already.
    private static <K, C> Aggregator<K, C, C> merging(Aggregator<K, ?, C> of) {
        return new Aggregator<>(value -> value, of.mergeCombiners(), of.mergeCombiners());
    }
}

package verbena.spark;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.spark.Partitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.scheduler.MapStatus$;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.serializer.SerializerInstance;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleMapOutputWriter;
import org.apache.spark.storage.ShuffleBlockId;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.Product2;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;
import verbena.spark.map.MapOutputs;
import verbena.spark.map.MemoryMapOutputWriter;
import verbena.spark.map.PartitionLog;

/// A writer of a map output whose partitions are few enough to have a stream each, as Spark's own writer of such
/// outputs does (`spark.shuffle.sort.bypassMergeThreshold`). That one has a file for each partition; here all
/// streams end in one [PartitionLog]. When memory is full, the output goes to Spark's files. One thread uses it.
final class UnsortedWriter<K, V> extends ShuffleWriter<K, V> {
    /// The output to write.
    ///
    /// @param home of outputs in files
    record Output(long mapId, MemoryBlockResolver home, Executor executor) {}

    private final ShuffleDependency<K, V, V> dependency;
    private final Output output;
    private final ShuffleWriteMetricsReporter metrics;
    private final SparkEnv env = SparkEnv.get();
    private final PartitionLog log;
    private final @Nullable SerializationStream[] streams;
    private long[] lengths = {};
    private @Nullable MapStatus status;

    UnsortedWriter(ShuffleDependency<K, V, V> dependency, Output output, ShuffleWriteMetricsReporter metrics) {
        this.dependency = dependency;
        this.output = output;
        this.metrics = metrics;
        int partitions = dependency.partitioner().numPartitions();
        this.streams = new SerializationStream[partitions];
        this.log = new PartitionLog(output.executor().outputs(), partitions, this::spill);
    }

    private File spill() {
        return env.blockManager().diskBlockManager().createTempShuffleBlock()._2();
    }

    @Override
    public void write(Iterator<Product2<K, V>> records) throws IOException {
        Partitioner partitioner = dependency.partitioner();
        SerializerInstance serializer = dependency.serializer().newInstance();
        ClassTag<Object> any = ClassTag$.MODULE$.Object();
        while (records.hasNext()) {
            Product2<K, V> record = records.next();
            int partition = partitioner.getPartition(record._1());
            SerializationStream stream = streams[partition];
            if (stream == null) {
                var block = new ShuffleBlockId(dependency.shuffleId(), output.mapId(), partition);
                stream =
                        serializer.serializeStream(env.serializerManager().wrapStream(block, new Partition(partition)));
                streams[partition] = stream;
            }
            stream.writeKey(record._1(), any).writeValue(record._2(), any);
            metrics.incRecordsWritten(1);
        }
        for (int i = 0; i < streams.length; i++) {
            SerializationStream stream = streams[i];
            if (stream != null) {
                stream.close();
                streams[i] = null;
            }
        }
        commit();
    }

    private void commit() throws IOException {
        long begin = System.nanoTime();
        lengths = log.lengths();
        MapOutputs memory = output.executor().outputs();
        boolean isInMemory =
                log.isInMemory() && memory.add(dependency.shuffleId(), output.mapId(), lengths, log::copyTo);
        if (!isInMemory) {
            writeFiles();
        }
        output.executor().counters().output(dependency.shuffleId(), output.mapId(), lengths, isInMemory);
        log.close();
        metrics.incWriteTime(System.nanoTime() - begin);
        status = MapStatus$.MODULE$.apply(env.blockManager().shuffleServerId(), lengths, output.mapId(), 0);
    }

    private void writeFiles() throws IOException {
        ShuffleMapOutputWriter files = new LocalDiskShuffleMapOutputWriter(
                dependency.shuffleId(), output.mapId(), lengths.length, output.home(), env.conf());
        try {
            for (int i = 0; i < lengths.length; i++) {
                if (lengths[i] > 0) {
                    try (OutputStream out = files.getPartitionWriter(i).openStream()) {
                        log.copyTo(i, out);
                    }
                }
            }
            lengths = files.commitAllPartitions(new long[0]).getPartitionLengths();
        } catch (IOException | RuntimeException e) {
            MemoryMapOutputWriter.abort(files, e);
            throw e;
        }
    }

    @Override
    public Option<MapStatus> stop(boolean success) {
        if (success) {
            return Option.apply(status);
        }
        try {
            log.close();
            for (SerializationStream stream : streams) {
                if (stream != null) {
                    stream.close(); // for the memory of compression and encryption; the log keeps nothing
                }
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        return Option.empty();
    }

    @Override
    public long[] getPartitionLengths() {
        return lengths;
    }

    /// The end of a partition's bytes, which are serialised, compressed and encrypted before they come here.
    private final class Partition extends OutputStream {
        private final int number;

        private Partition(int number) {
            this.number = number;
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            long begin = System.nanoTime();
            log.append(number, from, offset, length);
            metrics.incBytesWritten(length);
            metrics.incWriteTime(System.nanoTime() - begin);
        }
    }
}

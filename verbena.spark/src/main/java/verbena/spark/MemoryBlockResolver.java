package verbena.spark;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleBlockInfo;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.apache.spark.storage.ShuffleIndexBlockId;
import org.apache.spark.util.collection.OpenHashSet;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;
import verbena.spark.device.Directory;
import verbena.spark.device.RegionBlock;
import verbena.spark.map.MapOutput;
import verbena.spark.map.MapOutputs;

/// The resolver of blocks of map outputs in memory, and in Spark's files for blocks that are there. It serves tasks
/// of this executor, peers that come by Spark's transport, and the migration of blocks from an executor that is
/// decommissioned.
final class MemoryBlockResolver extends IndexShuffleBlockResolver {
    private final Supplier<Executor> executor;

    MemoryBlockResolver(SparkConf conf, ConcurrentMap<Object, OpenHashSet<Object>> tasks, Supplier<Executor> executor) {
        super(conf, null, tasks);
        this.executor = executor;
    }

    private MapOutputs outputs() {
        return executor.get().outputs();
    }

    @Override
    public ManagedBuffer getBlockData(BlockId block, Option<String[]> dirs) {
        RegionBlock data = dirs.isDefined() ? null : inMemory(block);
        if (data != null) {
            return data;
        }
        if (block instanceof ShuffleBlockId wanted && wanted.shuffleId() == Directory.SHUFFLE) {
            return new NioManagedBuffer(ByteBuffer.wrap(executor.get().directory()));
        }
        return super.getBlockData(block, dirs);
    }

    private @Nullable RegionBlock inMemory(BlockId block) {
        return switch (block) {
            case ShuffleBlockId one -> {
                MapOutput output = outputs().find(one.shuffleId(), one.mapId());
                yield output == null ? null : output.block(one.reduceId(), one.reduceId() + 1);
            }
            case ShuffleBlockBatchId batch -> {
                MapOutput output = outputs().find(batch.shuffleId(), batch.mapId());
                yield output == null ? null : output.block(batch.startReduceId(), batch.endReduceId());
            }
            default -> null;
        };
    }

    @Override
    public void removeDataByMap(int shuffleId, long mapId) {
        outputs().remove(shuffleId, mapId);
        super.removeDataByMap(shuffleId, mapId);
    }

    // ---- decommissioning

    @Override
    public scala.collection.immutable.Seq<ShuffleBlockInfo> getStoredShuffles() {
        List<ShuffleBlockInfo> stored = new ArrayList<>(CollectionConverters.asJava(super.getStoredShuffles()));
        outputs().entries().forEach(entry -> stored.add(new ShuffleBlockInfo(entry.shuffleId(), entry.mapId())));
        return CollectionConverters.asScala(stored).toSeq();
    }

    @Override
    public scala.collection.immutable.List<Tuple2<BlockId, ManagedBuffer>> getMigrationBlocks(
            ShuffleBlockInfo shuffle) {
        int shuffleId = shuffle.shuffleId();
        long mapId = shuffle.mapId();
        MapOutput output = outputs().find(shuffleId, mapId);
        if (output == null) {
            return super.getMigrationBlocks(shuffle);
        }
        List<Tuple2<BlockId, ManagedBuffer>> blocks = List.of(
                new Tuple2<>(new ShuffleIndexBlockId(shuffleId, mapId, NOOP_REDUCE_ID()), output.index()),
                new Tuple2<>(
                        new ShuffleDataBlockId(shuffleId, mapId, NOOP_REDUCE_ID()),
                        output.block(0, output.entry().partitions())));
        return CollectionConverters.asScala(blocks).toList();
    }
}

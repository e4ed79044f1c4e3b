package verbena.spark.read;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.jspecify.annotations.Nullable;
import verbena.spark.device.Door;
import verbena.spark.device.ReadCounters;

/// A client that fetches blocks of other executors by READ. It uses Spark's own client where no READ is possible:
/// without a common device, from files, or when READs fail. Spark's iterator calls it in place of that client, so
/// limits, metrics, retries and `FetchFailedException` are Spark's. Any thread may use it.
public final class ReadingBlockClient extends BlockStoreClient {
    private static final int THREADS_MIN = 4;

    private final RemoteExecutor.Home home;
    private final List<Door> doors;
    private final ReadCounters counters;
    private final Map<String, RemoteExecutor> peers = new ConcurrentHashMap<>();
    private final ThreadPoolExecutor threads;

    public ReadingBlockClient(RemoteExecutor.Home home, List<Door> doors, ReadCounters counters) {
        this.home = home;
        this.doors = doors;
        this.counters = counters;
        int count = Math.max(THREADS_MIN, 2 * Runtime.getRuntime().availableProcessors());
        this.threads = new ThreadPoolExecutor(count, count, 30, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
            Thread thread =
                    Thread.ofPlatform().daemon().name("verbena-spark-read").unstarted(work);
            thread.setContextClassLoader(ReadingBlockClient.class.getClassLoader());
            return thread;
        });
        threads.allowCoreThreadTimeOut(true);
    }

    @Override
    public void fetchBlocks(
            String host,
            int port,
            String executor,
            String[] blocks,
            BlockFetchingListener listener,
            @Nullable DownloadFileManager files) {
        if (doors.isEmpty() || files != null) { // what is too large for memory goes to a file
            transport(host, port, executor, blocks, listener, files);
            return;
        }
        RemoteExecutor peer = peers.computeIfAbsent(
                executor + "@" + host + ":" + port,
                name -> new RemoteExecutor(home, host, port, executor, doors, counters));
        List<String> wanted = Arrays.asList(blocks);
        BlockReading begun = peer.begin(wanted, listener);
        Consumer<List<String>> leave = left -> {
            if (!left.isEmpty()) {
                transport(host, port, executor, left.toArray(String[]::new), listener, null);
            }
        };
        if (begun != null && begun.isOver()) {
            leave.accept(begun.left());
            return;
        }
        try {
            threads.execute(
                    () -> leave.accept(begun == null ? peer.read(wanted, listener) : peer.finish(begun, listener)));
        } catch (RejectedExecutionException e) {
            Arrays.stream(blocks).forEach(block -> listener.onBlockFetchFailure(block, e));
        }
    }

    private void transport(
            String host,
            int port,
            String executor,
            String[] blocks,
            BlockFetchingListener listener,
            @Nullable DownloadFileManager files) {
        home.transport().fetchBlocks(host, port, executor, blocks, new Counting(listener, counters), files);
    }

    private record Counting(BlockFetchingListener listener, ReadCounters counters) implements BlockFetchingListener {
        @Override
        public void onBlockFetchSuccess(String block, ManagedBuffer data) {
            counters.blocksByTransport.increment();
            counters.bytesByTransport.add(data.size());
            listener.onBlockFetchSuccess(block, data);
        }

        @Override
        public void onBlockFetchFailure(String block, Throwable cause) {
            listener.onBlockFetchFailure(block, cause);
        }
    }

    @Override
    public Cause diagnoseCorruption(
            String host,
            int port,
            String executor,
            int shuffleId,
            long mapId,
            int reduceId,
            long checksum,
            String algorithm) {
        return home.transport()
                .diagnoseCorruption(host, port, executor, shuffleId, mapId, reduceId, checksum, algorithm);
    }

    /// Forgets where the outputs of a shuffle are.
    public void forget(int shuffleId) {
        peers.values().forEach(peer -> peer.forget(shuffleId));
    }

    @Override
    public void close() {
        threads.shutdownNow();
        peers.values().forEach(RemoteExecutor::close);
    }
}

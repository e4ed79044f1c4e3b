package verbena.spark.read;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import verbena.spark.device.Directory;
import verbena.spark.device.Door;
import verbena.spark.device.Door.Way;
import verbena.spark.device.ReadCounters;
import verbena.verbs.QpState;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;

/// Another executor, whose map outputs this one reads. Any thread may use it.
public final class RemoteExecutor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteExecutor.class);
    private static final long DIRECTORY_SECONDS = 120;
    /// The time for which blocks go by Spark's transport after a failure to connect.
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(10);

    /// The host and transport of this executor.
    ///
    /// @param host its address, as Spark has it
    /// @param transport Spark's own client
    public record Home(String host, BlockStoreClient transport) {}

    private final Home home;
    private final String host;
    private final int port;
    private final String executor;
    private final String name;
    private final List<Door> doors;
    private final ReadCounters counters;
    private final KnownOutputs outputs = new KnownOutputs();

    // Guarded by this; `way` may be read without.
    private @Nullable Directory directory;
    private volatile @Nullable Way way;
    private boolean hasFailed;
    private long failedNanos;
    private boolean closed;

    RemoteExecutor(Home home, String host, int port, String executor, List<Door> doors, ReadCounters counters) {
        this.home = home;
        this.host = host;
        this.port = port;
        this.executor = executor;
        this.name = "executor " + executor + " at " + host + ":" + port;
        this.doors = doors;
        this.counters = counters;
    }

    /// Begins to read blocks in the caller's thread, without waiting.
    ///
    /// @return what was begun, and may be over; null when there is something to find first, or much to read
    @Nullable
    BlockReading begin(List<String> blocks, BlockFetchingListener listener) {
        Way known = way;
        if (known == null || known.connection().queuePair().state() == QpState.ERR) {
            return null;
        }
        var reading = new BlockReading(name, outputs, known, counters, blocks, listener);
        try {
            go(reading, reading::begin);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // the task is killed, and its blocks go by Spark's transport
        }
        return reading.isBegun() ? reading : null;
    }

    /// Goes on with what was begun.
    ///
    /// @return the blocks that it could not read
    List<String> finish(BlockReading begun, BlockFetchingListener listener) {
        try {
            go(begun, begun::read);
            return begun.left();
        } catch (InterruptedException e) { // this executor ends
            begun.left().forEach(block -> listener.onBlockFetchFailure(block, e));
            return List.of();
        }
    }

    /// Reads blocks, and gives those that it could read to the listener.
    ///
    /// @return those that it could not read
    List<String> read(List<String> blocks, BlockFetchingListener listener) {
        try {
            Way through = way();
            return through == null
                    ? blocks
                    : finish(new BlockReading(name, outputs, through, counters, blocks, listener), listener);
        } catch (RuntimeException e) { // a mistake, too: Spark waits for an answer
            synchronized (this) {
                hasFailed = true;
                failedNanos = System.nanoTime();
            }
            counters.failures.increment();
            LOG.warn("{}: no connection, so blocks go by Spark's transport: {}", this, e.toString());
            return blocks;
        } catch (IOException e) { // its block service does not answer, so neither will it for the blocks
            blocks.forEach(block -> listener.onBlockFetchFailure(block, e));
            return List.of();
        } catch (InterruptedException e) { // this executor ends
            blocks.forEach(block -> listener.onBlockFetchFailure(block, e));
            return List.of();
        }
    }

    private interface Step {
        void take() throws InterruptedException;
    }

    /// Runs a step of reading. When a step fails, the connection ends, and the remaining blocks go by Spark's
    /// transport.
    private void go(BlockReading reading, Step step) throws InterruptedException {
        boolean done = false;
        try {
            step.take();
            done = true;
        } catch (RuntimeException | OutOfMemoryError e) {
            fail(reading.way(), reading.left().size() + " blocks go by Spark's transport: " + e);
        } finally {
            if (!done) {
                reading.way().connection().close(); // before the memory of its READs is used again
            }
            if (!done || reading.isOver()) {
                reading.close();
            }
        }
    }

    /// Returns the nearest connection that both ends have; null when there is none.
    private synchronized @Nullable Way way() throws IOException, InterruptedException {
        Way known = way;
        if (known != null && known.connection().queuePair().state() != QpState.ERR) {
            return known;
        }
        if (known != null) {
            known.connection().close();
            way = null;
        }
        if (closed || isResting()) {
            return null;
        }
        hasFailed = false;
        Directory of = directory;
        if (of == null) {
            of = fetchDirectory();
            directory = of;
        }
        way = connect(of);
        return way;
    }

    private synchronized boolean isResting() {
        return hasFailed && System.nanoTime() - failedNanos < REST_NANOS;
    }

    private @Nullable Way connect(Directory of) throws InterruptedException {
        VerbsException failure = null;
        for (Directory.Entrance entrance : of.doors()) {
            for (Door door : doors) {
                if (door.fits(entrance) && (!door.isOfHost() || host.equals(home.host()))) {
                    try {
                        Connection connection = door.connect(entrance, of.secret());
                        counters.connections.increment();
                        LOG.info("{} is read by way of {}", this, door);
                        return new Way(door, entrance, connection);
                    } catch (VerbsException e) {
                        LOG.debug("{}: not by way of {}: {}", this, door, e.getMessage());
                        failure = e;
                    }
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
        return null;
    }

    private Directory fetchDirectory() throws IOException, InterruptedException {
        var answer = new CompletableFuture<Directory>();
        home.transport()
                .fetchBlocks(
                        host,
                        port,
                        executor,
                        new String[] {Directory.BLOCK},
                        new BlockFetchingListener() {
                            @Override
                            public void onBlockFetchSuccess(String block, ManagedBuffer data) {
                                try (InputStream bytes = data.createInputStream()) {
                                    answer.complete(Directory.read(bytes));
                                } catch (IOException e) {
                                    answer.completeExceptionally(e);
                                }
                            }

                            @Override
                            public void onBlockFetchFailure(String block, Throwable cause) {
                                answer.completeExceptionally(cause);
                            }
                        },
                        null);
        try {
            return answer.get(DIRECTORY_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new IOException(this + ": does not say where its map outputs are: " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new IOException(this + ": has not said in " + DIRECTORY_SECONDS + " s where its map outputs are", e);
        }
    }

    /// Ends a way on which a READ failed. The next reader makes another.
    private void fail(Way failed, String why) {
        counters.failures.increment();
        LOG.warn("{}: a READ failed, and {}", this, why);
        synchronized (this) {
            if (way == failed) {
                way = null;
            }
        }
        outputs.clear();
    }

    void forget(int shuffleId) {
        outputs.forget(shuffleId);
    }

    @Override
    public synchronized void close() {
        closed = true;
        Way known = way;
        if (known != null) {
            known.connection().close();
        }
    }

    @Override
    public String toString() {
        return name;
    }
}

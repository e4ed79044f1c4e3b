package verbena.spark;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import verbena.spark.device.Directory;
import verbena.spark.device.Door;
import verbena.spark.device.ReadCounters;
import verbena.spark.device.Settings;
import verbena.spark.map.MapOutputs;
import verbena.spark.read.ReadingBlockClient;
import verbena.spark.read.RemoteExecutor;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Secret;
import verbena.verbs.counting.ProcessCounters;

/// The objects of an executor for its shuffles: doors, map outputs, and a client that reads the outputs of others.
/// Made when the first task needs it. Any thread may use it.
final class Executor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Executor.class);
    private static final int SECRET_BYTES = 32;

    private static final ProcessCounters SUMS = ProcessCounters.of("Spark");

    private final ReadCounters counters = new ReadCounters();
    private final List<Door> doors;
    private final MapOutputs outputs;
    private final ReadingBlockClient client;
    private final byte[] directory;

    private Executor(List<Door> doors, MapOutputs outputs, RemoteExecutor.Home home, Directory directory) {
        this.doors = doors;
        this.outputs = outputs;
        this.client = new ReadingBlockClient(home, doors, counters);
        this.directory = directory.bytes();
        SUMS.add(counters);
    }

    /// Opens what this process has. Without a device it works too, and all blocks go Spark's way.
    static Executor open(Settings settings, SparkEnv env) {
        byte[] bytes = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(bytes);
        Secret secret = Secret.of(bytes);
        String host = env.blockManager().blockManagerId().host();
        List<Door> doors = List.of();
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try {
            thread.setContextClassLoader(Executor.class.getClassLoader()); // where the providers of devices are
            if (!env.executorId().equals("driver")) { // it runs tasks only where all blocks are local
                doors = Door.open(settings, InetAddress.getByName(host), secret);
            }
            return of(doors, settings, env, host, secret);
        } catch (UnknownHostException | VerbsException e) {
            LOG.warn("no device, so all blocks go by Spark's own transport: {}", e.getMessage());
            doors.forEach(Door::close);
            return of(List.of(), settings, env, host, secret);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static Executor of(List<Door> doors, Settings settings, SparkEnv env, String host, Secret secret) {
        var outputs = new MapOutputs(doors, settings);
        var directory = new Directory(secret, outputs.entrances());
        LOG.info("map outputs up to {} bytes in memory, read by way of {}", settings.memoryBytes(), doors);
        return new Executor(
                doors, outputs, new RemoteExecutor.Home(host, env.blockManager().blockStoreClient()), directory);
    }

    MapOutputs outputs() {
        return outputs;
    }

    ReadingBlockClient client() {
        return client;
    }

    ReadCounters counters() {
        return counters;
    }

    /// Returns the block [Directory#BLOCK].
    byte[] directory() {
        return directory.clone();
    }

    @Override
    public void close() {
        LOG.info("shuffle of this executor: {}", counters.counters());
        client.close();
        outputs.close();
        doors.forEach(Door::close);
        SUMS.remove(counters);
    }
}

package verbena.spark.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.spark.device.Directory;
import verbena.spark.device.Door;
import verbena.spark.device.ReadCounters;
import verbena.spark.device.Settings;
import verbena.spark.map.MapOutput;
import verbena.spark.map.MapOutputs;
import verbena.verbs.cm.Secret;

/// An executor that has map outputs and one that reads them, in this process, over loopback.
class ReadingBlockClientTest {
    private static final String HOST = "127.0.0.1";
    private static final Secret SECRET = Secret.of("a secret of this test".getBytes(StandardCharsets.UTF_8));

    private final List<AutoCloseable> open = new ArrayList<>();
    private final ReadCounters counters = new ReadCounters();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    /// What Spark's own client does here: it knows the directory, and has every other block as text.
    private static final class Transport extends BlockStoreClient {
        private Directory directory = new Directory(SECRET, List.of());

        @Override
        public void fetchBlocks(
                String host,
                int port,
                String executor,
                String[] blocks,
                BlockFetchingListener listener,
                @Nullable DownloadFileManager files) {
            for (String block : blocks) {
                byte[] bytes = block.equals(Directory.BLOCK)
                        ? directory.bytes()
                        : ("transport " + block).getBytes(StandardCharsets.UTF_8);
                listener.onBlockFetchSuccess(block, new NioManagedBuffer(ByteBuffer.wrap(bytes)));
            }
        }

        @Override
        public void close() {}
    }

    private final class Pair {
        private final Settings settings;
        private final MapOutputs outputs;
        private final Transport transport = new Transport();
        private final ReadingBlockClient client;

        private Pair(String devices, String memory) throws IOException {
            settings = Settings.of(new SparkConf(false)
                    .set(Settings.DEVICES, devices)
                    .set(Settings.MEMORY, memory)
                    .set(Settings.PROOF, String.valueOf(!devices.equals("iwarp"))));
            InetAddress host = InetAddress.ofLiteral(HOST);
            List<Door> theirs = Door.open(settings, host, SECRET);
            List<Door> ours = Door.open(settings, host, SECRET);
            assertThat(theirs).hasSize(settings.devices().size());
            open.addAll(theirs);
            open.addAll(ours);
            outputs = new MapOutputs(theirs, settings);
            open.add(outputs);
            transport.directory = new Directory(SECRET, outputs.entrances());
            client = new ReadingBlockClient(new RemoteExecutor.Home(HOST, transport), ours, counters);
            open.add(client);
        }

        private boolean add(int shuffle, long map, String... partitions) throws IOException {
            long[] lengths =
                    Stream.of(partitions).mapToLong(text -> bytes(text).length).toArray();
            byte[] all = bytes(String.join("", partitions));
            return outputs.add(
                    shuffle,
                    map,
                    lengths,
                    data -> MemorySegment.copy(MemorySegment.ofArray(all), 0, data, 0, all.length));
        }

        private Map<String, String> fetch(String... blocks) throws InterruptedException {
            Map<String, String> got = new ConcurrentHashMap<>();
            var left = new CountDownLatch(blocks.length);
            client.fetchBlocks(
                    HOST,
                    1,
                    "1",
                    blocks,
                    new BlockFetchingListener() {
                        @Override
                        public void onBlockFetchSuccess(String block, ManagedBuffer data) {
                            data.retain();
                            try (InputStream bytes = data.createInputStream()) {
                                got.put(block, new String(bytes.readAllBytes(), StandardCharsets.UTF_8));
                            } catch (IOException e) {
                                got.put(block, e.toString());
                            }
                            data.release();
                            left.countDown();
                        }

                        @Override
                        public void onBlockFetchFailure(String block, Throwable cause) {
                            got.put(block, cause.toString());
                            left.countDown();
                        }
                    },
                    null);
            assertThat(left.await(60, TimeUnit.SECONDS)).as("all blocks came").isTrue();
            return got;
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "rocev2", "iwarp", "rocev2,faults=loss:5%,seed:7"})
    void blocksComeByRead(String device) throws Exception {
        Pair pair = new Pair(device, "64m");
        String large = "0123456789".repeat(300_000);
        pair.add(0, 7, "zero", "", large, "three");
        pair.add(0, 8, "other");
        Map<String, String> got =
                pair.fetch("shuffle_0_7_0", "shuffle_0_7_2", "shuffle_0_8_0", "shuffle_0_7_3", "shuffle_0_7_0_2");
        assertThat(got)
                .containsEntry("shuffle_0_7_0", "zero")
                .containsEntry("shuffle_0_7_2", large)
                .containsEntry("shuffle_0_7_3", "three")
                .containsEntry("shuffle_0_8_0", "other")
                .containsEntry("shuffle_0_7_0_2", "zero");
        assertThat(counters.blocksByRead.sum()).isEqualTo(5);
        assertThat(counters.bytesByRead.sum()).isEqualTo(large.length() + 4 + 4 + 5 + 5);
        assertThat(counters.blocksByTransport.sum()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "rocev2"})
    void manySmallBlocksComeByReadToo(String device) throws Exception {
        Pair pair = new Pair(device, "64m");
        String[] blocks = IntStream.range(0, 200)
                .mapToObj(map -> "shuffle_3_" + map + "_" + map % 20)
                .toArray(String[]::new);
        for (int map = 0; map < 200; map++) {
            int number = map;
            pair.add(
                    3,
                    map,
                    IntStream.range(0, 20).mapToObj(i -> number + "/" + i).toArray(String[]::new));
        }
        Map<String, String> got = pair.fetch(blocks);
        for (int map = 0; map < 200; map++) {
            assertThat(got).containsEntry(blocks[map], map + "/" + map % 20);
        }
        assertThat(counters.blocksByRead.sum()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "rocev2"})
    void whatIsNotInMemoryComesBySparksTransport(String device) throws Exception {
        Pair pair = new Pair(device, "64m");
        pair.add(0, 1, "here");
        Map<String, String> got = pair.fetch("shuffle_0_1_0", "shuffle_0_2_0", "rdd_1_1");
        assertThat(got)
                .containsEntry("shuffle_0_1_0", "here")
                .containsEntry("shuffle_0_2_0", "transport shuffle_0_2_0")
                .containsEntry("rdd_1_1", "transport rdd_1_1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "rocev2"})
    void aKeyThatWasWithdrawnIsRefusedAndTheNextReadsGoOn(String device) throws Exception {
        Pair pair = new Pair(device, "64m");
        pair.add(0, 1, "here");
        pair.add(1, 1, "there");
        assertThat(pair.fetch("shuffle_0_1_0")).containsEntry("shuffle_0_1_0", "here");
        pair.outputs.remove(0, 1); // the reader still has the slot
        assertThat(pair.fetch("shuffle_0_1_0", "shuffle_1_1_0"))
                .containsEntry("shuffle_0_1_0", "transport shuffle_0_1_0");
        assertThat(counters.failures.sum()).isEqualTo(1);
        assertThat(pair.fetch("shuffle_1_1_0")).containsEntry("shuffle_1_1_0", "there");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "rocev2"})
    void whatIsKnownIsReadInTheCallersThreadUntilThatFails(String device) throws Exception {
        Pair pair = new Pair(device, "64m");
        pair.add(0, 1, "here", "there");
        assertThat(pair.fetch("shuffle_0_1_0")).containsEntry("shuffle_0_1_0", "here");
        for (int i = 0; i < 10; i++) {
            assertThat(pair.fetch("shuffle_0_1_1", "shuffle_0_1_0"))
                    .containsEntry("shuffle_0_1_0", "here")
                    .containsEntry("shuffle_0_1_1", "there");
        }
        assertThat(counters.blocksByRead.sum()).isEqualTo(21);
        pair.outputs.remove(0, 1);
        assertThat(pair.fetch("shuffle_0_1_1", "shuffle_0_1_0"))
                .containsEntry("shuffle_0_1_0", "transport shuffle_0_1_0")
                .containsEntry("shuffle_0_1_1", "transport shuffle_0_1_1");
        assertThat(counters.failures.sum()).isEqualTo(1);
    }

    @Test
    void blocksOfAKnownOutputWithinTheHostAreThereWhenTheCallReturns() throws Exception {
        Pair pair = new Pair("shm", "64m");
        pair.add(0, 1, "here");
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 100 && !threads.contains(Thread.currentThread()); i++) {
            var left = new CountDownLatch(1);
            pair.client.fetchBlocks(
                    HOST,
                    1,
                    "1",
                    new String[] {"shuffle_0_1_0"},
                    new BlockFetchingListener() {
                        @Override
                        public void onBlockFetchSuccess(String block, ManagedBuffer data) {
                            threads.add(Thread.currentThread());
                            left.countDown();
                        }

                        @Override
                        public void onBlockFetchFailure(String block, Throwable cause) {}
                    },
                    null);
            assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(threads).contains(Thread.currentThread());
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "rocev2"})
    void anExecutorWithAnotherSecretReadsNothing(String device) throws Exception {
        Pair pair = new Pair(device, "64m");
        pair.add(0, 1, "here");
        Secret guess = Secret.of("another secret, no better".getBytes(StandardCharsets.UTF_8));
        pair.transport.directory = new Directory(guess, pair.outputs.entrances());
        assertThat(pair.fetch("shuffle_0_1_0")).containsEntry("shuffle_0_1_0", "transport shuffle_0_1_0");
        assertThat(counters.blocksByRead.sum()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "rocev2"})
    void anOutputThatIsReadHereStaysUntilItIsReleased(String device) throws Exception {
        Pair pair = new Pair(device, "64m");
        pair.add(0, 1, "here");
        MapOutput output = Objects.requireNonNull(pair.outputs.find(0, 1));
        ManagedBuffer block = output.block(0, 1).retain();
        pair.outputs.remove(0, 1);
        pair.add(0, 2, "else");
        try (InputStream data = block.createInputStream()) {
            assertThat(new String(data.readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("here");
        }
        block.release();
    }

    @Test
    void aBlockThatIsReleasedUnsentTakesNothingFromItsOutput() throws Exception {
        Pair pair = new Pair("shm", "64m");
        pair.add(0, 1, "here");
        MapOutput output = Objects.requireNonNull(pair.outputs.find(0, 1));
        for (int i = 0; i < 3; i++) {
            ManagedBuffer _ = output.block(0, 1).release(); // as Spark's server does when a reader has gone
        }
        assertThat(pair.fetch("shuffle_0_1_0")).containsEntry("shuffle_0_1_0", "here");
        ManagedBuffer held = output.block(0, 1).retain();
        ManagedBuffer _ = held.release().release();
        assertThat(pair.fetch("shuffle_0_1_0")).containsEntry("shuffle_0_1_0", "here");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, OutputIndexes.PARTITIONS_MAX, OutputIndexes.PARTITIONS_MAX + 1})
    void anIndexOfAnyLengthLeadsToItsBlocks(int partitions) throws Exception {
        Pair pair = new Pair("shm", "64m");
        String[] texts =
                IntStream.range(0, partitions).mapToObj(i -> "<" + i + ">").toArray(String[]::new);
        pair.add(0, 1, texts);
        String last = "shuffle_0_1_" + (partitions - 1);
        for (int i = 0; i < 2; i++) { // it may be known the second time
            assertThat(pair.fetch("shuffle_0_1_0", last, "shuffle_0_1_0_" + partitions))
                    .containsEntry("shuffle_0_1_0", texts[0])
                    .containsEntry(last, texts[partitions - 1])
                    .containsEntry("shuffle_0_1_0_" + partitions, String.join("", texts));
        }
    }

    @Test
    void aMistakeWhileReadingIsAnswered() throws Exception {
        Pair pair = new Pair("shm", "64m");
        pair.add(0, 1, "here");
        pair.transport.directory = new Directory(
                SECRET,
                pair.outputs.entrances().stream()
                        .map(door -> new Directory.Entrance(
                                door.kind(), door.isProven(), 0, "no address", door.port(), door.table()))
                        .toList());
        assertThat(pair.fetch("shuffle_0_1_0")).containsEntry("shuffle_0_1_0", "transport shuffle_0_1_0");
        assertThat(counters.failures.sum()).isEqualTo(1);
    }

    @Test
    void iwarpHasTheSecretProvenToo() throws Exception {
        Pair pair = new Pair("iwarp", "64m");
        assertThat(pair.outputs.entrances()).singleElement().matches(Directory.Entrance::isProven);
        pair.add(0, 1, "here");
        assertThat(pair.fetch("shuffle_0_1_0")).containsEntry("shuffle_0_1_0", "here");
    }

    @Test
    void whatHasToBeEncryptedStaysWithinTheHost() throws Exception {
        Settings settings = Settings.of(
                new SparkConf(false).set(Settings.DEVICES, "shm;rocev2").set("spark.network.crypto.enabled", "true"));
        List<Door> doors = Door.open(settings, InetAddress.ofLiteral(HOST), SECRET);
        open.addAll(doors);
        assertThat(doors).singleElement().matches(Door::isOfHost);
    }

    @ParameterizedTest
    @ValueSource(strings = "shm;rocev2")
    void theNearestDeviceIsTaken(String devices) throws Exception {
        Pair pair = new Pair(devices, "64m");
        pair.add(0, 1, "here");
        assertThat(pair.fetch("shuffle_0_1_0")).containsEntry("shuffle_0_1_0", "here");
        assertThat(counters.bytesWithinHost.sum()).isEqualTo(4);
        pair.transport.directory = new Directory(
                SECRET,
                pair.outputs.entrances().stream()
                        .filter(door -> !door.kind().equals("host"))
                        .toList());
        pair.client.close();
        var far = new ReadingBlockClient(
                new RemoteExecutor.Home(HOST, pair.transport),
                Door.open(pair.settings, InetAddress.ofLiteral(HOST), SECRET),
                counters);
        open.add(far);
        var left = new CountDownLatch(1);
        far.fetchBlocks(HOST, 1, "1", new String[] {"shuffle_0_1_0"}, counting(left), null);
        assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(counters.bytesByRead.sum()).isEqualTo(8);
        assertThat(counters.bytesWithinHost.sum()).isEqualTo(4);
    }

    private static BlockFetchingListener counting(CountDownLatch left) {
        return new BlockFetchingListener() {
            @Override
            public void onBlockFetchSuccess(String block, ManagedBuffer data) {
                left.countDown();
            }

            @Override
            public void onBlockFetchFailure(String block, Throwable cause) {}
        };
    }

    @Test
    void shortOutputsOfAShuffleShareAKeyThatEndsWithTheLast() throws Exception {
        Pair pair = new Pair("shm", "64m");
        for (int map = 0; map < 3; map++) {
            pair.add(0, map, "of 0");
        }
        pair.add(1, 0, "of 1");
        pair.add(0, 3, "x".repeat(3 << 20));
        int shared = key(pair, 0, 0);
        assertThat(List.of(key(pair, 0, 1), key(pair, 0, 2))).containsOnly(shared);
        assertThat(key(pair, 1, 0)).isNotEqualTo(shared);
        assertThat(key(pair, 0, 3)).as("of a long output").isNotEqualTo(shared);
        pair.outputs.remove(0, 0);
        pair.outputs.remove(0, 2);
        assertThat(pair.fetch("shuffle_0_0_0", "shuffle_0_1_0"))
                .containsEntry("shuffle_0_0_0", "transport shuffle_0_0_0")
                .containsEntry("shuffle_0_1_0", "of 0");
        long before = pair.outputs.usedBytes();
        pair.outputs.remove(0, 1);
        assertThat(pair.outputs.usedBytes()).isLessThan(before);
        assertThat(pair.fetch("shuffle_0_1_0")).containsEntry("shuffle_0_1_0", "transport shuffle_0_1_0");
        pair.add(0, 1, "again");
        assertThat(key(pair, 0, 1)).isNotEqualTo(shared);
    }

    @Test
    void theFlightRecorderHasEachRequestAndEachOutput(@TempDir Path folder) throws Exception {
        Pair pair = new Pair("shm", "64m");
        pair.add(0, 1, "here");
        Path file = folder.resolve("flight.jfr");
        try (var recording = new Recording()) {
            recording.start();
            counters.output(0, 1, new long[] {4, 5}, true);
            pair.fetch("shuffle_0_1_0", "shuffle_0_2_0"); // the other comes by Spark's transport, after the event
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        assertThat(events)
                .filteredOn(event -> event.getEventType().getName().equals("verbena.spark.Read"))
                .singleElement()
                .satisfies(read -> {
                    assertThat(read.getString("executor")).isEqualTo("executor 1 at " + HOST + ":1");
                    assertThat(read.getString("device")).startsWith("shm");
                    assertThat(read.getInt("blocks")).isEqualTo(1);
                    assertThat(read.getLong("bytes")).isEqualTo(4);
                    assertThat(read.getInt("left")).isEqualTo(1);
                    assertThat(read.getDuration()).isPositive();
                });
        assertThat(events)
                .filteredOn(event -> event.getEventType().getName().equals("verbena.spark.MapOutput"))
                .singleElement()
                .satisfies(output -> {
                    assertThat(output.getLong("mapId")).isEqualTo(1);
                    assertThat(output.getLong("bytes")).isEqualTo(9);
                    assertThat(output.getBoolean("inMemory")).isTrue();
                });
    }

    private static int key(Pair of, int shuffle, long map) {
        return Objects.requireNonNull(of.outputs.find(shuffle, map))
                .entry()
                .at(0)
                .rkey();
    }

    @ParameterizedTest
    @ValueSource(strings = "shm")
    void memoryHasALimit(String device) throws Exception {
        Pair pair = new Pair(device, "100k");
        String[] half = {"x".repeat(45_000)};
        assertThat(pair.add(0, 1, half)).isTrue();
        assertThat(pair.add(0, 2, half)).isTrue();
        assertThat(pair.add(0, 3, half)).isFalse();
        pair.outputs.remove(0, 1);
        assertThat(pair.add(0, 3, half)).isTrue();
        pair.outputs.remove(0, 2);
        pair.outputs.remove(0, 3);
        assertThat(pair.outputs.usedBytes()).isZero();
    }
}

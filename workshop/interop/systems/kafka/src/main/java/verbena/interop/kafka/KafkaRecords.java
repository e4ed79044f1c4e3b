package verbena.interop.kafka;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SequencedMap;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;
import verbena.interop.Times;

/// A Kafka broker that is its own controller (KRaft), a producer and a consumer.
public final class KafkaRecords implements SystemUnderTest {
    private static final String TOPIC = "records";
    private static final int NODE = 1;
    private static final int PARTITIONS = 2;
    private static final int VALUE = 100;
    private static final long PATIENCE_SECONDS = 60;

    /// Made by its name.
    public KafkaRecords() {}

    @Override
    public Serving serve(Job job) throws Exception {
        int port = freePort();
        int controller = freePort();
        String folder = job.folder().resolve("log").toString();
        new Formatter()
                .setClusterId(Uuid.randomUuid().toString())
                .setNodeId(NODE)
                .setControllerListenerName("CONTROLLER")
                .addDirectory(folder)
                .setMetadataLogDirectory(folder)
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .run();
        var settings = new Properties();
        settings.putAll(Map.of(
                "process.roles", "broker,controller",
                "node.id", Integer.toString(NODE),
                "controller.quorum.voters", NODE + "@127.0.0.1:" + controller,
                "controller.listener.names", "CONTROLLER",
                "listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller,
                "log.dirs", folder,
                "offsets.topic.replication.factor", "1",
                "offsets.topic.num.partitions", "1",
                "group.initial.rebalance.delay.ms", "0"));
        var server = new KafkaRaftServer(KafkaConfig.fromProps(settings), Time.SYSTEM);
        server.startup();
        return new Serving(port, server::shutdown);
    }

    /// Free now: the settings of a broker name its ports before it has them.
    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        int records = job.size(5_000, 300_000);
        Map<String, Object> at = Map.of("bootstrap.servers", "127.0.0.1:" + server.getPort());
        create(at, PARTITIONS);
        produce(at, records);
        job.halfway();
        consume(at, records);
        return String.format("%,d records of 100 B written and read, each compared", records);
    }

    private static void create(Map<String, Object> at, int partitions) throws Exception {
        try (Admin admin = Admin.create(at)) {
            admin.createTopics(List.of(new NewTopic(TOPIC, partitions, (short) 1)))
                    .all()
                    .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    private static void produce(Map<String, Object> at, int records) {
        var failure = new AtomicReference<Exception>();
        try (var producer = new KafkaProducer<>(at, new LongSerializer(), new ByteArraySerializer())) {
            for (long i = 0; i < records; i++) {
                var _ = producer.send(new ProducerRecord<>(TOPIC, i, Job.pattern(VALUE, i)), (_, e) -> {
                    if (e != null) {
                        failure.set(e);
                    }
                });
            }
            producer.flush();
        }
        if (failure.get() != null) {
            throw new IllegalStateException("a record was not written", failure.get());
        }
    }

    private static void consume(Map<String, Object> at, int records) throws IOException {
        var settings = new HashMap<>(at);
        settings.put("group.id", "readers");
        settings.put("auto.offset.reset", "earliest");
        var seen = new BitSet();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        try (var consumer = new KafkaConsumer<>(settings, new LongDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(TOPIC));
            while (seen.cardinality() < records) {
                for (ConsumerRecord<Long, byte[]> each : consumer.poll(Duration.ofMillis(500))) {
                    Job.same(Job.pattern(VALUE, each.key()), each.value(), "record " + each.key());
                    seen.set(Math.toIntExact(each.key()));
                }
                if (System.nanoTime() > deadline) {
                    throw new IOException("only " + seen.cardinality() + " of " + records + " records have come");
                }
            }
        }
        Job.same(records, seen.length(), "the number of records");
    }

    /// From a producer to a consumer: many records at once, and then one at a time.
    @Override
    public SequencedMap<String, Double> measure(InetSocketAddress server, Job job) throws Exception {
        int records = job.size(20_000, 300_000);
        Map<String, Object> at = Map.of("bootstrap.servers", "127.0.0.1:" + server.getPort());
        create(at, 1);
        var found = new LinkedHashMap<String, Double>();
        var soon = new HashMap<>(at);
        soon.put("linger.ms", 0);
        var partition = new TopicPartition(TOPIC, 0);
        try (var consumer = new KafkaConsumer<>(at, new LongDeserializer(), new ByteArrayDeserializer());
                var producer = new KafkaProducer<>(soon, new LongSerializer(), new ByteArraySerializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            found.putAll(Times.rate("records of 100 B, end to end", records, job, () -> pass(at, consumer, records)));
            found.putAll(Times.measure("one record, end to end", job, () -> {
                var _ = producer.send(new ProducerRecord<>(TOPIC, 0L, Job.pattern(VALUE, 0)));
                await(consumer, 1);
            }));
        }
        return found;
    }

    private static void pass(Map<String, Object> at, Consumer<Long, byte[]> consumer, int records) throws Exception {
        var producing = new FutureTask<Void>(() -> produce(at, records), null);
        Thread.ofPlatform().daemon().start(producing);
        await(consumer, records);
        Void _ = producing.get(); // or its failure
    }

    /// Takes so many records.
    private static void await(Consumer<Long, byte[]> consumer, int records) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        for (int n = 0; n < records; n += consumer.poll(Duration.ofMillis(500)).count()) {
            if (System.nanoTime() > deadline) {
                throw new IOException("only " + n + " of " + records + " records have come");
            }
        }
    }
}

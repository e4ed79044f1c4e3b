package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.kind.PeerLog;
import verbena.verbs.AckTimeout;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Gid;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// The events that the Flight Recorder receives.
@Timeout(180)
class JfrEventsTest {
    @TempDir
    private Path folder;

    private interface Work {
        void run() throws Exception;
    }

    /// The events of Verbena while `work` runs, oldest first.
    private List<RecordedEvent> record(Work work) throws Exception {
        Path file = folder.resolve("flight.jfr");
        try (var recording = new Recording()) {
            recording.start();
            work.run();
            recording.stop();
            recording.dump(file);
        }
        return read(file);
    }

    private static List<RecordedEvent> read(Path file) throws IOException {
        var events = new ArrayList<>(RecordingFile.readAllEvents(file));
        Files.delete(file);
        events.removeIf(event -> !event.getEventType().getName().startsWith("verbena."));
        return events;
    }

    private static List<RecordedEvent> only(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals("verbena." + name))
                .toList();
    }

    @Test
    void theLifeOfADeviceAndWhatIsMadeFromIt() throws Exception {
        List<RecordedEvent> events = record(() -> {
            try (var pair = new Pair()) {
                pair.a.qp.connect(pair.b.qp.endpoint());
                pair.b.closeAll();
                pair.a.closeAll();
            }
        });

        assertThat(only(events, "DeviceOpened"))
                .extracting(event -> event.getString("device"))
                .containsExactly("wire-10.0.0.1", "wire-10.0.0.2");
        assertThat(only(events, "DeviceClosed"))
                .extracting(event -> event.getString("device"))
                .containsExactly("wire-10.0.0.2", "wire-10.0.0.1");
        assertThat(only(events, "QueuePairCreated")).hasSize(2);
        assertThat(only(events, "QueuePairClosed")).hasSize(2);
        assertThat(only(events, "QueuePairModified"))
                .extracting(event -> event.getString("from") + " " + event.getString("to") + " "
                        + event.getString("peer") + " " + event.getBoolean("byItself"))
                .containsExactly("RESET INIT  false", "INIT RTR 10.0.0.2 false", "RTR RTS 10.0.0.2 false");
        RecordedEvent memory = only(events, "MemoryRegistered").getFirst();
        assertThat(memory.getLong("bytes")).isEqualTo(Pair.MEMORY_BYTES);
        assertThat(memory.getString("access")).contains("REMOTE_WRITE");
        assertThat(only(events, "MemoryClosed"))
                .extracting(event -> event.getInt("key"))
                .contains(memory.getInt("key"));
    }

    @Test
    void whatIsSentAgainWhyAndHowItEnds() throws Exception {
        List<RecordedEvent> events = record(() -> {
            try (var pair = new Pair()) {
                pair.a.qp.connect(
                        pair.b.qp.endpoint(),
                        EndpointOptions.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(4)), 2, 0));
                pair.b.qp.connect(pair.a.qp.endpoint());
                pair.a.wire.loses = _ -> true;
                pair.a.qp.postSend(7, pair.a.memory.slice(0, 100));
                pair.a.qp.postSend(8, pair.a.memory.slice(0, 100));
                pair.settleWithin(1_000_000_000);
                assertThat(pair.a.completions()).containsExactly("7 RETRY_EXC_ERR", "8 WR_FLUSH_ERR");
            }
        });

        List<RecordedEvent> again = only(events, "Retransmission");
        assertThat(again)
                .extracting(event -> event.getString("reason") + " " + event.getInt("retriesLeft"))
                .containsExactly("ACK_TIMEOUT 1", "ACK_TIMEOUT 0");
        assertThat(again.getFirst().getString("peer")).isEqualTo("10.0.0.2");
        RecordedEvent error = only(events, "ErrorCompletion").getFirst();
        assertThat(only(events, "ErrorCompletion"))
                .as("flushed requests cause no event")
                .hasSize(1);
        assertThat(error.getLong("wrId")).isEqualTo(7);
        assertThat(error.getString("status")).isEqualTo("RETRY_EXC_ERR");
        assertThat(error.getString("operation")).isEqualTo("SEND");
        assertThat(error.getString("reason")).contains("no answer to PSN");
        RecordedEvent broken = only(events, "QueuePairModified").getLast();
        assertThat(broken.getString("to")).isEqualTo("ERR");
        assertThat(broken.getBoolean("byItself")).isTrue();
        assertThat(broken.getString("reason")).contains("wrId 7");
    }

    @Test
    void aGapThatThePeerTellsOfAndAReceiverThatIsNotReady() throws Exception {
        List<RecordedEvent> events = record(() -> {
            try (var pair = Pair.connected()) {
                int[] sent = {0};
                pair.a.wire.loses = frame -> frame.length > 100 && sent[0]++ == 0;
                pair.a.qp.postWrite(1, pair.a.memory.slice(0, 4000), pair.b.memory.remote());
                pair.a.qp.postWrite(2, pair.a.memory.slice(0, 4000), pair.b.memory.remote());
                pair.settle();
                pair.a.qp.postSend(3, pair.a.memory.slice(0, 10));
                pair.settle();
                pair.b.qp.postReceive(4, pair.b.memory.slice(0, 10));
                pair.settleWithin(1_000_000_000);
                assertThat(pair.a.completions()).containsExactly("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
            }
        });

        assertThat(only(events, "Retransmission"))
                .extracting(event -> event.getString("reason"))
                .containsExactly("SEQUENCE_NAK");
        RecordedEvent wait = only(events, "RnrNak").getFirst();
        assertThat(wait.getDuration("waitTime").toNanos()).isEqualTo(640_000);
        assertThat(wait.getInt("retriesLeft")).as("without limit").isEqualTo(Integer.MAX_VALUE);
        assertThat(only(events, "ErrorCompletion")).isEmpty();
    }

    @Test
    void anEventThatBelongsToNoRequestNamesItsSubject() throws Exception {
        List<RecordedEvent> events = record(() -> {
            try (var pair = Pair.connected()) {
                pair.a.qp.postWrite(1, pair.a.memory.slice(0, 8), new RemoteMemory(pair.b.memory.address(), 0x1234, 8));
                pair.settle();
                assertThat(pair.a.completions()).containsExactly("1 REM_ACCESS_ERR");
            }
        });

        RecordedEvent event = only(events, "AsyncEvent").getFirst();
        assertThat(event.getString("type")).isEqualTo("QP_ACCESS_ERR");
        assertThat(event.getString("device")).isEqualTo("wire-10.0.0.2");
        assertThat(event.getString("subject")).startsWith("queue pair 0x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "iwarp"})
    void connectionsThatAreMadeRefusedAndEnded(String kind) throws Exception {
        List<RecordedEvent> events = record(() -> {
            try (Context device = Device.named(kind).open();
                    var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                var own = ConnectionOptions.defaults().withDevice(device);
                var at = new InetSocketAddress(device.gid(1, 0).gid().address(), 0);
                InetSocketAddress closedPort;
                try (var listener = ConnectionListener.bind(at, own)) {
                    closedPort = listener.localAddress();
                    var accepted = threads.submit(() -> listener.accept());
                    try (var client = Connection.connect(closedPort, own);
                            var server = accepted.get()) {
                        assertThat(client.queuePair().state()).isEqualTo(QpState.RTS);
                        assertThat(server.queuePair().state()).isEqualTo(QpState.RTS);
                    }
                }
                try {
                    Connection.connect(closedPort, own).close();
                } catch (ConnectionException _) {
                    // expected: its event is checked below
                }
            }
        });

        assertThat(only(events, "ConnectionMade")).as("one for each end").hasSize(2);
        assertThat(only(events, "ConnectionMade"))
                .allSatisfy(event -> assertThat(event.getInt("qpn")).isPositive());
        assertThat(only(events, "ConnectionEnded"))
                .extracting(event -> event.getString("by"))
                .isNotEmpty()
                .allMatch(by -> by.equals("THIS_SIDE") || by.equals("PEER"));
        assertThat(only(events, "ConnectionRejected"))
                .extracting(event -> event.getString("reason"))
                .singleElement()
                .asString()
                .startsWith("no program listens at");
    }

    @Test
    void aPeerThatIsBlocked() throws Exception {
        List<RecordedEvent> events = record(() -> {
            try (var pair = new Pair()) {
                var counters = pair.b.context.engine().counters();
                new PeerLog(pair.b.context.device().name(), counters).blocked(Gid.parse("10.0.0.1"));
                assertThat(pair.b.context.counters()).containsEntry("blocked.peers", 1L);
            }
        });

        RecordedEvent event = only(events, "PeerBlocked").getFirst();
        assertThat(event.getString("device")).isEqualTo("wire-10.0.0.2");
        assertThat(event.getString("peer")).isEqualTo("10.0.0.1");
    }

    @Test
    void withoutARecordingNothingIsToldAndWithOneThatHasItOffNeither() throws Exception {
        Path file = folder.resolve("off.jfr");
        try (var recording = new Recording()) {
            recording.disable("verbena.QueuePairModified");
            recording.start();
            try (var pair = new Pair()) {
                pair.a.qp.modify(new QpModification().withState(QpState.RESET));
                pair.a.qp.connect(pair.b.qp.endpoint());
            }
            recording.stop();
            recording.dump(file);
        }
        try (var pair = new Pair()) {
            pair.a.qp.connect(pair.b.qp.endpoint());
        }

        List<RecordedEvent> events = read(file);
        assertThat(only(events, "QueuePairModified")).isEmpty();
        assertThat(only(events, "QueuePairCreated")).hasSize(2);
    }
}

package verbena.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

@RdmaTest
class RdmaTestTest {
    private static final Path LEFT = Path.of("target", "verbena-tests");

    @Test
    void twoEndsAreConnected(ConnectedEnds ends) throws InterruptedException {
        ends.client().send("hello");
        assertThat(ends.server().receiveText(100)).isEqualTo("hello");
        ends.server().send("and back");
        assertThat(ends.client().receiveText(100)).isEqualTo("and back");
    }

    @Test
    @RdmaTest(faults = "loss:5%,reorder:2%", seed = 7)
    void aBadNetworkIsNotNoticed(ConnectedEnds ends) throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            ends.client().send("message " + i);
            assertThat(ends.server().receiveText(100)).isEqualTo("message " + i);
        }
        var counters = ends.client().id().context().counters();
        assertThat(counters.get("faults.seed")).isEqualTo(8); // the second device's
        assertThat(counters.get("faults.sent.lost") + counters.get("faults.received.lost"))
                .isPositive();
    }

    @Test
    @RdmaTest(receivesAhead = 0)
    void aTestPostsReceivesByItself(ConnectedEnds ends) throws InterruptedException {
        var into = ends.server().allocate(16);
        var received = ends.server().postReceive(into);
        ends.client().send(new byte[] {1, 2, 3});
        assertThat(received.await().length()).isEqualTo(3);
    }

    @Test
    void eachDeviceIsAnother(Context one, Context other) {
        assertThat(one).isNotSameAs(other);
        assertThat(one.gid(1, 0).gid()).isNotEqualTo(other.gid(1, 0).gid());
    }

    @Test
    void aProgramRunsInAProcessOfItsOwn(@RunsIn(EchoServer.class) TestPeer server) throws InterruptedException {
        try (Connection connection = Connection.connect("127.0.0.1", server.port())) {
            connection.send("over there");
            assertThat(connection.receiveText(100)).isEqualTo("over there");
        }
        assertThat(server.process().pid()).isNotEqualTo(ProcessHandle.current().pid());
    }

    static final class EchoServer {
        public static void main(String[] args) throws InterruptedException {
            try (var listener = ConnectionListener.bind("127.0.0.1", 0)) {
                TestPeer.ready(listener.localAddress().getPort());
                try (Connection connection = listener.accept()) {
                    while (true) {
                        connection.send(connection.receiveText(100));
                    }
                } catch (ConnectionException e) {
                    System.out.println("the peer has left");
                }
            }
        }
    }

    // ---- what a test leaves

    @RdmaTest
    static class Good {
        @Test
        void passes(ConnectedEnds ends) throws InterruptedException {
            ends.client().send("well");
        }
    }

    @Test
    void aTestThatPassesLeavesNothing() throws IOException {
        assertThat(run(Good.class).getFailures()).isEmpty();
        assertThat(left(Good.class)).isEmpty();
    }

    @RdmaTest(faults = "loss:1%")
    static class Bad {
        @Test
        void fails(ConnectedEnds ends, @RunsIn(Talker.class) TestPeer peer) throws InterruptedException {
            ends.client().send("a message that is in the packets");
            assertThat(ends.server().receiveText(100)).isEqualTo("another");
        }
    }

    static final class Talker {
        public static void main(String[] args) throws InterruptedException {
            System.out.println("what the peer has to say");
            TestPeer.ready(0);
            Thread.currentThread().join();
        }
    }

    @Test
    void aTestThatFailsKeepsPacketsAndOutputAndNamesTheSeed() throws IOException {
        String report = trace(failure(Bad.class));
        var place = Pattern.compile("packets and output are in (\\S+); repeat the faults with -Dverbena.test.seed=\\d+")
                .matcher(report);
        assertThat(place.find()).as(report).isTrue();
        Path folder = Path.of(place.group(1));
        try {
            assertThat(files(folder).map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("0-server.pcapng", "1-client.pcapng", "Talker-4.txt");
            assertThat(new String(Files.readAllBytes(folder.resolve("1-client.pcapng")), StandardCharsets.ISO_8859_1))
                    .contains("a message that is in the packets");
            assertThat(folder.resolve("Talker-4.txt")).hasContent("what the peer has to say");
        } finally {
            clear(Bad.class);
        }
    }

    @RdmaTest
    static class Silent {
        @Test
        void waits(@RunsIn(value = Quitter.class, arguments = "in a hurry") TestPeer peer) {
            throw new AssertionError("it was never ready");
        }
    }

    static final class Quitter {
        public static void main(String[] args) {
            System.err.println("I leave " + args[0]);
        }
    }

    @Test
    void aProgramThatEndsBeforeItIsReadySaysWhatItHasPrinted() throws IOException {
        assertThat(trace(failure(Silent.class)))
                .contains("Quitter has ended before it was ready")
                .contains("I leave in a hurry");
        clear(Silent.class);
    }

    private static void clear(Class<?> tests) throws IOException {
        for (Path folder : left(tests)) {
            for (Path file : files(folder).toList()) {
                Files.delete(file);
            }
            Files.delete(folder);
        }
    }

    @RdmaTest(check = true)
    static class Checked {
        @Test
        void changesWhatItSends(ConnectedEnds ends) throws InterruptedException {
            var memory = ends.client().allocate(8);
            var sent = ends.client().postSend(memory);
            memory.segment().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
            sent.await();
        }
    }

    @Test
    void aProgramThatIsWrongOnACardFailsUnderCheck() throws IOException {
        assertThat(trace(failure(Checked.class))).contains("V-SEND-CHANGED").contains("RdmaTestTest.java");
        clear(Checked.class);
    }

    @Test
    @RdmaTest(check = true)
    void aProgramThatIsRightPassesUnderCheck(ConnectedEnds ends) throws InterruptedException {
        var memory = ends.server().allocate(64, Access.remoteAll());
        ends.client().write(new byte[] {1, 2, 3}, memory.remote());
        assertThat(ends.client().read(memory.slice(0, 3).remote())).containsExactly(1, 2, 3);
        ends.client().fetchAdd(memory.slice(8, 8).remote(), 5);
        ends.server().send("done");
        assertThat(ends.client().receiveText(10)).isEqualTo("done");
    }

    /// Has a thread write, and another one look before anything that the checks can see has told it.
    private static void look(ConnectedEnds ends, boolean isTold) throws Exception {
        var memory = ends.server().allocate(64, Access.remoteAll());
        var isWritten = new CountDownLatch(1);
        var isOver = new CountDownLatch(1);
        var writer = new FutureTask<>(() -> {
            ends.client().write(new byte[64], memory.remote());
            assertThat(ends.client().read(memory.slice(0, 8).remote()))
                    .as("with this, a card too has shown the bytes to their owner")
                    .containsOnly(0);
            if (isTold) {
                ends.client().queuePair().protectionDomain().context().noteRelease(isWritten);
            }
            isWritten.countDown();
            isOver.await();
            return true;
        });
        Thread.ofPlatform().start(writer);
        isWritten.await();
        if (isTold) {
            ends.client().queuePair().protectionDomain().context().noteAcquire(isWritten);
        }
        memory.noteLoad(0, 64);
        isOver.countDown();
        writer.get();
    }

    @RdmaTest(checkThreads = true)
    static class Apart {
        @Test
        void looksWhenNothingHasToldIt(ConnectedEnds ends) throws Exception {
            look(ends, false);
        }
    }

    @Test
    void threadsThatNothingOrdersFailUnderChecksOfThreads() throws IOException {
        assertThat(trace(failure(Apart.class))).contains("V-RACE-PROCESSOR").contains("RdmaTestTest.java");
        clear(Apart.class);
    }

    @Test
    @RdmaTest(checkThreads = true)
    void threadsThatSayHowTheyHandOverPassUnderChecksOfThreads(ConnectedEnds ends) throws Exception {
        look(ends, true);
    }

    @Test
    @RdmaTest(check = true)
    void withoutThatOptionThreadsCountAsOne(ConnectedEnds ends) throws Exception {
        look(ends, false);
    }

    @RdmaTest(faults = "loss:1%")
    static class Elsewhere {
        static String name = "";

        @Test
        void asks(Context device) {
            name = device.device().name();
        }
    }

    @Test
    void aPropertyChangesTheDeviceOfAllTests() {
        System.setProperty("verbena.test.device", "shm");
        try {
            assertThat(run(Elsewhere.class).getFailures()).isEmpty();
            assertThat(Elsewhere.name).startsWith("shm");
        } finally {
            System.clearProperty("verbena.test.device");
        }
    }

    // ---- tests within tests

    private static TestExecutionSummary run(Class<?> tests) {
        var listener = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(tests))
                                .build(),
                        listener);
        assertThat(listener.getSummary().getTestsStartedCount()).isEqualTo(1);
        return listener.getSummary();
    }

    private static Throwable failure(Class<?> tests) {
        return run(tests).getFailures().getFirst().getException();
    }

    private static String trace(Throwable failure) {
        var text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    private static List<Path> left(Class<?> tests) throws IOException {
        return files(LEFT)
                .filter(folder -> folder.getFileName().toString().startsWith(tests.getName()))
                .toList();
    }

    private static Stream<Path> files(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return Stream.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList().stream();
        }
    }
}

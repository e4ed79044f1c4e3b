package verbena.checked.corpus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.check.Checker;
import verbena.check.Recorder;
import verbena.check.Rule;
import verbena.check.TrackedPair;
import verbena.check.TrackedRequest;
import verbena.check.Watcher;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.spi.SendOperation;

/// The recording of a program has a line for each thing that it posts, with what `card predict` needs.
@Timeout(60)
class RecorderTest {
    @TempDir
    private Path folder;

    private final AtomicReference<TrackedPair> posting = new AtomicReference<>();
    private Recorder recorder;
    private TwoEnds scene;

    @BeforeEach
    void open() {
        recorder = new Recorder(folder);
        var pairs = new Watcher(Set.of(Watcher.Event.SUBMIT)) {
            @Override
            public void onSubmit(TrackedPair pair, List<TrackedRequest> requests) {
                posting.set(pair);
            }
        };
        scene = new TwoEnds(new Checker(EnumSet.noneOf(Rule.class), (_, _) -> List.of(recorder, pairs)));
        scene.connect();
    }

    @AfterEach
    void close() {
        scene.close();
    }

    private List<String> lines() throws IOException {
        scene.exit();
        return Files.readAllLines(folder.resolve(ProcessHandle.current().pid() + ".recording"));
    }

    /// Returns a word of the n-th post, the first after `post` being 0.
    private long wordOfPost(int n, int word) throws IOException {
        String line = lines().stream()
                .filter(each -> each.startsWith("post "))
                .toList()
                .get(n);
        return Long.parseLong(line.split(" ", -1)[word + 1]);
    }

    private String request(String start, long offset) {
        return "request " + start + " " + scene.here.qpn() + " " + scene.remote.rkey() + " "
                + (scene.remote.address() + offset);
    }

    private void write() {
        scene.here.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
    }

    @Test
    void eachDoorbellAndEachOfItsRequestsHasALine() throws Exception {
        try (var batch = scene.here.sendBatch()) {
            batch.write(1, scene.remote.address() + 8, scene.remote.rkey())
                    .inline(scene.local.segment().asSlice(0, 28));
            batch.write(2, scene.remote.address() + 128, scene.remote.rkey())
                    .sge(scene.local, 0, 100)
                    .sge(scene.local, 1000, 28)
                    .signaled();
            batch.submit();
        }
        scene.take(scene.sent);
        scene.here.postRead(3, scene.remote.remote().slice(64, 4096), scene.local.slice(0, 4096));
        scene.take(scene.sent);
        try (var batch = scene.here.sendBatch()) {
            batch.fetchAdd(4, scene.remote.address(), scene.remote.rkey(), 1)
                    .sge(scene.local, 0, 8)
                    .signaled()
                    .submit();
        }
        scene.take(scene.sent);

        List<String> lines = lines();
        assertThat(lines.stream().map(line -> line.replaceAll("^(post \\d+) \\d+", "$1 GAP")))
                .containsExactly(
                        "recording 1",
                        "region " + TwoEnds.BYTES,
                        "region " + TwoEnds.BYTES,
                        "post 0 GAP 0 2",
                        request("write 28 true false", 8),
                        request("write 128 false true", 128),
                        "post 0 GAP 1 1",
                        request("read 4096 false true", 64),
                        "post 0 GAP 2 1",
                        request("atomic 8 false true", 0),
                        "sleeps 0",
                        "left-out 0");
    }

    @Test
    void aGapIsTheTimeSinceTheLastCallOfTheThread() throws Exception {
        write();
        scene.take(scene.sent);
        long work = System.nanoTime();
        while (System.nanoTime() - work < 2_000_000) {
            Thread.onSpinWait();
        }
        long least = System.nanoTime() - work;
        write();
        long most = System.nanoTime() - work;
        scene.take(scene.sent);
        assertThat(wordOfPost(1, 1)).isGreaterThanOrEqualTo(least);

        while (System.nanoTime() - work < most + 2_000_000) {
            scene.sent.poll(scene.wc); // a call too, though it finds nothing
        }
        long polled = System.nanoTime();
        scene.sent.poll(scene.wc);
        write();
        long posted = System.nanoTime();
        scene.take(scene.sent);
        assertThat(wordOfPost(2, 1)).isLessThanOrEqualTo(posted - polled);
    }

    @Test
    void aCompletionCountsForTheThreadThatPosted() throws Exception {
        write();
        var other = new Thread(() -> {
            write();
            write();
        });
        other.start();
        other.join();
        for (int i = 0; i < 3; i++) {
            scene.take(scene.sent);
        }
        write();
        scene.take(scene.sent);

        assertThat(wordOfPost(0, 0)).isZero();
        assertThat(wordOfPost(1, 0)).isEqualTo(1);
        assertThat(wordOfPost(2, 0)).isEqualTo(1);
        assertThat(wordOfPost(2, 2)).isZero();
        assertThat(wordOfPost(3, 0)).isZero();
        assertThat(wordOfPost(3, 2)).as("its own").isEqualTo(1);
    }

    @Test
    void aThreadThatWaitsOnAChannelSleeps() throws Exception {
        try (var channel = scene.device.createCompletionChannel();
                var queue = scene.device.createCompletionQueue(
                        CompletionQueueOptions.of(16).withChannel(channel));
                var sender = scene.domain.createQueuePair(QueuePairOptions.rc(queue));
                var receiver = scene.domain.createQueuePair(QueuePairOptions.rc(scene.arrived))) {
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            queue.arm();
            sender.postWrite(1, scene.local.slice(0, 64), scene.remote.remote());
            channel.await(Duration.ofSeconds(10));
            scene.take(queue);
        }
        assertThat(lines()).contains("sleeps 1");
    }

    @Test
    void whatIsTooMuchIsCounted() throws Exception {
        write();
        scene.take(scene.sent);
        TrackedPair pair = posting.get();
        var request = new TrackedRequest(pair, SendOperation.WRITE, 1, 4096, 7);
        recorder.onSubmit(pair, Collections.nCopies(199_998, request));
        recorder.onSubmit(pair, Collections.nCopies(2, request));
        recorder.onSubmit(pair, List.of(request));

        List<String> lines = lines();
        assertThat(lines).filteredOn(line -> line.startsWith("request ")).hasSize(200_000);
        assertThat(lines).filteredOn(line -> line.startsWith("post ")).hasSize(3);
        assertThat(lines).endsWith("left-out 2");
    }
}

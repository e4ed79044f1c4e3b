package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.Completion;
import verbena.verbs.CompletionQueue;
import verbena.verbs.EndpointOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SendBatch;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Syndrome;

/// Every status has a page, and the page's example is the device's real message. The failures are provoked in
/// virtual time, so only addresses and keys differ between runs.
class StatusPagesTest {
    private static final Path PAGES = Path.of(System.getProperty("verbena.root"), "docs", "status");
    private static final List<String> SECTIONS = List.of(
            "## What it means",
            "## Which side noticed it",
            "## Checks that must pass",
            "## Usual causes",
            "## What to try",
            "## With rdma-core",
            "## In the standard",
            "## Example");
    /// Statuses that the software devices never produce; their pages say so.
    private static final Set<WcStatus> NEVER = EnumSet.of(
            WcStatus.LOC_EEC_OP_ERR,
            WcStatus.LOC_RDD_VIOL_ERR,
            WcStatus.REM_ABORT_ERR,
            WcStatus.INV_EECN_ERR,
            WcStatus.INV_EEC_STATE_ERR,
            WcStatus.FATAL_ERR,
            WcStatus.RESP_TIMEOUT_ERR,
            WcStatus.GENERAL_ERR);

    private static String page(WcStatus status) throws IOException {
        return Files.readString(PAGES.resolve(status + ".md"));
    }

    @ParameterizedTest
    @EnumSource
    void everyStatusHasAPageWithAllSections(WcStatus status) throws IOException {
        String page = page(status);

        assertThat(page).startsWith("# " + status + "\n");
        assertThat(page)
                .as("its words and number")
                .contains(status.label(), "`IBV_WC_" + status + "` (" + status.code() + ")");
        assertThat(page.lines().filter(line -> line.startsWith("## "))).isEqualTo(SECTIONS);
        for (String section : page.split("\n## ", -1)) {
            assertThat(section.strip().lines().count()).as(section).isGreaterThan(2);
        }
    }

    @Test
    void thereIsNoPageOfSomethingElse() throws IOException {
        try (var files = Files.list(PAGES)) {
            assertThat(files.map(file -> file.getFileName().toString().replace(".md", "")))
                    .containsExactlyInAnyOrderElementsOf(List.of(WcStatus.values()).stream()
                            .map(WcStatus::name)
                            .toList());
        }
    }

    @ParameterizedTest
    @EnumSource
    void itsExampleIsWhatTheDeviceSays(WcStatus status) throws IOException {
        String example = page(status).split("## Example\n", 2)[1];
        if (NEVER.contains(status)) {
            assertThat(example).containsPattern("No (software )?device of Verbena produces it");
            return;
        }
        if (status == WcStatus.SUCCESS) {
            assertThat(example).contains("Success[wrId=");
            return;
        }
        Completion.Failure failure = provoke(status);
        assertThat(failure.status()).isEqualTo(status);
        assertThat(failure.cause()).isNotEmpty();
        assertThat(masked(example)).contains(masked("Here: " + failure.cause()));
    }

    @Test
    void theExplanationNamesThePage() {
        var failure = provoke(WcStatus.RETRY_EXC_ERR);

        assertThat(failure.explanation()).contains("docs/status/RETRY_EXC_ERR.md");
        assertThat(Path.of(System.getProperty("verbena.root"), failure.status().page()))
                .exists();
    }

    /// The text without the parts that differ between runs, and without line breaks.
    private static String masked(String text) {
        return Pattern.compile("0x[0-9a-f]+").matcher(text).replaceAll("0x#").replaceAll("\\s+", " ");
    }

    // --- how each status comes about

    private static Completion.Failure provoke(WcStatus status) {
        try (var pair = new Pair()) {
            return switch (status) {
                case LOC_LEN_ERR -> {
                    connect(pair);
                    pair.b.qp.postReceive(1, pair.b.memory.slice(0, 64));
                    pair.a.qp.postSend(2, pair.a.memory.slice(0, 100));
                    yield first(pair, pair.b.cq);
                }
                case LOC_QP_OP_ERR -> {
                    pair.a.qp.connect(
                            pair.b.qp.endpoint(), EndpointOptions.defaults().withMaxReadAtomic(0));
                    pair.b.qp.connect(pair.a.qp.endpoint());
                    pair.a.qp.postRead(1, pair.b.memory.remote().slice(0, 8), pair.a.memory.slice(0, 8));
                    yield first(pair, pair.a.cq);
                }
                case LOC_PROT_ERR -> {
                    connect(pair);
                    pair.settle();
                    var small = pair.a.domain.allocate(100, Access.remoteAll());
                    try (SendBatch batch = pair.a.qp.sendBatch()) {
                        batch.send(1).sge(small, 0, 100).signaled().submit();
                    }
                    small.close();
                    yield first(pair, pair.a.cq);
                }
                case WR_FLUSH_ERR -> {
                    connect(pair);
                    pair.a.qp.postWrite(
                            1, pair.a.memory.slice(0, 8), new RemoteMemory(pair.b.memory.address(), 0x1234, 8));
                    pair.a.qp.postSend(2, pair.a.memory.slice(0, 8));
                    first(pair, pair.a.cq);
                    yield first(pair, pair.a.cq);
                }
                case MW_BIND_ERR -> {
                    connect(pair);
                    try (SendBatch batch = pair.a.qp.sendBatch()) {
                        batch.localInvalidate(1, 0x1234).signaled().submit();
                    }
                    yield first(pair, pair.a.cq);
                }
                case BAD_RESP_ERR, REM_INV_RD_REQ_ERR -> {
                    connect(pair);
                    int syndrome = status == WcStatus.BAD_RESP_ERR ? 0x47 : Syndrome.NAK_INVALID_RD_REQUEST;
                    pair.b.wire.loses = frame -> becomes(syndrome, frame);
                    pair.a.qp.postWrite(1, pair.a.memory.slice(0, 8), pair.b.memory.remote());
                    yield first(pair, pair.a.cq);
                }
                case LOC_ACCESS_ERR -> {
                    connect(pair);
                    pair.b.qp.postReceive(1, pair.b.memory.slice(0, 8));
                    var target = pair.b.domain.allocate(8192, Access.remoteAll());
                    pair.a.wire.room = 1; // the peer takes the first packet before the last leaves
                    pair.a.wire.loses = frame -> {
                        if (Opcode.of(Bth.opcode(frame.slot, frame.start)) == Opcode.RC_WRITE_LAST_IMMEDIATE) {
                            target.close(); // between the first packet, which was allowed, and the last
                        }
                        return false;
                    };
                    pair.a.qp.postWriteWithImmediate(2, pair.a.memory.slice(0, 8192), target.remote(), 7);
                    yield first(pair, pair.b.cq);
                }
                case REM_INV_REQ_ERR -> {
                    pair.a.qp.connect(pair.b.qp.endpoint());
                    pair.b.qp.connect(
                            pair.a.qp.endpoint(), EndpointOptions.defaults().withAccess(Set.of(Access.REMOTE_READ)));
                    pair.a.qp.postWrite(1, pair.a.memory.slice(0, 8), pair.b.memory.remote());
                    yield first(pair, pair.a.cq);
                }
                case REM_ACCESS_ERR -> {
                    connect(pair);
                    pair.a.qp.postWrite(
                            1, pair.a.memory.slice(0, 8), new RemoteMemory(pair.b.memory.address(), 0x1234, 8));
                    yield first(pair, pair.a.cq);
                }
                case REM_OP_ERR -> {
                    connect(pair);
                    var gone = pair.b.domain.allocate(100, Access.remoteAll());
                    pair.b.qp.postReceive(1, gone.slice(0, 100));
                    gone.close();
                    pair.a.qp.postSend(2, pair.a.memory.slice(0, 100));
                    yield first(pair, pair.a.cq);
                }
                case RETRY_EXC_ERR -> {
                    connect(pair);
                    pair.a.wire.loses = _ -> true;
                    pair.a.qp.postSend(1, pair.a.memory.slice(0, 100));
                    yield first(pair, pair.a.cq);
                }
                case RNR_RETRY_EXC_ERR -> {
                    pair.a.qp.connect(
                            pair.b.qp.endpoint(),
                            EndpointOptions.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(60)), 7, 3));
                    pair.b.qp.connect(pair.a.qp.endpoint());
                    pair.a.qp.postSend(1, pair.a.memory.slice(0, 100));
                    yield first(pair, pair.a.cq);
                }
                case SUCCESS,
                        LOC_EEC_OP_ERR,
                        LOC_RDD_VIOL_ERR,
                        REM_ABORT_ERR,
                        INV_EECN_ERR,
                        INV_EEC_STATE_ERR,
                        FATAL_ERR,
                        RESP_TIMEOUT_ERR,
                        GENERAL_ERR -> throw new AssertionError("nothing leads to " + status);
            };
        }
    }

    private static void connect(Pair pair) {
        pair.a.qp.connect(pair.b.qp.endpoint());
        pair.b.qp.connect(pair.a.qp.endpoint());
    }

    /// Gives an acknowledgement on its way a syndrome that none of our peers would send.
    private static boolean becomes(int syndrome, Frame frame) {
        int at = frame.start + Opcode.RC_ACKNOWLEDGE.aethOffset();
        Aeth.write(frame.slot, at, syndrome, Aeth.msn(frame.slot, at));
        return false;
    }

    /// The oldest completion, after both devices have come to rest.
    private static Completion.Failure first(Pair pair, CompletionQueue queue) {
        pair.settleWithin(10_000_000_000L);
        var wc = new WorkCompletion();
        assertThat(queue.poll(wc)).isTrue();
        return (Completion.Failure) wc.snapshot();
    }
}

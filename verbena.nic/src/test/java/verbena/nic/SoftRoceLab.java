package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.foreign.ValueLayout;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Endpoint;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Gid;
import verbena.verbs.GidType;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// Shared by the tests against a Linux kernel's soft-RoCE: a device of ours, and the far end, which the lab's
/// `verbsd` drives. `verbena.lab.peer` is its HOST:PORT, `verbena.lab.device` our device; `.ci/lab` sets both.
abstract class SoftRoceLab {
    /// Bytes of the region on either side.
    static final int BYTES = 1 << 17;

    private static final int THEIR_PSN = 0xFFFFF0;

    /// The far end: one JSON object per line in each direction.
    private static final class Peer {
        private final BufferedReader in;
        private final Writer out;

        Peer(String address) throws IOException {
            String[] part = address.split(":", 2);
            var socket = new Socket(part[0], Integer.parseInt(part[1]));
            socket.setSoTimeout(30_000);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            out = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8);
        }

        String call(String op, Object... fields) throws IOException {
            var line = new StringBuilder("{\"op\":\"" + op + "\"");
            for (int i = 0; i < fields.length; i += 2) {
                line.append(",\"").append(fields[i]).append("\":");
                line.append(fields[i + 1] instanceof String text ? "\"" + text + "\"" : fields[i + 1]);
            }
            out.write(line.append("}\n").toString());
            out.flush();
            String answer = in.readLine();
            assertThat(answer).as("answer to " + line).contains("\"ok\": true");
            return answer;
        }
    }

    /// One for all tests of this JVM: rxe needs seconds to end a queue pair on which packets were lost.
    private static @Nullable Peer peer;
    private static String theirGids = "";

    final WorkCompletion wc = new WorkCompletion();
    Context context;
    ProtectionDomain domain;
    CompletionQueue cq;
    /// Our queue pair, connected or not; created by the tests.
    @Nullable
    QueuePair queuePair;

    MemoryRegion memory;
    boolean ipv4;
    String theirQp;
    int theirQpn;
    String theirMr;
    long theirAddress;
    int theirKey;
    /// The far end's GID of our address family.
    Gid theirGid;
    /// The index of that GID in its table.
    int theirGidIndex;

    @BeforeEach
    void open() throws IOException {
        if (peer == null) {
            peer = new Peer(System.getProperty("verbena.lab.peer"));
            theirGids = call("open", "dev", "rxe0");
        }
        context = Device.named(System.getProperty("verbena.lab.device", "rocev2@10.77.0.1"))
                .open();
        domain = context.allocateProtectionDomain();
        cq = context.createCompletionQueue(256);
        memory = domain.allocate(BYTES, Access.remoteAll());
        for (long i = 0; i < BYTES; i++) {
            memory.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (3 * i + 1));
        }
        ipv4 = context.gids(1).getFirst().gid().isIpv4();
        theirGidIndex = ipv4 ? 1 : 2;
        theirGid = Gid.parse(text(theirGids, Integer.toString(theirGidIndex)));
        String region = call("reg_mr", "size", BYTES, "mw", 1);
        theirMr = text(region, "mr");
        theirAddress = number(region, "addr");
        theirKey = (int) number(region, "rkey");
    }

    @AfterEach
    void close() {
        try (Context _ = context;
                ProtectionDomain _ = domain;
                CompletionQueue _ = cq;
                MemoryRegion _ = memory;
                QueuePair _ = queuePair) {
            queuePair = null;
        }
    }

    /// `call("reg_mr", "size", 4096)`: strings are quoted, numbers are not; the last value of a name counts.
    String call(String op, Object... fields) throws IOException {
        return Objects.requireNonNull(peer, "open first").call(op, fields);
    }

    static String text(String json, String field) {
        var m = Pattern.compile("\"" + field + "\": \"?([^\",}\\]]*)").matcher(json);
        assertThat(m.find()).as(field + " in " + json).isTrue();
        return m.group(1);
    }

    static long number(String json, String field) {
        return Long.parseUnsignedLong(text(json, field));
    }

    // ---- connecting

    /// Two queue pairs, connected with a path MTU of 1024.
    ///
    /// @param theirs fields of verbsd's `create_qp` and `connect` that differ from the usual ones
    void connect(QpType type, EndpointOptions ours, Object... theirs) throws IOException {
        connect(QueuePairOptions.of(type, cq), ours, theirs);
    }

    void connect(QueuePairOptions options, EndpointOptions ours, Object... theirs) throws IOException {
        queuePair = domain.createQueuePair(options);
        Object[] type = {"type", options.type().name()};
        String qp = call("create_qp", joined(type, theirs));
        theirQp = text(qp, "qp");
        theirQpn = (int) number(qp, "qpn");
        Endpoint own = queuePair.endpoint();
        Object[] usual = {
            "qp",
            theirQp,
            "dgid",
            ourGid(),
            "dqpn",
            own.qpn(),
            "sgid_index",
            theirGidIndex,
            "mtu",
            1024,
            "sq_psn",
            THEIR_PSN,
            "rq_psn",
            own.psn(),
            "timeout",
            17,
            "retry",
            7,
            "rnr_retry",
            7,
            "min_rnr_timer",
            12
        };
        call("connect", joined(usual, theirs));
        queuePair.connect(new Endpoint(theirGid, GidType.ROCE_V2, theirQpn, THEIR_PSN, Mtu.MTU_1024), ours);
    }

    /// Our GID as Python's `ipaddress` reads it.
    String ourGid() {
        Gid own = context.gids(1).getFirst().gid();
        return ipv4 ? "::ffff:" + own : own.toString();
    }

    // --- results

    /// Our next completion.
    void expect(long wrId, WcStatus status) throws InterruptedException {
        assertThat(cq.await(wc, Duration.ofSeconds(20)))
                .as("a completion in time")
                .isTrue();
        assertThat(wc.status()).as(wc.toString()).isEqualTo(status);
        assertThat(wc.wrId()).isEqualTo(wrId);
    }

    /// Their next completion.
    String expectThere(WcStatus status) throws IOException {
        String polled = call("poll", "qp", theirQp, "n", 1, "timeout", 20);
        assertThat(number(polled, "status")).as(polled).isEqualTo(status.code());
        return polled;
    }

    /// Waits until our counter has this value: a packet is judged some time after it has been sent.
    void awaitCounter(String name, long value) throws InterruptedException {
        for (int i = 0; context.counters().get(name) < value; i++) {
            assertThat(i).as(name + " is " + context.counters().get(name)).isLessThan(20_000);
            assertThat(cq.await(wc, Duration.ofMillis(1))).isFalse();
        }
    }

    byte[] theirs(int offset, int bytes) throws IOException {
        return HexFormat.of()
                .parseHex(text(call("read_mem", "mr", theirMr, "offset", offset, "length", bytes), "data"));
    }

    void setTheirs(int offset, byte[] data) throws IOException {
        String hex = HexFormat.of().formatHex(data);
        call("write_mem", "mr", theirMr, "offset", offset, "data", hex);
    }

    byte[] ours(int offset, int bytes) {
        return memory.segment().asSlice(offset, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /// Bytes that neither side's memory holds at first.
    static byte[] pattern(int bytes) {
        byte[] data = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            data[i] = (byte) (5 * i + 2);
        }
        return data;
    }

    /// Makes the far end post a request with the start of its region as its data.
    ///
    /// @param fields of verbsd's `post_send`: `raddr`, `rkey`, `imm`, `inv` and so on
    void theyPost(String opcode, int bytes, Object... fields) throws IOException {
        Object[] usual = {"qp", theirQp, "opcode", opcode, "mr", theirMr, "length", bytes};
        call("post_send", joined(usual, fields));
    }

    void theyWrite(int bytes, long address, int key) throws IOException {
        theyPost("write", bytes, "raddr", address, "rkey", Integer.toUnsignedLong(key));
    }

    void theyRead(int bytes, long address, int key) throws IOException {
        theyPost("read", bytes, "raddr", address, "rkey", Integer.toUnsignedLong(key));
    }

    /// Makes the far end post a receive.
    void theyReceive(int offset, int bytes) throws IOException {
        call("post_recv", "qp", theirQp, "mr", theirMr, "offset", offset, "length", bytes);
    }

    static Object[] joined(Object[] first, Object[] second) {
        return Stream.concat(Stream.of(first), Stream.of(second)).toArray();
    }
}

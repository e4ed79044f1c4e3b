package verbena.transport.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.transport.memory.Region;
import verbena.transport.queue.SendRequest;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.SendOperation;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;

/// Two ends of ours and a stream that a seed cuts, delays, closes and breaks. Each request has a slot of memory of
/// its own, so that what has to be where is plain.
class StreamWorldTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final int SLOT = 6000;
    private static final int REQUESTS = 40;

    @Test
    void aStreamThatIsCutAnywhereCarriesEverything() {
        for (long seed = 1; seed <= (DEEP ? 20_000 : 120); seed++) {
            run(seed, false);
        }
    }

    @Test
    void aStreamThatEndsAnyhowLeavesNoRequestBehind() {
        for (long seed = 1; seed <= (DEEP ? 20_000 : 120); seed++) {
            run(seed, true);
        }
    }

    private static void run(long seed, boolean ends) {
        try {
            new World(seed, ends).run();
        } catch (Throwable t) {
            throw new AssertionError("seed " + seed, t);
        }
    }

    private static final class End {
        final IwarpEnd side;
        final Region out;
        final Region slots;
        final Region counter;
        /// Bytes on their way to this end.
        final ByteArrayOutputStream coming = new ByteArrayOutputStream();

        final List<Integer> lengths = new ArrayList<>();
        final List<WcStatus> statuses = new ArrayList<>();
        final List<Integer> receives = new ArrayList<>();
        final List<WcStatus> receiveStatuses = new ArrayList<>();
        int requests;
        int sends;

        End(String name, long seed) {
            side = new IwarpEnd(name, seed);
            out = side.region(REQUESTS * SLOT);
            slots = side.region(3 * REQUESTS * SLOT);
            counter = side.region(64);
            IwarpEnd.fill(out, seed);
        }
    }

    private static final class World {
        private final Random random;
        private final boolean ends;
        private final End a;
        private final End b;
        private final List<SendOperation> operationsOfA = new ArrayList<>();
        private final List<SendOperation> operationsOfB = new ArrayList<>();
        private boolean over;

        World(long seed, boolean ends) {
            this.random = new Random(seed);
            this.ends = ends;
            a = new End("a", 2 * seed);
            b = new End("b", 2 * seed + 1);
            boolean crc = random.nextBoolean();
            boolean markersToA = random.nextInt(3) == 0;
            boolean markersToB = random.nextInt(3) == 0;
            int emss = new int[] {536, 1448, 8948, 65483}[random.nextInt(4)];
            Rtr rtr = Rtr.values()[random.nextInt(4)];
            int depth = 1 + random.nextInt(8);
            a.side.connection.start(
                    new StreamTerms(
                            true, crc, markersToA, markersToB, Fpdu.mulpdu(emss, markersToB), depth, depth, rtr),
                    0);
            b.side.connection.start(
                    new StreamTerms(
                            false, crc, markersToB, markersToA, Fpdu.mulpdu(emss, markersToA), depth, depth, rtr),
                    0);
        }

        void run() {
            // In the mode without a first message of its own the initiator's application has to send first.
            post(a, b, operationsOfA);
            int idle = 0;
            while (!over && idle < 300) {
                int choice = random.nextInt(ends ? 8 : 7);
                boolean moved = switch (choice) {
                    case 0 -> a.requests < REQUESTS && post(a, b, operationsOfA);
                    case 1 -> b.requests < REQUESTS && post(b, a, operationsOfB);
                    case 2 -> send(a, b);
                    case 3 -> send(b, a);
                    case 4 -> arrive(a);
                    case 5 -> arrive(b);
                    case 6 -> receive(a) || receive(b);
                    default -> random.nextInt(40) == 0 && end();
                };
                idle = moved ? 0 : idle + 1;
            }
            if (!over) {
                check(a, b, operationsOfA);
                check(b, a, operationsOfB);
                a.side.connection.finish(0);
                b.side.connection.finish(0);
            }
            finish(a);
            finish(b);
        }

        private boolean post(End end, End peer, List<SendOperation> operations) {
            SendOperation[] all = {
                SendOperation.WRITE,
                SendOperation.READ,
                SendOperation.SEND,
                SendOperation.FETCH_ADD,
                SendOperation.WRITE_WITH_IMMEDIATE
            };
            SendOperation operation = all[random.nextInt(all.length)];
            int n = end.requests++;
            int length = operation.isAtomic() ? 8 : random.nextInt(10) == 0 ? 0 : random.nextInt(SLOT);
            boolean into = operation == SendOperation.READ || operation.isAtomic();
            // READ: our third third of slots; atomics' results too. WRITE: the peer's first third.
            Region local = into ? end.slots : end.out;
            long offset = into ? (2L * REQUESTS + n) * SLOT : (long) n * SLOT;
            Region remote =
                    operation == SendOperation.READ ? peer.out : operation.isAtomic() ? peer.counter : peer.slots;
            long where = operation.isAtomic() ? 0 : (long) n * SLOT;
            SendRequest request =
                    end.side.prepare(operation, n, local, offset, length, remote.key(), remote.iova() + where);
            request.operand = 1;
            request.fenced = random.nextInt(8) == 0;
            if (operation == SendOperation.WRITE_WITH_IMMEDIATE) {
                request.immediateOrKey = n;
            }
            end.side.post(request);
            operations.add(operation);
            end.lengths.add(length);
            if (operation == SendOperation.SEND || operation == SendOperation.WRITE_WITH_IMMEDIATE) {
                end.sends++;
            }
            return true;
        }

        /// A receive, into the second third of the slots, if one is missing.
        private boolean receive(End end) {
            End peer = end == a ? b : a;
            if (end.receives.size() >= peer.sends) {
                return false;
            }
            int n = end.receives.size();
            end.receives.add(n);
            end.side.receive(1000 + n, end.slots, (REQUESTS + (long) n) * SLOT, SLOT);
            return true;
        }

        private boolean send(End from, End to) {
            byte[] bytes = from.side.sent();
            to.coming.writeBytes(bytes);
            take(from);
            return bytes.length > 0;
        }

        private boolean arrive(End end) {
            byte[] all = end.coming.toByteArray();
            // What waits for a receive is looked at again without a new byte.
            if (all.length == 0 && !end.side.connection.isStalled()) {
                return false;
            }
            int n = Math.min(all.length, 1 + random.nextInt(random.nextBoolean() ? 10 : 20_000));
            boolean moved = end.side.arriveOrWait(Arrays.copyOf(all, n), random.nextBoolean());
            if (moved) {
                end.coming.reset();
                end.coming.write(all, n, all.length - n);
            }
            take(end);
            return moved && n > 0;
        }

        private boolean end() {
            over = true;
            switch (random.nextInt(5)) {
                case 0 -> {
                    a.side.connection.onEnd(0);
                    b.side.connection.onBroken("reset", 0);
                }
                case 1 -> {
                    a.side.connection.onBroken("reset", 0);
                    b.side.connection.onEnd(0);
                }
                case 2 -> a.side.connection.breakDown("enough");
                case 3 -> { // withdrawn while something is on its way
                    b.side.memory.remove(b.slots);
                    a.side.memory.remove(a.out);
                }
                default -> { // the half that is closed says what it still has
                    a.side.connection.finish(0);
                    for (int i = 0; i < 50; i++) {
                        send(a, b);
                        arrive(b);
                        receive(b);
                    }
                    b.side.connection.onEnd(0);
                }
            }
            for (int i = 0; i < 20; i++) {
                send(a, b);
                arrive(b);
                send(b, a);
                arrive(a);
            }
            a.side.connection.onBroken("over", 0);
            b.side.connection.onBroken("over", 0);
            return true;
        }

        private void take(End end) {
            var wc = new WorkCompletion();
            while (end.side.completions.poll(wc)) {
                boolean isReceive = wc.wrId() >= 1000;
                List<WcStatus> all = isReceive ? end.receiveStatuses : end.statuses;
                assertThat(wc.wrId()).as("order").isEqualTo((isReceive ? 1000 : 0) + all.size());
                if (!all.isEmpty() && all.getLast() != WcStatus.SUCCESS) {
                    assertThat(wc.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
                }
                all.add(wc.status());
            }
        }

        /// Nothing has ended: everything has happened, and is where it belongs.
        private void check(End end, End peer, List<SendOperation> operations) {
            assertThat(end.statuses).hasSize(operations.size()).containsOnly(WcStatus.SUCCESS);
            assertThat(end.receiveStatuses).hasSize(peer.sends);
            int sends = 0;
            long adds = 0;
            for (int n = 0; n < operations.size(); n++) {
                byte[] said = IwarpEnd.bytes(end.out, (long) n * SLOT, end.lengths.get(n));
                switch (operations.get(n)) {
                    case WRITE, WRITE_WITH_IMMEDIATE -> {
                        assertThat(IwarpEnd.bytes(peer.slots, (long) n * SLOT, said.length))
                                .isEqualTo(said);
                        sends += operations.get(n) == SendOperation.WRITE ? 0 : 1;
                    }
                    case SEND -> {
                        assertThat(IwarpEnd.bytes(peer.slots, (REQUESTS + (long) sends) * SLOT, said.length))
                                .isEqualTo(said);
                        sends++;
                    }
                    case READ ->
                        assertThat(IwarpEnd.bytes(end.slots, (2L * REQUESTS + n) * SLOT, said.length))
                                .isEqualTo(IwarpEnd.bytes(peer.out, (long) n * SLOT, said.length));
                    default ->
                        assertThat(end.slots.memory().get(ValueLayout.JAVA_LONG, (2L * REQUESTS + n) * SLOT))
                                .isEqualTo(adds++);
                }
            }
        }

        private void finish(End end) {
            end.side.sent();
            take(end);
            assertThat(end.side.connection.isFinished()).isTrue();
            assertThat(end.side.parameters.state).isEqualTo(QpState.ERR);
            assertThat(end.statuses).hasSize(end.requests);
            assertThat(end.receiveStatuses).hasSize(end.receives.size());
        }
    }

    /// Every kind of message, cut into two at every byte.
    @Test
    void aCutAtAnyByteChangesNothing() {
        for (boolean crc : new boolean[] {false, true}) {
            var b = new IwarpEnd("b", 1);
            Region r = b.region(4096);
            Region in = b.region(4096);
            byte[] stream = IwarpEnd.concat(
                    sealed(crc, Fpdus.tagged(RdmapOpcode.WRITE, false, r.key(), r.iova(), 33)),
                    sealed(crc, Fpdus.tagged(RdmapOpcode.WRITE, true, r.key(), r.iova() + 33, 7)),
                    sealed(crc, Fpdus.untagged(RdmapOpcode.SEND, false, 1, 0, 21)),
                    sealed(crc, Fpdus.readRequest(1, 1, 2, 50, r.key(), r.iova())),
                    sealed(crc, Fpdus.untagged(RdmapOpcode.SEND, true, 1, 21, 20)),
                    sealed(crc, Fpdus.untagged(RdmapOpcode.IMMEDIATE, true, 2, 0, 8)),
                    sealed(crc, Fpdus.atomicRequest(2, 0, r.key(), r.iova() + 1024, 3, 0, 0, 0)),
                    sealed(crc, Fpdus.tagged(RdmapOpcode.READ_RESPONSE, true, in.key(), in.iova() + 512, 64)),
                    sealed(crc, Fpdus.atomicResponse(1, 2, 99)));
            byte[] expected = null;
            for (int cut = 0; cut <= stream.length; cut++) {
                for (boolean straight : new boolean[] {false, true}) {
                    b.connection.onModified(b.parameters.state, QpState.RESET, 0);
                    b.parameters.state = QpState.INIT;
                    b.connection.start(new StreamTerms(true, crc, false, false, 1442, 4, 4, Rtr.NONE), 0);
                    r.memory().fill((byte) 0);
                    in.memory().fill((byte) 0);
                    b.receive(1, in, 0, 100).receive(2, in, 200, 0);
                    b.post(SendOperation.READ, 3, in, 512, 64, 1, 1);
                    b.post(SendOperation.FETCH_ADD, 4, in, 1024, 8, 1, 8);
                    byte[] asked = b.sent();
                    b.arrive(Arrays.copyOf(stream, cut), straight);
                    byte[] first = b.sent();
                    b.arrive(Arrays.copyOfRange(stream, cut, stream.length), straight);
                    byte[] all = IwarpEnd.concat(
                            asked,
                            first,
                            b.sent(),
                            String.join("; ", b.completed()).getBytes(StandardCharsets.UTF_8),
                            IwarpEnd.bytes(r, 0, 4096),
                            IwarpEnd.bytes(in, 0, 4096));
                    expected = expected == null ? all : expected;
                    assertThat(all).as("cut at " + cut).isEqualTo(expected);
                    assertThat(b.parameters.state).isEqualTo(QpState.RTS);
                }
            }
        }
    }

    private static byte[] sealed(boolean crc, byte[] fpdu) {
        return crc ? Fpdus.sealed(fpdu) : fpdu;
    }

    /// Nothing is allocated for a message: as bytes come and go for long, the thread's count of them stands still.
    @Test
    void nothingIsAllocatedForAMessage() {
        var threads = (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
        var a = new IwarpEnd("a", 1);
        var b = new IwarpEnd("b", 2);
        Region from = a.region(8192);
        Region to = b.region(8192);
        var terms = new StreamTerms(true, true, false, false, 1442, 4, 4, Rtr.NONE);
        a.connection.start(terms, 0);
        b.connection.start(new StreamTerms(false, true, false, false, 1442, 4, 4, Rtr.NONE), 0);
        var buffer = new StreamBuffer(Arena.ofAuto().allocate(2L * StreamBuffer.BYTES_MIN, 8));
        var out = new StreamOutput(buffer, 16);
        var wc = new WorkCompletion();
        long allocated = 0;
        for (int round = 0; round < 40_000; round++) {
            if (round == 39_000) {
                allocated = threads.getCurrentThreadAllocatedBytes();
            }
            if (round == 39_900) {
                allocated = threads.getCurrentThreadAllocatedBytes() - allocated;
                assertThat(allocated).isLessThan(900);
                return;
            }
            b.receive(1, to, 0, 8192);
            a.post(SendOperation.SEND, 1, from, 0, 3000, 0, 0);
            a.post(SendOperation.WRITE, 2, from, 0, 3000, to.key(), to.iova());
            a.post(SendOperation.READ, 3, from, 0, 3000, to.key(), to.iova());
            for (int i = 0; i < 3; i++) {
                carry(a, b, buffer, out);
                carry(b, a, buffer, out);
            }
            while (a.completions.poll(wc) || b.completions.poll(wc)) {
                if (wc.status() != WcStatus.SUCCESS) {
                    throw new AssertionError(wc.status());
                }
            }
        }
    }

    private static void carry(IwarpEnd from, IwarpEnd to, StreamBuffer buffer, StreamOutput out) {
        out.clear();
        while (from.connection.poll(out, 0)) {}
        // With CRCs everything lies in the output's own memory, in one piece.
        int total = (int) out.total();
        if (total > 0 && to.connection.onBytes(buffer, 0, total, 0) != total) {
            throw new AssertionError("not all consumed");
        }
    }
}

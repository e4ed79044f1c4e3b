package verbena.transport.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.memory.Region;
import verbena.transport.memory.Window;
import verbena.transport.queue.SendRequest;
import verbena.verbs.Access;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.SendOperation;
import verbena.wire.BigEndian;
import verbena.wire.iwarp.AtomicRequest;
import verbena.wire.iwarp.AtomicResponse;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.Fpdu;
import verbena.wire.iwarp.ImmediateData;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.ReadRequest;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;

/// Goal H3: whatever arrives on a stream, and however it is cut, nothing is thrown, no byte changes that must not,
/// and every request completes once. The attacker knows all keys and numbers, and uses them rightly most of the
/// time, so that what is wrong comes in the middle of what is right.
class HostileStreamsTest {
    private static final boolean DEEP = Boolean.getBoolean("verbena.deep");
    private static final long SEED = Long.getLong("verbena.seed", 1);
    private static final int REGION = 8192;
    private static final int CANARY = 4 * REGION;
    private static final int MESSAGE_MAX = 3000;

    @Test
    void nothingThatArrivesOnAStreamBreaksAConnectionOrTouchesWhatItMayNot() {
        long fpdus = DEEP ? 50_000_000 : 2_000_000;
        var attack = new Attack(SEED);
        try {
            while (attack.composed < fpdus) {
                attack.live();
            }
        } catch (Throwable t) {
            throw new AssertionError(
                    "repeat: mvn -pl verbena.transport -am test -Dtest=HostileStreamsTest"
                            + " -Dsurefire.failIfNoSpecifiedTests=false -Dverbena.seed=" + SEED
                            + (DEEP ? " -Dverbena.deep=true" : ""),
                    t);
        }
        System.out.println(
                "H3: " + attack.composed + " FPDUs, " + attack.mutated + " of them mutated, from seed " + SEED
                        + ": 0 exceptions, 0 bytes changed that must not; " + attack.lives + " lives of a connection, "
                        + attack.succeeded + " requests completed well, " + attack.failed + " with an error; "
                        + attack.victim.counters.get(PacketFate.ACCEPTED) + " FPDUs accepted, "
                        + attack.victim.counters.get(PacketFate.REFUSED) + " refused, "
                        + attack.victim.direct + " bytes put straight into regions");
        assertThat(attack.victim.counters.get(Counter.RECEIVED_PACKETS))
                .isEqualTo(attack.victim.counters.get(PacketFate.ACCEPTED)
                        + attack.victim.counters.get(PacketFate.REFUSED));
        assertThat(attack.victim.counters.get(PacketFate.REFUSED)).isGreaterThan(fpdus / 1000);
        assertThat(attack.victim.counters.get(PacketFate.ACCEPTED)).isGreaterThan(fpdus / 10);
        assertThat(attack.succeeded).isGreaterThan(fpdus / 100);
        assertThat(attack.failed).isGreaterThan(fpdus / 1000);
        assertThat(attack.victim.direct).isPositive();
    }

    private static final class Attack {
        private final Random random;
        final IwarpEnd victim;
        private final MemorySegment canary = Arena.ofAuto().allocate(CANARY, 8);
        /// What may change: the first quarter of the canary's memory lies before it, the rest behind.
        private final Region writable;

        private final Region readable;
        private final Region local;
        private final Window window;
        private final StreamBuffer stream = new StreamBuffer(Arena.ofAuto().allocate(4L * StreamBuffer.BYTES_MIN, 8));
        private final StreamOutput output =
                new StreamOutput(new StreamBuffer(Arena.ofAuto().allocate(2L * StreamBuffer.BYTES_MIN, 8)), 16);
        private final StreamTarget target = new StreamTarget();
        private final WorkCompletion wc = new WorkCompletion();
        private final CRC32C crc32c = new CRC32C();

        private boolean crc;
        private int at;
        private int[] msn = new int[4];
        private long sendOffset;
        /// READs of the victim, as it has posted them: sizes.
        private final ArrayDeque<Integer> reads = new ArrayDeque<>();

        private long posted;
        private long completed;
        long composed;
        long mutated;
        long lives;
        long succeeded;
        long failed;

        Attack(long seed) {
            random = new Random(seed);
            victim = new IwarpEnd("victim", seed);
            for (long i = 0; i < CANARY; i++) {
                canary.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
            }
            // Regions with canaries on both sides of each that may change.
            writable = region(REGION, IwarpEnd.ALL);
            readable = region(0, Access.REMOTE_READ.bit());
            local = region(3 * REGION, Access.LOCAL_WRITE.bit());
            window = victim.window(2);
        }

        private Region region(int from, int access) {
            MemorySegment memory = canary.asSlice(from + 512, REGION - 1024);
            return victim.region(memory, memory.address(), access);
        }

        /// Everything but the insides of the two regions that may be written.
        private long digest() {
            var all = new CRC32();
            all.update(canary.asByteBuffer().limit(REGION + 512));
            all.update(canary.asByteBuffer().position(2 * REGION - 512).limit(3 * REGION + 512));
            all.update(canary.asByteBuffer().position(4 * REGION - 512));
            return all.getValue();
        }

        /// One connection from its start to its end.
        void live() {
            lives++;
            long before = digest();
            crc = random.nextInt(3) == 0;
            Rtr rtr = Rtr.values()[random.nextInt(4)];
            boolean initiator = random.nextBoolean();
            var terms = new StreamTerms(
                    initiator, crc, false, false, 200 + random.nextInt(2000), random.nextInt(8) == 0 ? 1 : 64, 64, rtr);
            victim.connection.onModified(victim.parameters.state, QpState.RESET, 0);
            victim.parameters.state = QpState.INIT;
            victim.connection.start(terms, 0);
            msn = new int[] {1, 1, 1, 1};
            sendOffset = 0;
            reads.clear();
            posted = 0;
            completed = 0;
            if (rtr == Rtr.READ && initiator) {
                reads.add(0);
            }
            for (int batch = 0; batch < 200 && victim.parameters.state == QpState.RTS; batch++) {
                post();
                drain();
                int end = compose();
                deliver(end);
                drain();
                if (random.nextInt(300) == 0) {
                    victim.memory.remove(writable);
                    victim.memory.add(writable);
                }
            }
            switch (random.nextInt(3)) {
                case 0 -> victim.connection.onEnd(0);
                case 1 -> victim.connection.onBroken("reset", 0);
                default -> victim.connection.breakDown("enough");
            }
            drain();
            assertThat(victim.connection.isFinished()).isTrue();
            assertThat(victim.parameters.state).isEqualTo(QpState.ERR);
            assertThat(completed).as("completions in life " + lives).isEqualTo(posted);
            assertThat(digest()).as("memory after life " + lives).isEqualTo(before);
            victim.events.clear();
        }

        private void post() {
            while (victim.receives.hasRoom() && random.nextInt(4) != 0) {
                int bytes = random.nextInt(MESSAGE_MAX);
                victim.receive(1, local, random.nextInt((int) local.length() - bytes), bytes);
                posted++;
            }
            while (victim.sends.hasRoom() && random.nextInt(3) == 0) {
                int bytes = random.nextInt(MESSAGE_MAX);
                SendOperation operation = switch (random.nextInt(6)) {
                    case 0, 1 -> SendOperation.READ;
                    case 2 -> SendOperation.FETCH_ADD;
                    case 3 -> SendOperation.SEND;
                    case 4 -> SendOperation.WRITE_WITH_IMMEDIATE;
                    default -> SendOperation.WRITE;
                };
                int length = operation.isAtomic() ? 8 : bytes;
                SendRequest request = victim.prepare(operation, 2, local, 0, length, 1, 8);
                request.fenced = random.nextInt(10) == 0;
                victim.post(request);
                posted++;
                if (operation.needsResponse()) {
                    reads.add(operation.isAtomic() ? -1 : length);
                }
            }
        }

        private void drain() {
            boolean more;
            do {
                output.clear();
                more = victim.connection.poll(output, 0);
            } while (more || output.isFull());
            while (victim.completions.poll(wc)) {
                completed++;
                if (wc.status() == WcStatus.SUCCESS) {
                    succeeded++;
                } else {
                    failed++;
                }
            }
        }

        // ---- composing

        private int compose() {
            at = 0;
            int n = 1 + random.nextInt(12);
            for (int i = 0; i < n; i++) {
                int start = at;
                one();
                composed++;
                if (random.nextInt(60) == 0) {
                    mutate(start);
                }
            }
            return at;
        }

        private void one() {
            MemorySegment s = stream.segment;
            int u = at + Fpdu.LENGTH_BYTES;
            switch (random.nextInt(12)) {
                case 0, 1, 2, 3 -> {
                    int bytes = random.nextInt(1500);
                    long where = random.nextInt((int) writable.length() - bytes);
                    boolean last = random.nextInt(3) != 0;
                    Ddp.writeTagged(s, u, RdmapOpcode.WRITE, last, writable.key(), writable.iova() + where);
                    end(Ddp.TAGGED_BYTES + bytes);
                }
                case 4, 5, 6 -> send(s, u);
                case 7 -> {
                    int bytes = random.nextInt(MESSAGE_MAX);
                    Ddp.writeUntagged(s, u, RdmapOpcode.READ_REQUEST, true, 0, msn[1]++, 0);
                    ReadRequest.write(s, u + Ddp.UNTAGGED_BYTES, 1, 2, bytes, readable.key(), readable.iova());
                    end(Ddp.UNTAGGED_BYTES + ReadRequest.BYTES);
                }
                case 8 -> {
                    Ddp.writeUntagged(s, u, RdmapOpcode.ATOMIC_REQUEST, true, 0, msn[1]++, 0);
                    AtomicRequest.write(
                            s,
                            u + Ddp.UNTAGGED_BYTES,
                            2 * random.nextInt(2),
                            1,
                            writable.key(),
                            writable.iova() + 8L * random.nextInt(100),
                            random.nextLong(),
                            random.nextLong(),
                            random.nextLong(),
                            random.nextLong());
                    end(Ddp.UNTAGGED_BYTES + AtomicRequest.BYTES);
                }
                case 9 -> {
                    if (sendOffset == 0) {
                        Ddp.writeUntagged(s, u, RdmapOpcode.IMMEDIATE, true, 0, msn[0]++, 0);
                        ImmediateData.write(s, u + Ddp.UNTAGGED_BYTES, random.nextInt());
                        end(Ddp.UNTAGGED_BYTES + ImmediateData.BYTES);
                    }
                }
                default -> answer(s, u);
            }
        }

        private void send(MemorySegment s, int u) {
            boolean last = random.nextInt(3) != 0;
            int bytes = random.nextInt(400);
            Ddp.writeUntagged(s, u, RdmapOpcode.SEND, last, window.key(), msn[0], sendOffset);
            sendOffset = last ? 0 : sendOffset + bytes;
            msn[0] += last ? 1 : 0;
            end(Ddp.UNTAGGED_BYTES + bytes);
        }

        /// To the oldest READ or atomic of the victim, which may not have been sent yet.
        private void answer(MemorySegment s, int u) {
            if (reads.size() < 8 && random.nextInt(500) != 0) {
                return; // mostly only what has been asked for
            }
            int oldest = reads.isEmpty() ? -1 : reads.remove();
            if (oldest < 0) {
                Ddp.writeUntagged(s, u, RdmapOpcode.ATOMIC_RESPONSE, true, 0, msn[3], 0);
                AtomicResponse.write(s, u + Ddp.UNTAGGED_BYTES, random.nextInt(4), random.nextLong());
                end(Ddp.UNTAGGED_BYTES + AtomicResponse.BYTES);
                msn[3]++;
                return;
            }
            long sink = local.iova();
            int left = oldest;
            do {
                int n = Math.min(left, 1 + random.nextInt(1400));
                Ddp.writeTagged(s, at + Fpdu.LENGTH_BYTES, RdmapOpcode.READ_RESPONSE, n == left, local.key(), sink);
                end(Ddp.TAGGED_BYTES + n);
                sink += n;
                left -= n;
            } while (left > 0);
        }

        /// The payload is whatever lies there.
        private void end(int ulpdu) {
            MemorySegment s = stream.segment;
            Fpdu.setUlpduLength(s, at, ulpdu);
            int covered = Fpdu.length(ulpdu) - Fpdu.CRC_BYTES;
            Fpdu.setCrc(s, at + covered, crc ? Fpdu.crc(crc32c, stream.buffer, at, covered) : 0);
            at += covered + Fpdu.CRC_BYTES;
        }

        private void mutate(int from) {
            if (at == from) {
                return;
            }
            mutated++;
            MemorySegment s = stream.segment;
            int header = Math.min(at - from, 80);
            switch (random.nextInt(6)) {
                case 0 -> BigEndian.put8(s, from + random.nextInt(header), random.nextInt());
                case 1 -> {
                    int where = from + random.nextInt(header);
                    BigEndian.put8(s, where, BigEndian.u8(s, where) ^ 1 << random.nextInt(8));
                }
                case 2 -> at = from + random.nextInt(at - from); // cut short, and the next comes too early
                case 3 -> { // twice
                    int n = at - from;
                    MemorySegment.copy(s, from, s, at, n);
                    at += n;
                }
                case 4 -> BigEndian.put32(s, from + 4L * random.nextInt(header / 4), random.nextInt());
                default -> {
                    for (int i = 0; i < 4; i++) {
                        BigEndian.put8(s, from + 2 + random.nextInt(header - 2), random.nextInt());
                    }
                }
            }
            if (crc && random.nextBoolean() && at - from > 24) { // wrong, but sealed
                int covered = Fpdu.length(Fpdu.ulpduLength(s, from)) - Fpdu.CRC_BYTES;
                if (from + covered + Fpdu.CRC_BYTES <= at) {
                    Fpdu.setCrc(s, from + covered, Fpdu.crc(crc32c, stream.buffer, from, covered));
                }
            }
        }

        // ---- delivering

        private void deliver(int end) {
            int from = 0;
            int to = 0;
            while (to < end && victim.parameters.state == QpState.RTS) {
                if (from == to && random.nextInt(4) == 0 && victim.connection.direct(target)) {
                    int n = Math.min(target.bytes, 1 + random.nextInt(end - to));
                    MemorySegment.copy(stream.segment, to, target.segment, target.offset, n);
                    victim.connection.onDirect(n, 0);
                    victim.direct += n;
                    from = to += n;
                    continue;
                }
                to = Math.min(end, to + 1 + random.nextInt(random.nextBoolean() ? 30 : 5000));
                int consumed = victim.connection.onBytes(stream, from, to, 0);
                if (consumed < 0 || consumed > to - from) {
                    throw new AssertionError("consumed " + consumed + " of " + (to - from));
                }
                from += consumed;
                if (victim.connection.isStalled()) {
                    if (random.nextInt(500) == 0) {
                        victim.connection.giveUp();
                    } else {
                        int bytes = random.nextInt(MESSAGE_MAX);
                        victim.receive(1, local, 0, bytes);
                        posted++;
                    }
                    drain();
                }
            }
            if (victim.parameters.state == QpState.RTS) {
                from += victim.connection.onBytes(stream, from, end, 0);
            }
            // What is incomplete is followed by something else.
            if (from < end) {
                sendOffset = random.nextInt(2);
            }
        }
    }
}

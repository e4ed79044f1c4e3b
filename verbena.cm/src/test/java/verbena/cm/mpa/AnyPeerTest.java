package verbena.cm.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.cm.mpa.MpaConnection.Loss;
import verbena.cm.mpa.MpaConnection.State;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.PrivateData;

/// Whatever a peer sends and whenever an owner calls, a connection keeps its promises. Its end is told once
/// and nothing after it, a closed connection waits for nothing, and the stream begins once.
class AnyPeerTest {
    private static final long SECOND = 1_000_000_000;
    private static final int RUNS = 20_000;
    private static final int STEPS = 30;

    private final Random random = new Random(20);
    private long now;
    private int begins;
    private int ends;
    private int closed;

    @Test
    void aConnectionKeepsItsPromises() {
        int streaming = 0;
        int told = 0;
        for (int i = 0; i < RUNS; i++) {
            begins = 0;
            ends = 0;
            closed = 0;
            var end = new MpaEnd(random.nextBoolean(), random.nextInt(9), random.nextInt(9), PrivateData.of((byte) i));
            MpaConnection mpa = random.nextBoolean()
                    ? MpaConnection.active("peer", end, MpaScript.NO_SECRET, random.nextBoolean(), now)
                    : MpaConnection.passive("peer", MpaScript.NO_SECRET, now);
            for (int step = 0; step < STEPS; step++) {
                call(mpa, end);
                drain(mpa);
                assertThat(mpa.deadlineNanos() == MpaConnection.NEVER).isEqualTo(mpa.timer() == null);
            }
            streaming += begins;
            told += ends;
        }
        assertThat(streaming).isGreaterThan(RUNS / 50);
        assertThat(told).isGreaterThan(RUNS / 5);
    }

    private void call(MpaConnection mpa, MpaEnd end) {
        try {
            switch (random.nextInt(14)) {
                case 0, 1 -> mpa.onConnected();
                case 2, 3, 4 -> arrive(mpa);
                case 5 -> mpa.onLost(Loss.values()[random.nextInt(3)], "lost", now);
                case 6 -> {
                    now += random.nextLong(4 * SECOND);
                    mpa.onDeadline(now);
                }
                case 7 -> mpa.accept(end, 1_448);
                case 8 -> mpa.ready();
                case 9 -> mpa.reject(end.crc(), end.privateData(), now);
                case 10 -> mpa.onStreamFinished(now);
                case 11 -> {
                    if (mpa.state() == State.STREAMING) {
                        mpa.onStreamOver(EndedBy.PEER, "over");
                    }
                }
                case 12 -> {
                    if (random.nextInt(4) == 0) {
                        mpa.disconnect();
                    }
                }
                default -> {
                    if (mpa.state() == State.STREAMING) {
                        mpa.onQueuePairFailed("failed");
                    }
                }
            }
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("not there any more");
        }
    }

    private void arrive(MpaConnection mpa) {
        boolean isReply = mpa.state() == State.REQUEST_SENT;
        MpaTerms terms = random.nextBoolean()
                ? MpaTerms.enhanced(random.nextBoolean(), random.nextInt(9), random.nextInt(9))
                : new MpaTerms(2, true, true, false, true, false, true, false, random.nextInt(9), random.nextInt(9));
        MemorySegment s = MemorySegment.ofArray(new byte[600]);
        MemorySegment data = MemorySegment.ofArray(new byte[random.nextInt(5)]);
        byte[] bytes = MpaScript.bytes(s.asSlice(0, terms.write(s, 0, isReply, random.nextInt(8) == 0, data)));
        if (random.nextInt(4) == 0) {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
        if (random.nextInt(4) == 0) {
            bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 4));
        }
        int done = mpa.onBytes(MemorySegment.ofArray(bytes), 0, bytes.length, 1_448);
        assertThat(done).isBetween(0, bytes.length);
    }

    private void drain(MpaConnection mpa) {
        for (MpaAction action = mpa.poll(); action != null; action = mpa.poll()) {
            switch (action) {
                case MpaAction.Begin _ -> assertThat(++begins).isEqualTo(1);
                case MpaAction.Close _ -> {
                    assertThat(mpa.state()).isEqualTo(State.CLOSED);
                    assertThat(mpa.timer()).isNull();
                    assertThat(++closed).isEqualTo(1);
                }
                case MpaAction.Tell(MpaEvent event) -> {
                    assertThat(ends).isZero();
                    if (event instanceof MpaEvent.Ended) {
                        ends++;
                    }
                }
                case MpaAction.Send _ -> assertThat(closed).isZero();
                case MpaAction.Connect _, MpaAction.Finish _, MpaAction.EndOutput _ -> {}
            }
        }
    }
}

package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static verbena.nic.link.FrameRing.Content.MESSAGE;
import static verbena.nic.link.LinkBench.fill;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.number;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Gid;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;

/// One writer and one reader of a ring, each with its own view, as two processes have.
class FrameRingTest {
    private static final Gid FROM = Gid.parse("127.0.0.1");
    private static final Gid TO = Gid.parse("::1");
    private static final int SIZE = 16 << 10;
    private static final int GUARD = 8 << 10;

    private final MemorySegment memory = Arena.ofAuto().allocate(FrameRing.bytes(SIZE), 64);
    private final FrameRing writer = new FrameRing(memory);
    private final FrameRing reader = new FrameRing(memory);
    private final Frame[] one = frames(1);
    private final Frame[] many = frames(64);

    private boolean put(int number, int length) {
        fill(one[0], FROM, TO, number, length);
        return writer.put(one[0]);
    }

    @Test
    void aFrameArrivesWithItsAddresses() {
        fill(one[0], FROM, TO, 7, 100);
        one[0].trafficClass = 0xB9;
        one[0].hopLimit = 64;
        assertThat(writer.put(one[0])).isTrue();
        assertThat(reader.take(many, 0, 64)).as("before it is shown").isZero();
        writer.publish();
        assertThat(reader.hasRecords()).isTrue();
        assertThat(writer.isRead(writer.added())).isFalse();
        assertThat(reader.take(many, 0, 64)).isEqualTo(1);
        Frame arrived = many[0];
        assertThat(arrived.packet().mismatch(one[0].packet())).isEqualTo(-1);
        assertThat(new Gid(arrived.sourceHigh, arrived.sourceLow)).isEqualTo(FROM);
        assertThat(new Gid(arrived.destinationHigh, arrived.destinationLow)).isEqualTo(TO);
        assertThat(arrived.trafficClass).isEqualTo(0xB9);
        assertThat(arrived.hopLimit).isEqualTo(64);
        assertThat(arrived.icrcValid).isTrue();
        assertThat(reader.hasRecords()).isFalse();
        assertThat(reader.take(many, 0, 64)).isZero();
        assertThat(writer.isRead(writer.added())).isTrue();
    }

    /// The first record that is not shown keeps the others back.
    @Test
    void framesThatWereNotShownStayHiddenBehindEachOther() {
        for (int i = 0; i < 3; i++) {
            assertThat(put(i, 100)).isTrue();
        }
        assertThat(reader.hasRecords()).isFalse();
        writer.publish();
        assertThat(put(3, 100)).isTrue();
        assertThat(reader.take(many, 0, 64)).isEqualTo(3);
        assertThat(reader.hasRecords()).isFalse();
        writer.publish();
        assertThat(reader.take(many, 0, 64)).isEqualTo(1);
        assertThat(number(many[0])).isEqualTo(3);
    }

    @Test
    void whatAFaultyLinkHasDamagedArrivesAsDamaged() {
        fill(one[0], FROM, TO, 7, 100);
        one[0].marks.damagedBit = 3;
        assertThat(writer.put(one[0])).isTrue();
        writer.publish();
        assertThat(reader.take(many, 0, 1)).isEqualTo(1);
        assertThat(many[0].icrcValid).isFalse();
    }

    /// Lengths that do not divide the ring, so that its end is met everywhere.
    @ParameterizedTest
    @ValueSource(ints = {12, 24, 25, 88, 89, 1_000, 4_095, Frame.PACKET_MAX})
    void framesStayInOrderAroundTheRing(int length) {
        int written = 0;
        int read = 0;
        while (read < 1_000) {
            while (put(written & 0xFF, length)) {
                written++;
            }
            writer.publish();
            int taken = reader.take(many, 0, 5);
            assertThat(taken).isPositive();
            for (int i = 0; i < taken; i++) {
                assertThat(many[i].length).isEqualTo(length);
                assertThat(number(many[i])).isEqualTo(read++ & 0xFF);
            }
        }
        assertThat(written - read).isLessThanOrEqualTo((int) (SIZE / FrameRing.recordBytes(length)));
    }

    @Test
    void aFullRingTakesNoFrameUntilOneIsRead() {
        int held = 0;
        while (put(held, 1_000)) {
            held++;
        }
        assertThat(held).isEqualTo((int) (SIZE / FrameRing.recordBytes(1_000)));
        writer.publish();
        assertThat(reader.take(many, 0, 2)).isEqualTo(2);
        assertThat(put(held, 1_000)).isTrue();
        assertThat(put(held, 1_000)).isFalse();
    }

    /// Records of whole lines that would fill the ring to its last: the line behind them is not theirs.
    @Test
    void aFullRingIsReadOnce() {
        int held = 0;
        while (put(held, 24)) {
            held++;
        }
        assertThat(held).isEqualTo(SIZE / 64 - 1);
        writer.publish();
        int read = 0;
        for (int taken = reader.take(many, 0, 64); taken > 0; taken = reader.take(many, 0, 64)) {
            for (int i = 0; i < taken; i++) {
                assertThat(number(many[i])).isEqualTo(read++ & 0xFF);
            }
        }
        assertThat(read).isEqualTo(held);
    }

    // ---- messages

    private int messages(int most) {
        return reader.take(MESSAGE, many, 0, most);
    }

    private boolean putMessage(int number, int bytes) {
        long at = writer.begin(DirectMessage.HEADER_BYTES + bytes);
        if (at < 0) {
            return false;
        }
        DirectMessage.write(writer.memory(), at, DirectMessage.SEND, 0, 1, 2, number, 0);
        for (int i = 0; i < bytes; i++) {
            writer.memory().set(JAVA_BYTE, at + DirectMessage.HEADER_BYTES + i, (byte) (number + i));
        }
        writer.end();
        return true;
    }

    @Test
    void aMessageIsTakenOnlyWhenItIsComplete() {
        long at = writer.begin(DirectMessage.HEADER_BYTES);
        assertThat(at).isPositive();
        writer.publish();
        assertThat(reader.hasRecords()).as("begun").isFalse();
        assertThat(putMessage(5, 8)).as("another in its place").isTrue();
        writer.publish();
        assertThat(reader.take(many, 0, 64)).as("frames").isZero();
        assertThat(messages(64)).isEqualTo(1);
        assertThat(DirectMessage.isWellFormed(many[0])).isTrue();
        assertThat(DirectMessage.number(many[0])).isEqualTo(5);
        assertThat(DirectMessage.dataBytes(many[0])).isEqualTo(8);
    }

    /// Its bytes lie where the reader looks for the next record.
    @Test
    void aLongMessageThatIsGivenUpLeavesNothingBehind() {
        long at = writer.begin(DirectMessage.BYTES_MAX);
        writer.memory().asSlice(at, DirectMessage.BYTES_MAX).fill((byte) 1);
        assertThat(putMessage(5, 8)).isTrue();
        writer.publish();
        assertThat(messages(64)).isEqualTo(1);
        assertThat(messages(64)).isZero();
        at = writer.begin(DirectMessage.BYTES_MAX);
        writer.memory().asSlice(at, DirectMessage.BYTES_MAX).fill((byte) 1);
        writer.publish();
        assertThat(putMessage(6, 8)).isTrue();
        writer.publish();
        assertThat(messages(64)).isEqualTo(1);
        assertThat(messages(64)).isZero();
        assertThat(reader.isBroken()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 32, 33, 1_000, DirectMessage.DATA_MAX})
    void messagesAndFramesStayInOrderAroundTheRing(int bytes) {
        int written = 0;
        int read = 0;
        while (read < 1_000) {
            while ((written & 1) == 0 ? putMessage(written, bytes) : put(written & 0xFF, 100)) {
                written++;
            }
            writer.publish();
            boolean isTurn = (read & 1) == 0;
            int taken = isTurn ? messages(5) : reader.take(many, 0, 5);
            assertThat(taken).as("up to the next of the other kind").isEqualTo(1);
            for (int i = 0; i < taken; i++, read++) {
                Frame frame = many[i];
                if (isTurn) {
                    assertThat(DirectMessage.number(frame)).isEqualTo(read);
                    assertThat(DirectMessage.dataBytes(frame)).isEqualTo(bytes);
                    int last = frame.start + frame.length - 1;
                    assertThat(bytes == 0 || frame.slot.get(JAVA_BYTE, last) == (byte) (read + bytes - 1))
                            .isTrue();
                } else {
                    assertThat(number(frame)).isEqualTo(read & 0xFF);
                }
            }
        }
    }

    @Test
    void messagesLeaveHalfOfTheRingForFrames() {
        int held = 0;
        while (putMessage(held, 1_000)) {
            held++;
        }
        assertThat(held).isEqualTo(SIZE / 2 / 1_088);
        assertThat(put(1, 1_000)).isTrue();
    }

    /// A message that comes after a look in vain is taken alone: the line behind it may be the writer's still.
    @Test
    void aReaderLooksBehindAMessageOnlyWhenMoreHasCome() {
        assertThat(reader.hasRecords()).isFalse();
        for (int i = 0; i < 4; i++) {
            assertThat(putMessage(i, 8)).isTrue();
        }
        writer.publish();
        assertThat(messages(64)).isEqualTo(1);
        assertThat(reader.take(many, 0, 64))
                .as("a look for frames changes nothing")
                .isZero();
        assertThat(messages(64)).isEqualTo(3);
        assertThat(messages(64)).isZero();
        assertThat(putMessage(4, 8)).isTrue();
        assertThat(putMessage(5, 8)).isTrue();
        writer.publish();
        assertThat(messages(64)).isEqualTo(1);
    }

    @Test
    void messagesAreTakenUpToTheFirstPacketAndPacketsUpToTheFirstMessage() {
        assertThat(putMessage(0, 8)).isTrue();
        assertThat(putMessage(1, 8)).isTrue();
        assertThat(put(2, 100)).isTrue();
        assertThat(putMessage(3, 8)).isTrue();
        writer.publish();
        assertThat(reader.take(many, 0, 64)).isZero();
        assertThat(messages(64)).isEqualTo(1);
        assertThat(messages(64)).isEqualTo(1);
        assertThat(DirectMessage.number(many[0])).isEqualTo(1);
        assertThat(messages(64)).isZero();
        assertThat(reader.take(many, 0, 64)).isEqualTo(1);
        assertThat(number(many[0])).isEqualTo(2);
        assertThat(messages(64)).isEqualTo(1);
        assertThat(DirectMessage.number(many[0])).isEqualTo(3);
    }

    @Test
    void aMessageThatIsTooLongBreaksTheRing() {
        assertThat(putMessage(1, 8)).isTrue();
        writer.publish();
        memory.set(JAVA_INT, FrameRing.HEAD_BYTES, 1 << 30 | DirectMessage.BYTES_MAX + 1);
        assertThat(messages(1)).isZero();
        assertThat(reader.isBroken()).isTrue();
    }

    @Test
    void oneCallIsToldThatTheReaderSleeps() {
        reader.sleep();
        put(1, 100);
        assertThat(writer.publish()).isTrue();
        assertThat(writer.publish()).isFalse();
        reader.sleep();
        reader.awake();
        assertThat(writer.publish()).isFalse();
    }

    /// The reader copies at most what a frame holds, from inside the ring, whatever the other process has written.
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void garbageBreaksTheRingAndNothingElse(long seed) {
        var random = new SplittableRandom(seed);
        for (int round = 0; round < 2_000; round++) {
            MemorySegment garbage = Arena.ofAuto().allocate(FrameRing.bytes(SIZE), 64);
            var deceived = new FrameRing(garbage);
            for (long at = FrameRing.HEAD_BYTES; at < garbage.byteSize(); at += 64) {
                int word = (int) (random.nextLong() >> random.nextInt(32, 64));
                garbage.set(JAVA_INT, at, random.nextInt(4) == 0 ? word | 1 << 30 : word);
            }
            for (int i = 0; i < 100; i++) {
                int taken = random.nextBoolean() ? deceived.take(many, 0, 64) : deceived.take(MESSAGE, many, 0, 64);
                for (int j = 0; j < taken; j++) {
                    assertThat(many[j].length).isBetween(1, Frame.PACKET_MAX);
                }
            }
            boolean isBroken = deceived.isBroken();
            assertThat(isBroken && deceived.take(many, 0, 64) + deceived.take(MESSAGE, many, 0, 64) > 0)
                    .isFalse();
        }
    }

    /// Only the end of the ring is filled up. A record that fills all of it would have the reader go around for
    /// ever.
    @Test
    void aRingOfNothingIsBroken() {
        memory.set(JAVA_INT, FrameRing.HEAD_BYTES, -1);
        assertThat(reader.take(many, 0, 1)).isZero();
        assertThat(reader.isBroken()).isTrue();
    }

    /// A writer that lies about its room harms its own frames only.
    @Test
    void aReaderThatLiesLeavesTheWriterInsideTheRing() {
        var random = new SplittableRandom(7);
        MemorySegment around = Arena.ofAuto().allocate(FrameRing.bytes(SIZE) + 2 * GUARD, 64);
        MemorySegment ring = around.asSlice(GUARD, FrameRing.bytes(SIZE));
        var deceived = new FrameRing(ring);
        for (int i = 0; i < 10_000; i++) {
            ring.set(JAVA_LONG, 0, random.nextLong() >>> random.nextInt(64));
            fill(one[0], FROM, TO, i & 0xFF, 1 + random.nextInt(Frame.PACKET_MAX));
            boolean _ = deceived.put(one[0]);
            deceived.publish();
        }
        MemorySegment untouched = Arena.ofAuto().allocate(GUARD);
        assertThat(around.asSlice(0, GUARD).mismatch(untouched)).isEqualTo(-1);
        assertThat(around.asSlice(around.byteSize() - GUARD).mismatch(untouched))
                .isEqualTo(-1);
    }
}

package verbena.cm.mpa;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import verbena.wire.BigEndian;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.iwarp.TerminateCode;

/// What two sides agree on (RFC 5044 7.1, RFC 6581).
class MpaTermsTest {
    private static final int EMSS = 1448;

    private static StreamTerms initiator(MpaTerms request, MpaTerms reply) {
        MpaTerms.Outcome outcome = MpaTerms.ofInitiator(request, reply, 7, 8, EMSS);
        assertThat(outcome.code()).isNull();
        return Objects.requireNonNull(outcome.terms());
    }

    private static TerminateCode refused(MpaTerms request, MpaTerms reply) {
        MpaTerms.Outcome outcome = MpaTerms.ofInitiator(request, reply, 7, 8, EMSS);
        assertThat(outcome.terms()).isNull();
        return Objects.requireNonNull(outcome.code());
    }

    @Test
    void twoOfOursBeginWithAWrite() {
        MpaTerms request = MpaTerms.enhanced(false, 16, 4);
        MpaTerms reply = MpaTerms.enhanced(true, 2, 32).reply(request);
        StreamTerms a = initiator(request, reply);
        StreamTerms b = MpaTerms.ofResponder(request, reply, 1, 1, EMSS);
        assertThat(a).isEqualTo(new StreamTerms(true, true, false, false, 1442, 16, 2, Rtr.WRITE));
        assertThat(b).isEqualTo(new StreamTerms(false, true, false, false, 1442, 2, 16, Rtr.WRITE));
    }

    @Test
    void revisionOneSaysNothingOfReads() {
        MpaTerms request = MpaTerms.basic(true);
        MpaTerms reply = MpaTerms.enhanced(false, 2, 32).reply(request);
        assertThat(reply.revision()).isEqualTo(1);
        assertThat(reply.enhanced()).isFalse();
        assertThat(initiator(request, reply))
                .isEqualTo(new StreamTerms(true, true, false, false, 1442, 7, 8, Rtr.NONE));
        assertThat(MpaTerms.ofResponder(request, reply, 5, 6, EMSS))
                .isEqualTo(new StreamTerms(false, true, false, false, 1442, 5, 6, Rtr.NONE));
    }

    @Test
    void markersGoToWhoWantsThem() {
        var request = new MpaTerms(2, true, false, true, false, false, false, false, 1, 1);
        MpaTerms reply = MpaTerms.enhanced(false, 1, 1).reply(request);
        StreamTerms a = initiator(request, reply);
        StreamTerms b = MpaTerms.ofResponder(request, reply, 1, 1, EMSS);
        assertThat(a.markersIn()).isTrue();
        assertThat(a.markersOut()).isFalse();
        assertThat(b.markersOut()).isTrue();
        assertThat(b.markersIn()).isFalse();
        assertThat(b.mulpdu()).isEqualTo(1430);
    }

    @Test
    void aResponderThatWantsToReadMoreThanItMay() {
        MpaTerms request = MpaTerms.enhanced(false, 4, 4);
        var reply = new MpaTerms(2, true, false, false, true, false, true, false, 4, 5);
        assertThat(refused(request, reply)).isEqualTo(TerminateCode.INSUFFICIENT_IRD);
    }

    @Test
    void aReplyWithoutAFirstMessageOfThoseThatWereOffered() {
        MpaTerms request = MpaTerms.enhanced(false, 4, 4);
        assertThat(refused(request, new MpaTerms(2, true, false, false, true, false, false, false, 4, 4)))
                .isEqualTo(TerminateCode.NO_MATCHING_RTR);
        assertThat(refused(request, new MpaTerms(2, true, false, false, true, true, false, false, 4, 4)))
                .isEqualTo(TerminateCode.NO_MATCHING_RTR);
        assertThat(refused(request, new MpaTerms(2, true, false, false, false, false, false, false, 4, 4)))
                .isEqualTo(TerminateCode.NO_MATCHING_RTR);
    }

    @Test
    void aReplyOfAnotherRevisionOrWithoutTheCrcThatWasAskedFor() {
        assertThat(refused(MpaTerms.enhanced(false, 4, 4), MpaTerms.basic(false)))
                .isEqualTo(TerminateCode.START_UP);
        MpaTerms request = MpaTerms.enhanced(true, 4, 4);
        var reply = new MpaTerms(2, true, false, false, true, false, true, false, 4, 4);
        assertThat(refused(request, reply)).isEqualTo(TerminateCode.START_UP);
    }

    @Test
    void aFrameIsWrittenAndReadAndNoShorterOneIsTakenForIt() {
        MemorySegment s = Arena.ofAuto().allocate(600, 8);
        MemorySegment data = MemorySegment.ofArray(new byte[] {1, 2, 3});
        MpaTerms terms = MpaTerms.enhanced(true, 3, 9);
        int length = terms.write(s, 0, true, true, data);
        assertThat(length).isEqualTo(27);
        for (int n = 0; n < length; n++) {
            assertThat(MpaFrame.length(s, 0, n, true)).isZero();
        }
        assertThat(MpaFrame.length(s, 0, 600, true)).isEqualTo(length);
        assertThat(MpaFrame.length(s, 0, 600, false)).isEqualTo(-1);
        assertThat(MpaTerms.read(s, 0)).isEqualTo(terms);
        assertThat(MpaTerms.isReject(s, 0)).isTrue();
        assertThat(MpaFrame.privateDataLength(s, 0)).isEqualTo(3);
    }

    @Test
    void anyBytesAreAFrameOrNone() {
        MemorySegment s = Arena.ofAuto().allocate(600, 8);
        var random = new Random(5);
        int frames = 0;
        for (int i = 0; i < 200_000; i++) {
            int length = MpaTerms.enhanced(random.nextBoolean(), random.nextInt(0x4000), random.nextInt(0x4000))
                    .write(s, 0, false, false, MemorySegment.ofArray(new byte[random.nextInt(500)]));
            for (int n = random.nextInt(3); n > 0; n--) {
                int at = random.nextBoolean() ? 16 + random.nextInt(8) : random.nextInt(length);
                BigEndian.put8(s, at, random.nextInt());
            }
            int found = MpaFrame.length(s, 0, random.nextInt(600), false);
            if (found > 0) {
                frames++;
                MpaTerms theirs = MpaTerms.read(s, 0);
                MpaTerms reply = MpaTerms.enhanced(false, 4, 4).reply(theirs);
                StreamTerms terms = MpaTerms.ofResponder(theirs, reply, 4, 4, random.nextInt(70_000));
                assertThat(terms.ord()).isBetween(0, Math.max(4, theirs.ird()));
                assertThat(terms.mulpdu()).isBetween(128, 0xFFFF);
                assertThat(MpaFrame.privateDataLength(s, 0)).isBetween(0, 512);
                MpaTerms.ofInitiator(MpaTerms.enhanced(true, 4, 4), theirs, 4, 4, 1448);
            }
        }
        assertThat(frames).isGreaterThan(50_000);
    }
}

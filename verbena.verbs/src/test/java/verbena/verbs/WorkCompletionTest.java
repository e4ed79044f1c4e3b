package verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import verbena.verbs.spi.CompletionAccess;

/// A completion says what its provider has filled in, and so does the copy that a program keeps.
class WorkCompletionTest {
    private final WorkCompletion wc = new WorkCompletion();

    @Test
    void aCompletionThatNoPollHasFilledIsNoSuccess() {
        assertThat(wc.ok()).isFalse();
        assertThat(wc.snapshot()).isEqualTo(new Completion.Failure(0, WcStatus.GENERAL_ERR, 0, 0, ""));
    }

    @Test
    void aCopyOfASuccessHasAllValues() {
        CompletionAccess.fill(
                wc,
                1,
                WcStatus.SUCCESS,
                WcOpcode.RECV,
                0,
                50,
                3,
                4,
                CompletionAccess.sender(0xFF_FFFE, 0xFFFD, 15, 127),
                CompletionAccess.GRH | CompletionAccess.WITH_IMM | CompletionAccess.IPV4,
                "");
        CompletionAccess.stamp(wc, 99);

        assertThat(wc.snapshot())
                .isEqualTo(new Completion.Success(
                        1,
                        WcOpcode.RECV,
                        4,
                        50,
                        OptionalInt.of(3),
                        OptionalInt.empty(),
                        0xFF_FFFE,
                        0xFFFD,
                        15,
                        127,
                        true,
                        true,
                        99));
    }

    @Test
    void theNextFillRemovesWhatOnlyTheLastOneHad() {
        CompletionAccess.fill(
                wc,
                1,
                WcStatus.SUCCESS,
                WcOpcode.RECV,
                0,
                50,
                3,
                4,
                CompletionAccess.sender(5, 6, 7, 8),
                CompletionAccess.WITH_INV,
                "");
        CompletionAccess.stamp(wc, 99);
        Completion kept = wc.snapshot();
        CompletionAccess.fill(wc, 2, WcStatus.RETRY_EXC_ERR, WcOpcode.SEND, 12, 0, 0, 4, 0, 0, "no answer");

        assertThat(kept)
                .isEqualTo(new Completion.Success(
                        1, WcOpcode.RECV, 4, 50, OptionalInt.empty(), OptionalInt.of(3), 5, 6, 7, 8, false, false, 99));
        assertThat(wc.snapshot()).isEqualTo(new Completion.Failure(2, WcStatus.RETRY_EXC_ERR, 4, 12, "no answer"));
        assertThat(wc.timestamp()).isZero();
        assertThat(wc.sourceLid()).isZero();
        assertThat(CompletionAccess.flags(wc)).isZero();
    }
}

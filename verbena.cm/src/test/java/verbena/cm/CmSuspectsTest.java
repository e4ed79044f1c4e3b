package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.cm.CmSuspects.BLOCKED_AT;
import static verbena.cm.CmSuspects.BLOCK_NANOS;
import static verbena.cm.CmSuspects.PAUSE_NANOS;
import static verbena.cm.CmSuspects.PEERS_MAX;
import static verbena.cm.CmSuspects.SLOWED_AT;
import static verbena.cm.CmSuspects.Standing.BLOCKED;
import static verbena.cm.CmSuspects.Standing.FREE;
import static verbena.cm.CmSuspects.Standing.SLOWED;
import static verbena.cm.CmSuspects.WINDOW_NANOS;

import org.junit.jupiter.api.Test;
import verbena.verbs.Gid;

class CmSuspectsTest {
    private static final Gid PEER = Gid.parse("10.0.0.1");
    private static final Gid OTHER = Gid.parse("10.0.0.2");

    private final CmSuspects suspects = new CmSuspects();
    private long now = -5;

    private int errors(int n, long nanosBetween) {
        int blocked = 0;
        for (int i = 0; i < n; i++) {
            now += i == 0 ? 0 : nanosBetween;
            blocked += suspects.onAccessError(PEER, now) ? 1 : 0;
        }
        return blocked;
    }

    @Test
    void aFewErrorsAreNothing() {
        assertThat(errors(SLOWED_AT - 1, 1)).isZero();
        assertThat(suspects.standing(PEER, now)).isEqualTo(FREE);
    }

    @Test
    void thenEachCostsAPause() {
        errors(SLOWED_AT, 1);
        assertThat(suspects.standing(PEER, now)).isEqualTo(SLOWED);
        assertThat(suspects.standing(PEER, now + PAUSE_NANOS - 1)).isEqualTo(SLOWED);
        assertThat(suspects.standing(PEER, now + PAUSE_NANOS)).isEqualTo(FREE);
        errors(1, 0);
        assertThat(suspects.standing(PEER, now)).isEqualTo(SLOWED);
    }

    @Test
    void manyInAShortTimeBlockOnceAndForAWhile() {
        assertThat(errors(BLOCKED_AT - 1, WINDOW_NANOS / BLOCKED_AT)).isZero();
        assertThat(errors(1, 0)).isEqualTo(1);
        assertThat(errors(3 * BLOCKED_AT, 1)).as("told once").isZero();
        assertThat(suspects.standing(PEER, now + BLOCK_NANOS - 1)).isEqualTo(BLOCKED);
        assertThat(suspects.standing(PEER, now + BLOCK_NANOS)).isEqualTo(FREE);
        assertThat(suspects.size()).as("forgotten").isZero();
    }

    @Test
    void anErrorLaterMakesTheBlockLonger() {
        errors(BLOCKED_AT, 1);
        now += BLOCK_NANOS - 1;
        assertThat(errors(1, 0)).isZero();
        assertThat(suspects.standing(PEER, now + BLOCK_NANOS - 1)).isEqualTo(BLOCKED);
    }

    @Test
    void asManyOverALongTimeAreSlowedOnly() {
        assertThat(errors(1_000, WINDOW_NANOS / (BLOCKED_AT - 2))).isZero();
        assertThat(suspects.standing(PEER, now)).isEqualTo(SLOWED);
    }

    @Test
    void nobodyElseIsHarmed() {
        errors(10 * BLOCKED_AT, 1);
        assertThat(suspects.standing(OTHER, now)).isEqualTo(FREE);
    }

    @Test
    void noMorePeersAreRememberedThanThereIsRoomFor() {
        errors(BLOCKED_AT, 1);
        for (int i = 0; i < 10 * PEERS_MAX; i++) {
            boolean _ = suspects.onAccessError(new Gid(7, i), now);
            assertThat(suspects.size()).isLessThanOrEqualTo(PEERS_MAX);
        }
        assertThat(suspects.standing(PEER, now)).as("the oldest is forgotten").isEqualTo(FREE);
    }
}

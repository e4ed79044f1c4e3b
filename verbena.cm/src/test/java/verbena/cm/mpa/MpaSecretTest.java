package verbena.cm.mpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.cm.CmGuard;
import verbena.cm.CmRefusal;
import verbena.cm.CmRoute;
import verbena.verbs.Gid;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.cm.Secret;

/// Connections of iWARP whose ends prove to each other that they know a secret, in virtual time, on a wire that the
/// attacker controls (decision 48).
class MpaSecretTest {
    private static final Gid ACTIVE = Gid.parse("10.0.0.1");
    private static final Gid PASSIVE = Gid.parse("10.0.0.2");
    private static final int PORT = 7471;
    private static final int SEGMENT_BYTES = 1_448;
    private static final Secret SECRET = secret(1);
    private static final PrivateData ASKED = PrivateData.of((byte) 1, (byte) 2, (byte) 3);
    private static final PrivateData ANSWERED = PrivateData.of((byte) 4, (byte) 5);

    private final Random random = new Random(54);
    private final CmGuard guard = new CmGuard(random);
    private final List<CmRefusal> unproven = new ArrayList<>();
    /// All frames of the active side, then of the passive side.
    private final List<byte[]> requests = new ArrayList<>();

    private final List<byte[]> replies = new ArrayList<>();
    private UnaryOperator<byte[]> onTheWay = frame -> frame;
    /// What the application of the passive side hears of.
    private final List<PrivateData> heard = new ArrayList<>();

    private int connections;
    private long now;

    private static Secret secret(int fill) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) fill);
        return Secret.of(bytes);
    }

    private MpaConnection listener(Secret secret) {
        var route = new CmRoute(PASSIVE, ACTIVE);
        return MpaConnection.passive("a", MpaSecret.passive(secret, route, PORT, guard, now, unproven::add), now);
    }

    private static int hand(MpaConnection to, byte[] frame) {
        return to.onBytes(MemorySegment.ofArray(frame), 0, frame.length, SEGMENT_BYTES);
    }

    /// Connects, and returns the last event of the active side.
    private MpaEvent connect(Secret here, Secret there) {
        var secret = MpaSecret.active(here, new CmRoute(ACTIVE, PASSIVE), random);
        var active = MpaConnection.active("b", new MpaEnd(true, 4, 4, ASKED), secret, false, now);
        MpaConnection passive = listener(there);
        connections = 1;
        active.onConnected();
        MpaEvent last = null;
        for (boolean any = true; any; ) {
            any = false;
            for (MpaAction action = active.poll(); action != null; action = active.poll()) {
                any = true;
                switch (action) {
                    case MpaAction.Connect() -> {
                        passive = listener(there);
                        connections++;
                        active.onConnected();
                    }
                    case MpaAction.Send(MemorySegment frame) -> {
                        byte[] sent = onTheWay.apply(frame.toArray(ValueLayout.JAVA_BYTE));
                        requests.add(sent);
                        int _ = hand(passive, sent);
                    }
                    case MpaAction.Tell(MpaEvent event) -> last = event;
                    default -> {}
                }
            }
            for (MpaAction action = passive.poll(); action != null; action = passive.poll()) {
                any = true;
                switch (action) {
                    case MpaAction.Send(MemorySegment frame) -> {
                        byte[] sent = onTheWay.apply(frame.toArray(ValueLayout.JAVA_BYTE));
                        replies.add(sent);
                        int _ = hand(active, sent);
                    }
                    case MpaAction.Tell(MpaEvent.Requested(var _, PrivateData data)) -> {
                        heard.add(data);
                        passive.accept(new MpaEnd(true, 4, 4, ANSWERED), SEGMENT_BYTES);
                    }
                    default -> {}
                }
            }
        }
        return last;
    }

    private static void assertRefused(MpaEvent last, String why) {
        assertThat(last)
                .isInstanceOfSatisfying(
                        MpaEvent.Rejected.class,
                        rejected -> assertThat(rejected.why()).contains(why));
    }

    @Test
    void bothProveTheSecretOverASecondConnection() {
        MpaEvent last = connect(SECRET, SECRET);
        assertThat(last)
                .isInstanceOfSatisfying(
                        MpaEvent.Accepted.class,
                        accepted -> assertThat(accepted.privateData()).isEqualTo(ANSWERED));
        assertThat(heard).containsExactly(ASKED);
        assertThat(connections).isEqualTo(2);
        assertThat(unproven).isEmpty();
    }

    /// So that a peer without a secret, which accepts the first, is left in a state that its kernel knows.
    @Test
    void onlyTheRequestThatProvesTheSecretOffersAFirstMessage() {
        assertThat(connect(SECRET, SECRET)).isInstanceOf(MpaEvent.Accepted.class);
        assertThat(requests)
                .map(frame -> MpaTerms.read(MemorySegment.ofArray(frame), 0).peerToPeer())
                .containsExactly(false, true);
    }

    @Test
    void withoutSecretsNothingIsAdded() {
        assertThat(connect(Secret.NONE, Secret.NONE)).isInstanceOf(MpaEvent.Accepted.class);
        assertThat(heard).containsExactly(ASKED);
        assertThat(connections).isEqualTo(1);
        assertThat(requests.getFirst()).hasSize(20 + 4 + ASKED.length());
    }

    @Test
    void whoHasAnotherSecretOrNoneIsRefused() {
        assertRefused(connect(secret(2), SECRET), "has another secret");
        assertRefused(connect(Secret.NONE, SECRET), "takes connections with a secret only");
        assertRefused(connect(SECRET, Secret.NONE), "has no secret for its connections");
        assertThat(heard).isEmpty();
        assertThat(unproven)
                .containsExactly(CmRefusal.SECRET_WRONG, CmRefusal.SECRET_WANTED, CmRefusal.SECRET_UNWANTED);
    }

    /// At once, and when the challenge of the first time is over.
    @ParameterizedTest
    @ValueSource(longs = {0, 40_000_000_000L, 100_000_000_000L})
    void aProofThatWasHeardIsWorthNothing(long later) {
        assertThat(connect(SECRET, SECRET)).isInstanceOf(MpaEvent.Accepted.class);
        now += later;
        for (byte[] recorded : List.copyOf(requests)) {
            int _ = hand(listener(SECRET), recorded);
        }
        assertThat(heard).hasSize(1);
        for (byte[] recorded : List.copyOf(replies)) { // reflected
            int _ = hand(listener(SECRET), recorded);
        }
        assertThat(heard).hasSize(1);
    }

    /// Every bit of every frame, one at a time.
    @Test
    void whatIsChangedOnTheWayIsFoundOut() {
        assertThat(connect(SECRET, SECRET)).isInstanceOf(MpaEvent.Accepted.class);
        int frames = requests.size() + replies.size();
        int bits = 8 * requests.stream().mapToInt(frame -> frame.length).max().orElseThrow();
        for (int frame = 0; frame < frames; frame++) {
            for (int bit = 0; bit < bits; bit++) {
                int[] seen = {0};
                int at = frame;
                int flipped = bit;
                onTheWay = sent -> {
                    if (seen[0]++ == at && flipped < 8 * sent.length) {
                        sent[flipped / 8] ^= (byte) (1 << flipped % 8);
                        seen[0] += 1_000;
                    }
                    return sent;
                };
                heard.clear();
                MpaEvent last = connect(SECRET, SECRET);
                if (last instanceof MpaEvent.Accepted) { // the first request and the challenge decide nothing
                    assertThat(seen[0] > 1_000 && at >= 2)
                            .as("frame %d, bit %d", at, bit)
                            .isFalse();
                    assertThat(heard).hasSize(1);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "data", "Verbena1Verbena1Verbena1"})
    void aPeerThatAcceptsWithoutTheSecretIsRefused(String data) {
        var secret = MpaSecret.active(SECRET, new CmRoute(ACTIVE, PASSIVE), random);
        var active = MpaConnection.active("b", new MpaEnd(true, 4, 4, ASKED), secret, false, now);
        active.onConnected();
        assertThat(active.poll()).isInstanceOf(MpaAction.Send.class);
        MpaTerms answer = MpaTerms.enhanced(true, 4, 4).reply(MpaTerms.enhanced(true, 4, 4));
        int _ = hand(active, answer.frame(true, false, PrivateData.ofText(data)).toArray(ValueLayout.JAVA_BYTE));
        assertThat(active.poll()).isEqualTo(new MpaAction.Close(true));
        assertThat(active.poll())
                .isInstanceOfSatisfying(
                        MpaAction.Tell.class, told -> assertRefused(told.event(), "without proving the secret"));
    }

    @Test
    void thePrivateDataIsShorter() {
        var secret = MpaSecret.active(SECRET, new CmRoute(ACTIVE, PASSIVE), random);
        var end = new MpaEnd(true, 4, 4, PrivateData.of(new byte[469]));
        assertThatThrownBy(() -> MpaConnection.active("b", end, secret, false, 0))
                .hasMessageContaining("at most 468 bytes");
    }
}

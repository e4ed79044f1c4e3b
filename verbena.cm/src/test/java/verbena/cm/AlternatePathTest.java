package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.mad.Mad;

/// A REQ may name a second path. Unless the owner of the connection takes it, the REP says that there is no moving
/// to it (IBTA 12.7.20).
class AlternatePathTest {
    private static final int PRIMARY = Mad.HEADER_BYTES + 52;
    private static final int ALTERNATE = Mad.HEADER_BYTES + 96;
    private static final int PATH_BYTES = 44;
    /// Of a path: the last byte of the receiver's address.
    private static final int REMOTE_GID_END = 35;

    private static final int ACCEPTED = 0;
    private static final int NOT_SUPPORTED = 1;

    private final TwoManagers two = new TwoManagers(1);
    private final MemorySegment mad = MemorySegment.ofArray(new byte[Mad.BYTES]);

    AlternatePathTest() {
        two.serve();
        two.connect();
        Objects.requireNonNull(two.a.poll()).message().write(mad);
    }

    private CmMessage answer() {
        CmMessage req = Objects.requireNonNull(CmMessage.read(mad));
        two.b.onMessage(req, TwoManagers.B_TO_A, two.now);
        return Objects.requireNonNull(two.b.poll()).message();
    }

    @Test
    void aReqWithOnePathIsAcceptedAsItIs() {
        assertThat(((Rep) answer()).failover()).isEqualTo(ACCEPTED);
    }

    @Test
    void ofAReqWithTwoPathsOnlyTheFirstIsAccepted() {
        MemorySegment.copy(mad, PRIMARY, mad, ALTERNATE, PATH_BYTES);
        assertThat(((Rep) answer()).failover()).isEqualTo(NOT_SUPPORTED);
    }

    @Test
    void aSecondPathToAnotherAddressIsRefused() {
        MemorySegment.copy(mad, PRIMARY, mad, ALTERNATE, PATH_BYTES);
        mad.set(ValueLayout.JAVA_BYTE, ALTERNATE + REMOTE_GID_END, (byte) 99);
        assertThat(((Rej) answer()).reason()).isEqualTo(RejectReason.ALTERNATE_GID_REJECTED.code());
    }
}

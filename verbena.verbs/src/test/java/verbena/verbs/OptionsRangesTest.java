package verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import verbena.verbs.cm.PortSpace;

/// The numbers of options at their limits and beside them, and the types of [QpModification].
class OptionsRangesTest {
    private static final EndpointOptions DEFAULTS = EndpointOptions.defaults();

    record Row(String name, int high, IntFunction<EndpointOptions> with, ToIntFunction<EndpointOptions> of) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Row> numbers() {
        return Stream.of(
                new Row(
                        "retryCount",
                        7,
                        value -> DEFAULTS.withRetries(AckTimeout.NEVER, value, 7),
                        EndpointOptions::retryCount),
                new Row(
                        "rnrRetry",
                        7,
                        value -> DEFAULTS.withRetries(AckTimeout.NEVER, 7, value),
                        EndpointOptions::rnrRetry),
                new Row("maxReadAtomic", 255, DEFAULTS::withMaxReadAtomic, EndpointOptions::maxReadAtomic),
                new Row("trafficClass", 255, DEFAULTS::withTrafficClass, EndpointOptions::trafficClass));
    }

    @ParameterizedTest
    @MethodSource("numbers")
    void aNumberIsTakenOrRefusedByName(Row row) {
        for (int value : new int[] {0, row.high}) {
            assertThat(row.of.applyAsInt(row.with.apply(value))).isEqualTo(value);
        }
        for (int value : new int[] {-1, row.high + 1}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> row.with.apply(value))
                    .withMessage(row.name + ": 0 to " + row.high + ", got " + value);
        }
    }

    @Test
    void aCompletionQueueHasAnEntry() {
        assertThat(CompletionQueueOptions.of(1).entries()).isEqualTo(1);
        for (int entries : new int[] {0, -1}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> CompletionQueueOptions.of(entries))
                    .withMessage("createCompletionQueue: entries: at least 1, got " + entries);
        }
    }

    @Test
    void aPortThatIsNoneHasNoServiceId() {
        assertThat(PortSpace.UDP.serviceId(0)).isEqualTo(0x0111_0000);
        assertThat(PortSpace.TCP.serviceId(0xFFFF)).isEqualTo(0x0106_FFFF);
        for (int port : new int[] {-1, 0x1_0000}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> PortSpace.TCP.serviceId(port))
                    .withMessage("port: 0 to 65535, got " + port);
        }
    }

    @ParameterizedTest
    @EnumSource(QpAttribute.class)
    void anAttributeIsAskedForByItsTypeOnly(QpAttribute attribute) {
        var wrong = new Object();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new QpModification().get(attribute, wrong))
                .withMessageMatching("otherwise: \\w+ for " + attribute + ", got .*");
    }

    @Test
    void anAttributeHasTheValueThatWasSet() {
        var change = new QpModification().withState(QpState.RTR).withPort(2).withAccess(Set.of(Access.REMOTE_READ));
        assertThat(change.get(QpAttribute.STATE, QpState.RESET)).isEqualTo(QpState.RTR);
        int port = change.get(QpAttribute.PORT, 1);
        assertThat(port).isEqualTo(2);
        assertThat(change.get(QpAttribute.ACCESS_FLAGS, Set.<Access>of())).containsExactly(Access.REMOTE_READ);
        int psn = change.get(QpAttribute.SQ_PSN, 5);
        assertThat(psn).isEqualTo(5);
    }

    @Test
    void aModificationIsNotChangedByAnotherMadeFromIt() {
        var change = new QpModification().withState(QpState.RTS);
        assertThat(change.withSqPsn(7).mask()).containsExactly(QpAttribute.STATE, QpAttribute.SQ_PSN);
        assertThat(change.mask()).containsExactly(QpAttribute.STATE);
    }

    /// The numbers of libibverbs lead to the names and back.
    @Test
    void aLinkHasNames() {
        for (int code : new int[] {1, 2, 4, 8, 16}) {
            assertThat(PortAttributes.Link.Width.ofCode(code).code()).isEqualTo(code);
        }
        for (int code = 1; code <= 256; code *= 2) {
            assertThat(PortAttributes.Link.Speed.ofCode(code).code()).isEqualTo(code);
        }
        for (int code = 1; code <= 7; code++) {
            assertThat(PortAttributes.Link.State.ofCode(code).code()).isEqualTo(code);
        }
        assertThat(PortAttributes.Link.Width.ofCode(2)).hasToString("4X");
        assertThat(PortAttributes.Link.Width.ofCode(3)).isEqualTo(PortAttributes.Link.Width.UNKNOWN);
        assertThat(PortAttributes.Link.Speed.ofCode(3)).isEqualTo(PortAttributes.Link.Speed.UNKNOWN);
        assertThat(PortAttributes.Link.State.ofCode(8)).isEqualTo(PortAttributes.Link.State.UNKNOWN);
    }

    @Test
    void anEventHasATypeOfItsObject() {
        assertThat(new AsyncEvent.PortEvent(AsyncEvent.Type.PORT_ERR, 1).port()).isEqualTo(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AsyncEvent.PortEvent(AsyncEvent.Type.CQ_ERR, 1))
                .withMessage("type: CQ_ERR is one of CompletionQueueEvent, got PortEvent");
    }
}

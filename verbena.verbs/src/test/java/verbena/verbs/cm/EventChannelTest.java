package verbena.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import verbena.verbs.InvalidStateException;

/// The calls that a closed channel refuses.
class EventChannelTest {
    private static EventChannel closed() {
        EventChannel channel = EventChannel.open();
        channel.close();
        return channel;
    }

    @Test
    void aClosedChannelRefusesEachMethodByItsName() {
        EventChannel channel = closed();
        assertThatExceptionOfType(InvalidStateException.class)
                .isThrownBy(channel::poll)
                .withMessage("poll: the event channel is closed");
        assertThatExceptionOfType(InvalidStateException.class)
                .isThrownBy(channel::await)
                .withMessage("await: the event channel is closed");
        assertThatExceptionOfType(InvalidStateException.class)
                .isThrownBy(() -> channel.createId(PortSpace.TCP))
                .withMessage("createId: the event channel is closed");
    }

    @Test
    void anIdentifierThatCannotMoveStaysWhereItIs() {
        try (EventChannel channel = EventChannel.open();
                ConnectionId id = channel.createId(PortSpace.TCP)) {
            assertThatExceptionOfType(InvalidStateException.class)
                    .isThrownBy(() -> id.migrate(closed()))
                    .withMessage("migrate: the event channel is closed");
            assertThat(id.channel()).isSameAs(channel);
            assertThat(channel.poll()).isEmpty();
        }
    }
}

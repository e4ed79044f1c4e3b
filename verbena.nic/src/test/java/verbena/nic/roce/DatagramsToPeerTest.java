package verbena.nic.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import verbena.transport.QueuePairParameters;

/// What the unread bytes of sockets say about packets that were sent before (decision 08).
class DatagramsToPeerTest {
    private static final int SOCKET = 7;
    private static final int OTHER = 8;

    private Map<Integer, Integer> unread = Map.of();
    private final DatagramsToPeer way = new DatagramsToPeer(_ -> unread, new QueuePairParameters(2));

    @Test
    void aSocketThatOnlyGrowsIsNotRead() {
        unread = Map.of(SOCKET, 700);
        long place = way.added();
        assertThat(way.isRead(place)).isFalse();
        unread = Map.of(SOCKET, 212_992);
        assertThat(way.isRead(place)).isFalse();
        assertThat(way.isRead(place)).as("full, and it stays full").isFalse();
    }

    @Test
    void aSocketThatHoldsLessThanItDidIsReadThoughMoreHasComeSince() {
        unread = Map.of(SOCKET, 700);
        long place = way.added();
        unread = Map.of(SOCKET, 5_000);
        assertThat(way.isRead(place)).isFalse();
        unread = Map.of(SOCKET, 4_000);
        assertThat(way.isRead(place)).isTrue();
        unread = Map.of(SOCKET, 9_000);
        assertThat(way.isRead(place)).as("it was read").isTrue();
        assertThat(way.isRead(way.added())).as("what has come later is not").isFalse();
    }

    /// The kernel chooses one of the sockets that share an address, and another process reads its own.
    @Test
    void eachSocketOfTheAddressHasToBeRead() {
        unread = Map.of(SOCKET, 700, OTHER, 700);
        long place = way.added();
        unread = Map.of(SOCKET, 700);
        assertThat(way.isRead(place)).isFalse();
        unread = Map.of(SOCKET, 700, OTHER, 1_400);
        assertThat(way.isRead(place)).isFalse();
        unread = Map.of(OTHER, 1_400);
        assertThat(way.isRead(place)).isTrue();
    }

    /// Its process has ended, or it is on another host.
    @Test
    void whereNoSocketHoldsAnythingNothingIsWaitedFor() {
        assertThat(way.isRead(way.added())).isTrue();
        unread = Map.of(SOCKET, 700);
        long place = way.added();
        unread = Map.of();
        assertThat(way.isRead(place)).isTrue();
    }
}

package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Neighbours of a link that has slot 5.
class PresenceTest {
    private static final int OWN = 5;

    private final Presence presence = new Presence();

    PresenceTest() {
        presence.settle(OWN);
    }

    private static PeerSocket connection() {
        return new PeerSocket(-1, false);
    }

    private PeerSocket neighbour(int slot) {
        PeerSocket made = connection();
        assertThat(presence.greet(made, slot)).isTrue();
        return made;
    }

    @Test
    void aSlotIsDrawnFromTheFreeOnes() {
        var free = new HashSet<>(List.of(3, 77, 255));
        var drawn = new HashSet<Integer>();
        for (int seed = 0; seed < 50; seed++) {
            drawn.add(Presence.draw(new Random(seed), free::contains));
        }
        assertThat(drawn).isEqualTo(free);
    }

    @Test
    void eachSlotIsTriedOnceBeforeThereIsNone() {
        var tried = new ArrayList<Integer>();
        assertThat(Presence.draw(new Random(1), slot -> {
                    tried.add(slot);
                    return false;
                }))
                .isEqualTo(PeerSocket.NO_SLOT);
        assertThat(tried).hasSize(Presence.SLOTS).doesNotHaveDuplicates();
    }

    @Test
    void aNeighbourIsThereUntilItsConnectionIsClosed() {
        assertThat(presence.isTaken(OWN)).isTrue();
        assertThat(presence.isTaken(9)).isFalse();
        PeerSocket nine = neighbour(9);
        assertThat(presence.isTaken(9)).isTrue();
        assertThat(presence.neighbour(9)).isSameAs(nine);
        assertThat(presence.count()).isEqualTo(1);
        assertThat(presence.forget(nine)).isTrue();
        assertThat(presence.isTaken(9)).isFalse();
        assertThat(presence.count()).isZero();
        assertThat(presence.forget(nine)).as("again").isFalse();
    }

    @Test
    void aConnectionThatSaidNothingIsNoNeighbours() {
        assertThat(presence.forget(connection())).isFalse();
    }

    /// Two links that come at the same time connect to each other.
    @Test
    void theLastConnectionLeadsToANeighbour() {
        PeerSocket first = neighbour(9);
        PeerSocket second = neighbour(9);
        assertThat(presence.count()).isEqualTo(1);
        assertThat(presence.neighbour(9)).isSameAs(second);
        assertThat(presence.forget(first)).as("the neighbour is still there").isFalse();
        assertThat(presence.count()).isEqualTo(1);
        assertThat(presence.forget(second)).isTrue();
    }

    @Test
    void ourOwnSlotAndNoSlotAreNoNeighbours() {
        assertThat(presence.greet(connection(), OWN)).isFalse();
        assertThat(presence.greet(connection(), PeerSocket.NO_SLOT)).isFalse();
        assertThat(presence.count()).isZero();
    }

    /// Otherwise the first slot would lead to a closed connection.
    @Test
    void aNeighbourCannotChangeItsSlot() {
        PeerSocket nine = neighbour(9);
        assertThat(presence.greet(nine, 10)).isFalse();
        assertThat(presence.isTaken(10)).isFalse();
        assertThat(presence.forget(nine)).isTrue();
        assertThat(presence.isTaken(9)).isFalse();
    }

    @Test
    void theLinkWithTheLowestSlotIsFirstUnlessItIsAlone() {
        assertThat(presence.isFirst()).as("alone").isFalse();
        PeerSocket nine = neighbour(9);
        assertThat(presence.isFirst()).isTrue();
        PeerSocket four = neighbour(4);
        assertThat(presence.isFirst()).isFalse();
        presence.forget(four);
        assertThat(presence.isFirst()).isTrue();
        presence.forget(nine);
        assertThat(presence.isFirst()).isFalse();
    }
}

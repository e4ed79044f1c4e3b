package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.nic.link.sharing.ServicesTest.request;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.foreign.linux.LinuxAbi;
import verbena.nic.link.Envelope;
import verbena.nic.link.LinkBench;
import verbena.nic.link.sharing.Services.Offer;
import verbena.verbs.Gid;
import verbena.wire.Frame;

/// How a link with slot 5 handles arrivals that are not for its slot, in virtual time.
class RelayTest {
    private static final int OWN = 5;
    private static final Service SERVICE = new Service(17, gid());
    private static final long WALL = 1_000_000;

    private final Arena arena = Arena.ofConfined();
    private final Presence presence = new Presence();
    private Offer answer = Offer.UNWANTED;
    private final Services services = new Services((_, _) -> answer, new EarlyRequests(arena, () -> 0));
    private final Relay relay = new Relay(presence, services, new Peers(), () -> WALL);

    /// Slots of links that connect when they are let in.
    private final List<Integer> outside = new ArrayList<>();

    /// Slots to which a packet was sent.
    private final List<Integer> sent = new ArrayList<>();

    private int result = 1;
    private int misdirected;

    RelayTest() {
        presence.settle(OWN);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private final class Peers implements Relay.Ways {
        @Override
        public void letNeighboursIn() {
            outside.forEach(slot -> presence.greet(new PeerSocket(-1, false), slot));
            outside.clear();
        }

        @Override
        public int send(PeerSocket to, Frame frame) {
            assertThat(Envelope.kind(frame)).isEqualTo(Envelope.PACKET);
            sent.add(to.slot);
            return result;
        }

        @Override
        public void onMisdirected() {
            misdirected++;
        }
    }

    private void neighbours(int... slots) {
        for (int slot : slots) {
            presence.greet(new PeerSocket(-1, false), slot);
        }
    }

    private boolean arrives(int addressee) {
        return arrives(addressee, WALL);
    }

    private boolean arrives(int addressee, long arrivalMillis) {
        return relay.passesOn(request(SERVICE), addressee, () -> arrivalMillis);
    }

    private long counted(String counter) {
        Map<String, Long> counters = new HashMap<>();
        relay.addCounters(counters);
        return counters.get("shared." + counter);
    }

    @Test
    void aPacketGoesToTheNeighbourWithItsSlot() {
        neighbours(9, 200);
        assertThat(arrives(200)).isTrue();
        assertThat(sent).containsExactly(200);
        assertThat(counted("forwarded")).isEqualTo(1);
        assertThat(misdirected).isEqualTo(1);
    }

    @Test
    void aPacketGoesToALinkThatHasJustConnected() {
        outside.add(9);
        assertThat(arrives(9)).isTrue();
        assertThat(sent).containsExactly(9);
    }

    /// The device here refuses it.
    @Test
    void aPacketForASlotOfNoLinkStaysHere() {
        neighbours(9);
        assertThat(relay.passesOn(LinkBench.filled(1, gid(), gid(), 64)[0], 77, () -> WALL))
                .isFalse();
        assertThat(sent).isEmpty();
    }

    private static Gid gid() {
        return Gid.parse("::ffff:127.0.0.1");
    }

    @Test
    void aRequestForAServiceOfThisLinkStaysHere() {
        neighbours(9);
        services.open(SERVICE);
        assertThat(arrives(Addressee.SERVICE)).isFalse();
    }

    @Test
    void aRequestGoesToTheLinkThatHasTheService() {
        neighbours(9);
        answer = Offer.TAKEN;
        assertThat(arrives(Addressee.SERVICE)).isTrue();
        assertThat(services.waiting()).isZero();
    }

    @Test
    void aRequestForAServiceOfNoLinkWaits() {
        neighbours(9);
        assertThat(arrives(Addressee.SERVICE)).isTrue();
        assertThat(services.waiting()).isEqualTo(1);
    }

    @Test
    void withoutNeighboursARequestWaitsToo() {
        assertThat(arrives(Addressee.SERVICE)).isTrue();
        assertThat(services.waiting()).isEqualTo(1);
    }

    @Test
    void aPacketForEveryLinkGoesToAllAndStaysHereToo() {
        neighbours(9, 200);
        assertThat(arrives(Addressee.EVERY_LINK)).isFalse();
        assertThat(sent).containsExactly(9, 200);
        assertThat(counted("forwarded")).isEqualTo(2);
        assertThat(misdirected).as("steering would not help").isZero();
    }

    /// A process that was stopped would send packets that are long out of date.
    @Test
    void whatHasWaitedTooLongIsNotPassedOn() {
        neighbours(9);
        assertThat(arrives(9, WALL - Relay.LATE_MILLIS)).isTrue();
        assertThat(sent).hasSize(1);
        assertThat(arrives(9, WALL - Relay.LATE_MILLIS - 1)).isTrue();
        assertThat(arrives(9, 0)).as("its time of arrival is unknown").isTrue();
        assertThat(sent).hasSize(1);
        assertThat(counted("dropped.late")).isEqualTo(2);
    }

    @Test
    void whatANeighbourDoesNotTakeIsCounted() {
        neighbours(9);
        result = -LinuxAbi.EAGAIN;
        assertThat(arrives(9)).isTrue();
        result = -LinuxAbi.EPIPE;
        assertThat(arrives(9)).isTrue();
        assertThat(counted("dropped.full")).isEqualTo(1);
        assertThat(counted("dropped.gone")).isEqualTo(1);
        assertThat(counted("forwarded")).isZero();
        assertThat(misdirected).isZero();
    }
}

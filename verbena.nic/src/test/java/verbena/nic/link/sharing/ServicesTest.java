package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.nic.link.LinkBench.frames;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import verbena.nic.link.sharing.Services.Offer;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.cm.SidrReq;
import verbena.wire.mad.Mad;

/// The link that gets a request for a service, in virtual time.
class ServicesTest {
    private static final Gid ADDRESS = Gid.parse("192.0.2.1");
    private static final Service HERE = new Service(17, ADDRESS);
    private static final Service ELSEWHERE = new Service(18, ADDRESS);

    private final Arena arena = Arena.ofConfined();
    private long now = 1_000_000_000;
    /// The answers to an offer by links that have the service.
    private final Map<Service, Offer> others = new HashMap<>();

    private final List<Service> offered = new ArrayList<>();
    private final Services services = new Services(this::offer, new EarlyRequests(arena, () -> now));
    private final Frame[] out = frames(4);

    private Offer offer(Service service, Frame frame) {
        offered.add(service);
        return others.getOrDefault(service, Offer.UNWANTED);
    }

    @AfterEach
    void close() {
        arena.close();
    }

    static Frame request(Service service) {
        Frame frame = frames(1)[0];
        frame.destinationHigh = service.address().high();
        frame.destinationLow = service.address().low();
        frame.length = 12 + 8 + Mad.BYTES + 4;
        frame.slot.asSlice(frame.start, frame.length).fill((byte) 0);
        BigEndian.put24(frame.slot, frame.start + Addressee.QPN_AT, Mad.QPN);
        BigEndian.put8(frame.slot, frame.start + Addressee.CLASS_AT, Mad.CLASS_CM);
        BigEndian.put16(frame.slot, frame.start + Addressee.ATTRIBUTE_AT, SidrReq.ATTRIBUTE);
        BigEndian.put64(frame.slot, frame.start + Addressee.MESSAGE_AT + 8, service.id());
        return frame;
    }

    private int after(long nanos) {
        now += nanos;
        return services.handOut(out, 0, out.length);
    }

    @Test
    void aRequestGoesToTheLinkThatListensAtTheName() {
        others.put(ELSEWHERE, Offer.TAKEN);
        assertThat(services.forward(request(ELSEWHERE))).isTrue();
        assertThat(offered).containsExactly(ELSEWHERE);
    }

    @Test
    void aRequestThatTheOtherLinkHasNoRoomForIsLost() {
        others.put(ELSEWHERE, Offer.NO_ROOM);
        assertThat(services.forward(request(ELSEWHERE))).as("dropped").isTrue();
        assertThat(services.passOn(request(ELSEWHERE)))
                .as("one that waits goes on waiting")
                .isFalse();
    }

    @Test
    void aRequestForNoLinkIsNotForwarded() {
        assertThat(services.forward(request(ELSEWHERE))).isFalse();
    }

    /// The name is our own: a connection to it would come back.
    @Test
    void aRequestForAServiceOfThisLinkIsOfferedToNoOther() {
        services.claim(HERE, new PeerSocket(-1, true));
        assertThat(services.isClaimed(HERE)).isTrue();
        assertThat(services.forward(request(HERE))).isFalse();
        assertThat(offered).isEmpty();
    }

    @Test
    void aRequestWaitsUntilTheServiceIsOpen() {
        services.claim(HERE, new PeerSocket(-1, true));
        assertThat(services.keep(request(HERE))).isTrue();
        assertThat(services.waiting()).isEqualTo(1);
        assertThat(after(10_000_000)).isZero();
        services.open(HERE);
        assertThat(services.isDue()).as("at once").isTrue();
        assertThat(after(0)).isEqualTo(1);
        assertThat(services.keep(request(HERE))).as("served").isFalse();
        assertThat(services.due()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aRequestThatWaitsGoesToALinkThatBeginsToListen() {
        assertThat(services.keep(request(ELSEWHERE))).isTrue();
        others.put(ELSEWHERE, Offer.TAKEN);
        assertThat(after(10_000_000)).isZero();
        assertThat(services.waiting()).isZero();
    }

    @Test
    void aRequestThatWaitedInVainIsHandedOutToBeRefused() {
        assertThat(services.keep(request(ELSEWHERE))).isTrue();
        assertThat(after(EarlyRequests.WAIT_NANOS)).isEqualTo(1);
    }

    @Test
    void releasingGivesTheNameBackAndServesNoMore() {
        var socket = new PeerSocket(-1, true);
        services.claim(HERE, socket);
        services.open(HERE);
        assertThat(services.isServedHere(request(HERE))).isTrue();
        assertThat(services.release(HERE)).isSameAs(socket);
        assertThat(services.isServedHere(request(HERE))).isFalse();
        assertThat(services.isClaimed(HERE)).isFalse();
        assertThat(services.release(HERE)).as("again").isNull();
    }

    @Test
    void theSameNumberAtAnotherAddressIsAnotherService() {
        var sameNumber = new Service(HERE.id(), Gid.parse("192.0.2.2"));
        services.claim(HERE, new PeerSocket(-1, true));
        services.open(HERE);
        assertThat(services.isServedHere(request(sameNumber))).isFalse();
        assertThat(services.keep(request(sameNumber))).isTrue();
        others.put(sameNumber, Offer.TAKEN);
        assertThat(after(10_000_000)).isZero();
        assertThat(offered).containsExactly(sameNumber);
        services.claim(sameNumber, new PeerSocket(-1, true));
        assertThat(services.release(sameNumber)).isNotNull();
        assertThat(services.isServedHere(request(HERE))).isTrue();
    }

    @Test
    void aNameTellsServicesOfOneAddressApartOrThoseOfAll() {
        assertThat(ELSEWHERE.name()).isEqualTo("service-0000000000000012");
        assertThat(ELSEWHERE.nameWithAddress()).isEqualTo("service-0000000000000012@" + ADDRESS);
    }

    @Test
    void onlyRequestsWait() {
        Frame other = request(HERE);
        BigEndian.put24(other.slot, other.start + Addressee.QPN_AT, 0x12_3456);
        assertThat(services.keep(other)).isFalse();
    }
}

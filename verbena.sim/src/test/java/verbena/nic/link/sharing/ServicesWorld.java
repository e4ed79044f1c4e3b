package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.cm.SidrReq;
import verbena.wire.mad.Mad;

/// Two links at one address, and requests that come to either of them before a server listens. A program at each
/// link claims the service, opens it and releases it when it likes. Each request comes to the server, or is refused
/// in time.
final class ServicesWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// What one link passes to the other is lost.
        LOSES_WHAT_IS_PASSED,
        /// A link passes a request on, and keeps it.
        KEEPS_WHAT_IS_PASSED,
        /// A link does not find the other that listens.
        FINDS_NO_SERVER,
        /// A link's clock stands still.
        FORGETS_THE_TIME
    }

    private static final Service SERVICE = new Service(17, Gid.parse("192.0.2.1"));
    /// What arrives at a link and waits for its turn, at most.
    private static final int ROOM = 1;
    /// A request waits where it has come, and once more at each link that has claimed the service since.
    private static final long WAIT_MAX = 3 * (EarlyRequests.WAIT_NANOS + 10_000_000);

    private static final int NUMBER_AT = 100;

    /// What has become of a request.
    private enum Fate {
        UNDER_WAY,
        ACCEPTED,
        REFUSED,
        /// The server's link had no room, and its client sends it again.
        DROPPED
    }

    /// One link.
    private final class End {
        final String name;
        final EarlyRequests early = new EarlyRequests(arena, this::time);
        final Services services = new Services(this::offer, early);
        final ArrayDeque<Integer> inbox = new ArrayDeque<>();
        /// Whether its program has claimed the service once, has it, and has opened it.
        boolean wasClaimed;

        boolean isClaimed;
        boolean isOpen;

        End(String name) {
            this.name = name;
        }

        private long time() {
            return plant == Plant.FORGETS_THE_TIME ? Fingerprint.BEGINNING : now;
        }

        private Services.Offer offer(Service service, Frame request) {
            End other = this == a ? b : a;
            if (!other.isClaimed || plant == Plant.FINDS_NO_SERVER) {
                return Services.Offer.UNWANTED;
            }
            if (other.inbox.size() == ROOM) {
                return Services.Offer.NO_ROOM;
            }
            if (plant != Plant.LOSES_WHAT_IS_PASSED) {
                other.inbox.add(number(request));
            }
            return plant == Plant.KEEPS_WHAT_IS_PASSED ? Services.Offer.UNWANTED : Services.Offer.TAKEN;
        }

        /// As a link does with a request that comes from the network.
        void arrive(int number) {
            end[number] = now + WAIT_MAX;
            Frame request = request(number);
            End other = this == a ? b : a;
            boolean isFull = other.isClaimed && other.inbox.size() == ROOM;
            if (services.isServedHere(request)) {
                handle(number);
            } else if (services.forward(request)) {
                fates[number] = isFull ? Fate.DROPPED : fates[number];
            } else if (!services.keep(request)) {
                handle(number);
            }
        }

        /// As a link does with one that another link has passed to it.
        void take() {
            int number = inbox.remove();
            if (!services.keep(request(number))) {
                handle(number);
            }
        }

        void handOut() {
            int count = services.handOut(frames, 0, 1);
            if (count > 0) {
                handle(number(frames[0]));
            }
        }

        /// The device has the request: a listener of the program gets it, or it is refused.
        private void handle(int number) {
            assertThat(fates[number])
                    .as("request %d, which %s has", number, name)
                    .isEqualTo(Fate.UNDER_WAY);
            End other = this == a ? b : a;
            if (!isOpen && other.isOpen && other.inbox.isEmpty()) {
                throw new AssertionError(name + " refuses request " + number + ", which the other serves");
            }
            fates[number] = isOpen ? Fate.ACCEPTED : Fate.REFUSED;
        }

        void addSteps(List<Step> steps) {
            if (!inbox.isEmpty()) {
                steps.add(Step.usual(() -> name + " takes request " + inbox.element(), this::take));
            }
            if (services.isDue()) {
                steps.add(Step.usual(() -> name + " looks at what waits", this::handOut));
            }
            if (!wasClaimed && !a.isClaimed && !b.isClaimed) {
                steps.add(Step.fault(() -> name + " claims the service", () -> {
                    wasClaimed = true;
                    isClaimed = true;
                    services.claim(SERVICE, new PeerSocket(-1, true));
                }));
            }
            if (isClaimed && !isOpen) {
                steps.add(Step.fault(() -> name + " opens the service", () -> {
                    isOpen = true;
                    services.open(SERVICE);
                }));
            }
            if (isClaimed) {
                steps.add(Step.fault(() -> name + " releases the service", () -> {
                    isClaimed = false;
                    isOpen = false;
                    PeerSocket _ = services.release(SERVICE);
                }));
            }
        }
    }

    private final Arena arena = Arena.ofConfined();
    private final Frame[] frames = Frame.allocate(arena.allocate(2L * Frame.SLOT_BYTES, 64));
    private final Plant plant;
    private final Fate[] fates;
    /// When each has to have a fate, at the latest.
    private final long[] end;

    private final End a = new End("a");
    private final End b = new End("b");
    private int arrived;
    private long now = Fingerprint.BEGINNING;

    ServicesWorld(int requests, Plant plant) {
        this.plant = plant;
        this.fates = new Fate[requests];
        Arrays.fill(fates, Fate.UNDER_WAY);
        this.end = new long[requests];
    }

    static Fingerprint fingerprint() {
        return new Fingerprint()
                .without(ServicesWorld.class.getName(), "arena", "frames")
                .without("verbena.nic.link.sharing.EarlyRequests", "arena", "free");
    }

    private Frame request(int number) {
        Frame frame = frames[1];
        frame.destinationHigh = SERVICE.address().high();
        frame.destinationLow = SERVICE.address().low();
        frame.length = 12 + 8 + Mad.BYTES + 4;
        frame.slot.asSlice(frame.start, frame.length).fill((byte) 0);
        BigEndian.put24(frame.slot, frame.start + Addressee.QPN_AT, Mad.QPN);
        BigEndian.put8(frame.slot, frame.start + Addressee.CLASS_AT, Mad.CLASS_CM);
        BigEndian.put16(frame.slot, frame.start + Addressee.ATTRIBUTE_AT, SidrReq.ATTRIBUTE);
        BigEndian.put64(frame.slot, frame.start + Addressee.MESSAGE_AT + 8, SERVICE.id());
        frame.slot.set(ValueLayout.JAVA_BYTE, frame.start + NUMBER_AT, (byte) number);
        return frame;
    }

    private static int number(Frame frame) {
        return frame.slot.get(ValueLayout.JAVA_BYTE, frame.start + NUMBER_AT);
    }

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        if (arrived < fates.length) {
            for (End each : List.of(a, b)) {
                steps.add(Step.usual(
                        () -> "request " + arrived + " arrives at " + each.name, () -> each.arrive(arrived++)));
            }
        }
        a.addSteps(steps);
        b.addSteps(steps);
        long next = Math.min(a.services.due(), b.services.due());
        if (next != Long.MAX_VALUE && next > now) {
            steps.add(Step.time(() -> (next - now) / 1_000_000 + " ms pass", () -> now = next));
        }
        return steps;
    }

    @Override
    public void check() {
        for (int i = 0; i < arrived; i++) {
            if (fates[i] == Fate.UNDER_WAY) {
                assertThat(now).as("request %d waits until", i).isLessThanOrEqualTo(end[i]);
            }
        }
    }

    @Override
    public void checkAtRest() {
        assertThat(fates).as("requests").doesNotContain(Fate.UNDER_WAY);
        assertThat(a.services.waiting() + b.services.waiting()).isZero();
    }

    @Override
    public long now() {
        return now;
    }

    @Override
    public void close() {
        arena.close();
    }
}

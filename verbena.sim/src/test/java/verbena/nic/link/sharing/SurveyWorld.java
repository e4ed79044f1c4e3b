package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;

/// Links that share an address: each takes a slot, connects to those that are there, binds its socket and surveys
/// which socket has which index in the kernel's group. Links join and die at any moment. The kernel is a model of
/// socket(7) and unix(7). What [SharedAddress] does between its sockets, [Presence] and [Survey] is told here again.
final class SurveyWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// A link does not note that a neighbour has gone.
        KEEPS_THE_DEAD,
        /// A link answers with the index behind the one that it was asked for.
        ANSWERS_ANOTHER_INDEX,
        /// A link does not take those that connect to it.
        LETS_NOBODY_IN
    }

    private static final int HASHED = 0;
    private static final int PACKETS = Survey.MISDIRECTED_MAX;

    /// On the way to a link: a probe of another, or its answer.
    private static final class Flight {
        final int slot;
        final int index;
        final long cookie;
        /// Whether the link that has sent the probe has begun another survey since.
        boolean isOld;

        Flight(int slot, int index, long cookie) {
            this.slot = slot;
            this.index = index;
            this.cookie = cookie;
        }
    }

    /// A connection between two links, as one of them has it.
    private static final class Wire {
        final PeerSocket socket = new PeerSocket(-1, false);
        final Link peer;
        /// The slot that the other end has announced, and this one has not read.
        int hello = PeerSocket.NO_SLOT;

        final ArrayDeque<Flight> answers = new ArrayDeque<>();

        @Nullable
        Wire other;

        Wire(Link peer) {
            this.peer = peer;
        }
    }

    /// One link.
    private final class Link implements Survey.Ground {
        final int slot;
        Presence presence = new Presence();
        Survey survey = new Survey(this, () -> now);
        final List<Wire> wires = new ArrayList<>();
        final List<Flight> probes = new ArrayList<>();
        boolean hasSlot;
        boolean isBound;
        boolean isDead;

        Link(int slot) {
            this.slot = slot;
        }

        boolean isThere() {
            return hasSlot && !isDead;
        }

        void join() {
            hasSlot = true;
            presence.settle(slot);
            for (Link each : links) {
                if (each != this && each.isThere()) {
                    var own = new Wire(each);
                    var theirs = new Wire(this);
                    own.other = theirs;
                    theirs.other = own;
                    theirs.hello = slot;
                    wires.add(own);
                    each.wires.add(theirs);
                    boolean _ = presence.greet(own.socket, each.slot);
                }
            }
        }

        void bind() {
            isBound = true;
            group.add(this);
            survey.begin();
        }

        void die() {
            isDead = true;
            group.remove(this);
            wires.clear();
            probes.clear();
        }

        void read(Wire wire) {
            if (wire.hello != PeerSocket.NO_SLOT) {
                boolean _ = plant == Plant.LETS_NOBODY_IN || presence.greet(wire.socket, wire.hello);
                wire.hello = PeerSocket.NO_SLOT;
            }
            while (!wire.answers.isEmpty()) {
                Flight answer = wire.answers.remove();
                survey.onLocated(answer.slot, answer.index, answer.cookie);
            }
            if (wire.peer.isDead) {
                wires.remove(wire);
                if (plant != Plant.KEEPS_THE_DEAD && presence.forget(wire.socket)) {
                    survey.onGone(wire.socket.slot);
                    if (presence.isFirst()) {
                        survey.begin();
                    }
                }
            }
        }

        void takeProbes() {
            for (Flight probe : probes) {
                if (probe.slot == slot) {
                    survey.onLocated(slot, probe.index, probe.cookie);
                    continue;
                }
                for (Wire wire : List.copyOf(wires)) { // the asker may have connected just now
                    if (presence.neighbour(probe.slot) == null && wire.hello == probe.slot) {
                        read(wire);
                    }
                }
                PeerSocket to = presence.neighbour(probe.slot);
                for (Wire wire : wires) {
                    if (wire.socket == to && wire.other != null) {
                        int index = probe.index + (plant == Plant.ANSWERS_ANOTHER_INDEX ? 1 : 0);
                        var answer = new Flight(slot, index, probe.cookie);
                        answer.isOld = probe.isOld;
                        wire.other.answers.add(answer);
                    }
                }
            }
            probes.clear();
        }

        // ---- Survey.Ground

        @Override
        public boolean isTaken(int of) {
            return presence.isTaken(of);
        }

        @Override
        public int neighbours() {
            return presence.count();
        }

        @Override
        public long cookie() {
            age();
            return ++lastCookie;
        }

        @Override
        public void probe(int index, long cookie) {
            group.socket(program == null ? HASHED : index).probes.add(new Flight(slot, index, cookie));
        }

        /// What is on the way of an earlier survey is old.
        private void age() {
            for (Link each : links) {
                each.probes.stream().filter(probe -> probe.slot == slot).forEach(probe -> probe.isOld = true);
            }
            wires.forEach(wire -> wire.answers.forEach(answer -> answer.isOld = true));
        }

        @Override
        public boolean steer(int[] indexes) {
            program = Arrays.copyOf(indexes, links.size());
            return true;
        }

        @Override
        public void hurry() {}

        // ---- steps

        void addSteps(List<Step> steps) {
            String name = "link " + slot;
            if (isDead) {
                return;
            }
            if (!hasSlot) {
                steps.add(Step.usual(() -> name + " takes its slot and connects", this::join));
                return;
            }
            if (!isBound) {
                steps.add(Step.usual(() -> name + " binds", this::bind));
            }
            for (Wire wire : wires) {
                if (wire.hello != PeerSocket.NO_SLOT || !wire.answers.isEmpty() || wire.peer.isDead) {
                    steps.add(Step.usual(
                            () -> name + " reads what link " + wire.peer.slot + " has sent", () -> read(wire)));
                }
            }
            if (!probes.isEmpty()) {
                steps.add(Step.usual(() -> name + " takes " + probes.size() + " probes", this::takeProbes));
                steps.add(Step.fault(() -> probes.size() + " probes for " + name + " are lost", probes::clear));
            }
            if (survey.due() <= now) {
                steps.add(Step.usual(() -> name + " goes on with its survey", survey::tick));
            }
            if (deaths > 0) {
                steps.add(Step.fault(() -> name + " dies", () -> {
                    deaths--;
                    die();
                }));
            }
        }
    }

    /// The kernel's group of sockets that are bound to the address.
    private static final class Group {
        private final List<Link> sockets = new ArrayList<>();

        void add(Link link) {
            sockets.add(link);
        }

        /// The last one takes the place of one that leaves.
        void remove(Link link) {
            int at = sockets.indexOf(link);
            if (at >= 0) {
                sockets.set(at, sockets.getLast());
                sockets.removeLast();
            }
        }

        /// Where there is no such index, a hash chooses.
        Link socket(int index) {
            return sockets.get(index >= 0 && index < sockets.size() ? index : HASHED);
        }
    }

    private final Plant plant;
    private final List<Link> links = new ArrayList<>();
    private final Group group = new Group();
    /// The index of each slot, as the kernel has it; null when there is no program.
    private int @Nullable [] program;

    private int deaths;
    private long lastCookie;
    private long now = Fingerprint.BEGINNING;

    /// @param count how many links join
    /// @param deaths how many of them may die
    SurveyWorld(int count, int deaths, Plant plant) {
        this.plant = plant;
        this.deaths = deaths;
        for (int i = 0; i < count; i++) {
            links.add(new Link(i));
        }
    }

    static Fingerprint fingerprint() {
        return new Fingerprint()
                .without(SurveyWorld.class.getName(), "lastCookie")
                .without(Flight.class.getName(), "cookie")
                .without("verbena.nic.link.sharing.Survey", "cookie", "surveys", "misdirected");
    }

    // ---- steps

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        links.forEach(each -> each.addSteps(steps));
        long next = links.stream()
                .filter(Link::isThere)
                .mapToLong(each -> each.survey.due())
                .filter(due -> due > now)
                .min()
                .orElse(Survey.NEVER);
        Link wrong = misdirected();
        if (next != Survey.NEVER) {
            steps.add(Step.time(() -> (next - now) / 1_000_000 + " ms pass", () -> now = next));
        } else if (wrong != null) {
            steps.add(Step.time(() -> "packets of others come to link " + wrong.slot, () -> {
                now += Survey.PAUSE_NANOS_MIN;
                wrong.survey.onMisdirected(PACKETS);
            }));
        }
        return steps;
    }

    /// A link that gets the packets of another; null when there is none.
    private @Nullable Link misdirected() {
        for (Link each : links) {
            if (each.isThere() && each.isBound) {
                Link gets = group.socket(program == null ? HASHED : program[each.slot]);
                if (gets != each) {
                    return gets;
                }
            }
        }
        return null;
    }

    // ---- what has to be

    @Override
    public void check() {}

    @Override
    public void checkAtRest() {
        for (Link each : links) {
            if (each.isThere()) {
                for (Link other : links) {
                    assertThat(each.presence.isTaken(other.slot))
                            .as("link %d knows link %d", each.slot, other.slot)
                            .isEqualTo(other.isThere());
                }
            }
        }
        assertThat(misdirected())
                .as("a link that gets the packets of others for ever")
                .isNull();
    }

    @Override
    public long now() {
        return now;
    }
}

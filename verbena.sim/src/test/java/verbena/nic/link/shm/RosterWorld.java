package verbena.nic.link.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.sharing.PeerSocket;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;

/// Links of one host over `shm`: each takes a slot, connects to those that are there, and gives each neighbour its
/// lifeline. Links open, close and die at any moment. The kernel is a model of unix(7), and closes the descriptors
/// of a dying process in any order. What [ShmNeighbours] does between its sockets and its [Roster] is done here
/// again.
final class RosterWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// A link whose slot has not been left yet is sent away.
        SENDS_AWAY,
        /// A link that waits for its slot is never read.
        FORGETS_WHO_WAITS,
        /// A neighbour that still dies is taken for gone.
        TAKES_FOR_GONE,
        /// Links do not answer the hello of another.
        DOES_NOT_ANSWER,
        /// A lifeline that has hung up stays open.
        KEEPS_A_LIFELINE
    }

    /// A message with a lifeline. All others are hellos, and a number is the slot.
    private static final int LIFELINE = -1;

    private static final int NO_DESCRIPTOR = -1;

    /// One end of a connection.
    private static final class End {
        final PeerSocket socket = new PeerSocket(NO_DESCRIPTOR, false);
        final Link link;
        final ArrayDeque<Integer> unread = new ArrayDeque<>();
        boolean isClosed;
        boolean isHeld;
        /// Whether anything but a hello was read here.
        boolean hasRead;
        /// What the link was told of the neighbour at the other end.
        boolean isDying;

        @Nullable
        End other;

        End(Link link) {
            this.link = link;
        }

        End peer() {
            assertThat(other).isNotNull();
            return other;
        }

        void send(int message) {
            if (!isClosed && !peer().isClosed) {
                peer().unread.add(message);
            }
        }
    }

    private enum State {
        OUT,
        MEETING,
        MET,
        ENDING,
        ENDED
    }

    /// One link, which has a process of its own.
    private final class Link implements Roster.Ground {
        final int number;
        State state = State.OUT;
        Roster roster = new Roster(this);
        int slot = PeerSocket.NO_SLOT;
        /// The next slot that it tries to connect to.
        int next;

        boolean isListening;
        boolean hasDied;
        boolean isLifeOver;
        /// Those that have connected and were not accepted.
        final List<End> backlog = new ArrayList<>();

        final List<End> ends = new ArrayList<>();
        /// Of other links.
        final List<Life> lives = new ArrayList<>();
        /// The end that was closed last.
        @Nullable
        End closed;

        Link(int number) {
            this.number = number;
        }

        // ---- coming

        void takeSlot(int free) {
            state = State.MEETING;
            slot = free;
            isListening = true;
            roster.settle(free);
        }

        void connectNext() {
            Link to = holder(next);
            if (to != null && to != this) {
                var own = new End(this);
                var theirs = new End(to);
                own.other = theirs;
                theirs.other = own;
                own.send(slot);
                ends.add(own);
                to.backlog.add(theirs);
                roster.onConnected(own.socket, next);
            }
            next++;
            if (next == slots) {
                state = State.MET;
                if (turn == this) {
                    turn = null;
                }
            }
        }

        // ---- reading

        void letIn() {
            for (End each : List.copyOf(backlog)) {
                backlog.remove(each);
                ends.add(each);
                read(each.socket);
            }
        }

        @Override
        public void read(PeerSocket connection) {
            End end = end(connection);
            Integer message = end.unread.poll();
            if (message == null) {
                if (end.peer().isClosed) {
                    roster.close(connection);
                }
                return;
            }
            if (message != LIFELINE) {
                assertThat(roster.onHello(connection, message)).as("a hello").isTrue();
                return;
            }
            end.hasRead = true;
            ShmNeighbour neighbour = roster.at(connection);
            assertThat(neighbour).as("the neighbour that a message comes from").isNotNull();
            boolean isFirst = roster.onLifeline(neighbour, end.peer().link.number);
            assertThat(isFirst).as("one lifeline").isTrue();
        }

        void giveLifeline(ShmNeighbour neighbour) {
            neighbour.hasOurBell = true;
            end(neighbour.socket).send(LIFELINE);
        }

        End end(PeerSocket socket) {
            return ends.stream()
                    .filter(each -> each.socket == socket)
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("link " + number + " uses a socket that it has closed"));
        }

        // ---- going

        void end(boolean dies) {
            endings--;
            state = State.ENDING;
            hasDied = dies;
            roster = new Roster(this);
            lives.clear();
            if (turn == this) {
                turn = null;
            }
        }

        void endLife() {
            isLifeOver = true;
            endWhenClosed();
        }

        void stopListening() {
            isListening = false;
            backlog.forEach(each -> each.isClosed = true);
            backlog.clear();
            endWhenClosed();
        }

        void closeEnd(End end) {
            end.isClosed = true;
            end.unread.clear();
            ends.remove(end);
            endWhenClosed();
        }

        private void endWhenClosed() {
            if (!isListening && ends.isEmpty() && (isLifeOver || !hasDied)) {
                state = State.ENDED;
            }
        }

        // ---- Roster.Ground

        @Override
        public boolean isOpen(PeerSocket connection) {
            return plant != Plant.TAKES_FOR_GONE && !end(connection).peer().isClosed;
        }

        @Override
        public void answer(PeerSocket connection) {
            if (plant != Plant.DOES_NOT_ANSWER) {
                end(connection).send(slot);
            }
        }

        @Override
        public void hold(PeerSocket connection) {
            end(connection).isHeld = true;
            if (plant == Plant.SENDS_AWAY) {
                roster.close(connection);
            }
        }

        @Override
        public void resume(PeerSocket connection) {
            end(connection).isHeld = plant == Plant.FORGETS_WHO_WAITS;
        }

        @Override
        public PeerSocket watch(int descriptor) {
            var life = new Life(new PeerSocket(descriptor, false), links.get(descriptor));
            lives.add(life);
            return life.socket;
        }

        @Override
        public void close(PeerSocket socket) {
            if (socket.lifelineOf == null) {
                closed = end(socket);
                closed.isClosed = true;
                closed.unread.clear();
                ends.remove(closed);
            } else if (plant != Plant.KEEPS_A_LIFELINE) {
                lives.removeIf(each -> each.socket == socket);
            }
        }

        @Override
        public void onDying(int of) {
            ShmNeighbour neighbour = roster.neighbour(of);
            assertThat(neighbour).as("the neighbour that dies").isNotNull();
            End end = end(neighbour.socket);
            assertThat(end.peer().link.hasDied).as("the process dies").isTrue();
            assertThat(end.isDying).as("told twice that a process dies").isFalse();
            end.isDying = true;
        }

        @Override
        public void onGone(int of, ShmNeighbour neighbour) {
            assertThat(roster.neighbour(of)).as("the slot of one that has gone").isNull();
            assertThat(closed).isNotNull();
            End peer = closed.peer();
            assertThat(closed.socket).as("what was closed").isSameAs(neighbour.socket);
            closed = null;
            assertThat(peer.isClosed || !peer.hasRead)
                    .as("link %d is taken for gone, and is there", peer.link.number)
                    .isTrue();
        }

        // ---- steps

        void addSteps(List<Step> steps) {
            String name = "link " + number;
            switch (state) {
                case OUT -> addTurn(steps, name);
                case MEETING -> steps.add(Step.usual(() -> name + " connects to slot " + next, this::connectNext));
                case MET -> addReads(steps, name);
                case ENDING -> addEnds(steps, name);
                case ENDED -> {}
            }
            if (endings > 0 && (state == State.MEETING || state == State.MET)) {
                steps.add(Step.fault(() -> name + "'s process dies", () -> end(true)));
                steps.add(Step.fault(() -> name + " is closed", () -> end(false)));
            }
        }

        private void addTurn(List<Step> steps, String name) {
            for (int i = 0; i < slots; i++) {
                int free = i;
                if (holder(free) != null) {
                    continue;
                }
                if (turn == null) {
                    steps.add(Step.usual(() -> name + " has its turn, and takes slot " + free, () -> {
                        turn = this;
                        takeSlot(free);
                    }));
                } else {
                    steps.add(Step.fault(
                            () -> name + " waits no longer for its turn, and takes slot " + free,
                            () -> takeSlot(free)));
                }
            }
        }

        private void addReads(List<Step> steps, String name) {
            if (!backlog.isEmpty()) {
                steps.add(Step.usual(() -> name + " lets " + backlog.size() + " in", this::letIn));
            }
            for (End end : ends) {
                String from = " what link " + end.peer().link.number + " has said";
                if (end.isHeld && end.peer().isClosed) {
                    steps.add(Step.usual(
                            () -> name + " sees that who waited has gone", () -> roster.onWaiting(end.socket)));
                } else if (!end.isHeld && (!end.unread.isEmpty() || end.peer().isClosed)) {
                    steps.add(Step.usual(() -> name + " reads" + from, () -> read(end.socket)));
                }
            }
            for (Life life : lives) {
                if (life.of.isLifeOver) {
                    steps.add(Step.usual(
                            () -> name + " sees that link " + life.of.number + "'s process dies",
                            () -> roster.onDying(life.socket.lifelineOf)));
                }
            }
            roster.forEach(neighbour -> {
                if (!neighbour.hasOurBell) {
                    int to = end(neighbour.socket).peer().link.number;
                    steps.add(Step.usual(
                            () -> name + " gives link " + to + " its lifeline", () -> giveLifeline(neighbour)));
                }
            });
        }

        private void addEnds(List<Step> steps, String name) {
            String of = " of " + name + " is closed";
            if (hasDied && !isLifeOver) {
                steps.add(Step.usual(() -> "the lifeline" + of, this::endLife));
            }
            if (isListening) {
                steps.add(Step.usual(() -> "the slot" + of, this::stopListening));
            }
            for (End end : ends) {
                steps.add(
                        Step.usual(() -> "the connection to link " + end.peer().link.number + of, () -> closeEnd(end)));
            }
        }
    }

    /// The lifeline of a link, as another one has it.
    private record Life(PeerSocket socket, Link of) {}

    private final int slots;
    private final Plant plant;
    private final List<Link> links = new ArrayList<>();
    /// The link that has its turn to meet the others; null when none has.
    private @Nullable Link turn;

    private int endings;

    /// @param count how many links open
    /// @param endings how many of them may close or die
    RosterWorld(int count, int slots, int endings, Plant plant) {
        this.slots = slots;
        this.endings = endings;
        this.plant = plant;
        for (int i = 0; i < count; i++) {
            links.add(new Link(i));
        }
    }

    static Fingerprint fingerprint() {
        return new Fingerprint();
    }

    /// The link that listens at a slot's name; null when there is none.
    private @Nullable Link holder(int slot) {
        return links.stream()
                .filter(each -> each.isListening && each.slot == slot)
                .findFirst()
                .orElse(null);
    }

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        links.forEach(each -> each.addSteps(steps));
        return steps;
    }

    // ---- what has to be

    @Override
    public void check() {}

    @Override
    public void checkAtRest() {
        List<Link> met = links.stream().filter(each -> each.state == State.MET).toList();
        for (Link each : met) {
            for (Link other : met) {
                if (other != each) {
                    checkKnows(each, other);
                }
            }
            int others = met.size() - 1;
            assertThat(each.roster.count())
                    .as("neighbours of link %d", each.number)
                    .isEqualTo(others);
            assertThat(each.ends).as("connections of link %d", each.number).hasSize(others);
            assertThat(each.lives).as("lifelines that link %d has", each.number).hasSize(others);
        }
    }

    private static void checkKnows(Link each, Link other) {
        ShmNeighbour neighbour = each.roster.neighbour(other.slot);
        assertThat(neighbour)
                .as("link %d, as link %d knows it", other.number, each.number)
                .isNotNull();
        End end = each.end(neighbour.socket);
        assertThat(end.peer().link)
                .as("who has slot %d, as link %d knows it", other.slot, each.number)
                .isSameAs(other);
        assertThat(neighbour.hasAnswered).as("a greeting on both sides").isTrue();
        assertThat(neighbour.lifeline)
                .as("what link %d has said to link %d", other.number, each.number)
                .isNotNull();
    }

    @Override
    public long now() {
        return Fingerprint.BEGINNING;
    }
}

package verbena.messages.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;
import verbena.verbs.RemoteMemory;

/// Long messages, which are offered, read and given back. The sender's program uses its memory for something else
/// when it has been told, or closes it at any moment. The receiver's program takes receives back, and uses their
/// memory.
final class RendezvousWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// The receiver says that it has read when it begins to.
        GIVES_BACK_TOO_EARLY,
        /// What gives memory back is lost.
        GIVES_NOTHING_BACK,
        /// A receive that was taken back is still there.
        KEEPS_A_RECEIVE,
        /// The memory of a message is withdrawn before it is read.
        WITHDRAWS_TOO_EARLY
    }

    private static final int BYTES = 60;
    /// What programs write into memory that they have back.
    private static final byte OWN = -1;

    private static final byte[] NOTHING = new byte[BYTES];

    /// A message, and what its program was told.
    private static final class Sent extends Outgoing {
        private final Arena arena;
        private int times;
        private boolean isFailed;

        Sent(int number, Arena arena) {
            super(Kind.TAGGED, 0, arena.allocate(BYTES).fill((byte) number));
            this.arena = arena;
        }

        @Override
        public void done() {
            tell();
        }

        @Override
        public void failed(String why) {
            isFailed = true;
            tell();
        }

        private void tell() {
            times++;
            if (data.scope().isAlive()) {
                data.fill(OWN);
            }
        }
    }

    /// A receive, and what its program was told.
    private static final class Received implements Incoming {
        private final byte[] memory = new byte[BYTES];
        private int times;
        private boolean isFailed;
        private boolean isTakenBack;

        @Override
        public MemorySegment memory() {
            return MemorySegment.ofArray(memory);
        }

        @Override
        public void done(PeerOwner from, long tag, long bytes) {
            times++;
        }

        @Override
        public void failed(String why) {
            times++;
            isFailed = true;
            Arrays.fill(memory, OWN);
        }

        boolean isDone() {
            return times > 0 && !isFailed;
        }
    }

    private final class End extends ExploredEnd {
        /// The memory of offers, by their numbers.
        private final SequencedMap<Long, MemorySegment> lent = new LinkedHashMap<>();

        End(String name) {
            super(name, new PeerLimits(FRAME_BYTES, 2, 1 << 20, 2, 2, 1));
        }

        @Override
        void leaves(byte[] frame) {
            if (frame[0] != Frame.TAKEN || plant != Plant.GIVES_NOTHING_BACK) {
                frames.add(frame);
            }
            if (frame[0] == Frame.OFFER && plant == Plant.WITHDRAWS_TOO_EARLY) {
                exposed.clear();
            }
        }

        @Override
        void begins(Peer.Read read) {
            if (plant == Plant.GIVES_BACK_TOO_EARLY) {
                peer.onRead(new Peer.Read(
                        read.offer(), read.at(), MemorySegment.NULL, Incoming.NOWHERE, read.tag(), read.length()));
            }
        }

        /// The memory of the message itself, which is gone when its program has closed it.
        @Override
        byte @Nullable [] read(long offer) {
            MemorySegment data = lent.get(offer);
            boolean isThere = super.read(offer) != null && data != null;
            return !isThere ? null : data.scope().isAlive() ? data.toArray(JAVA_BYTE) : NOTHING;
        }

        @Override
        public List<RemoteMemory> expose(int offer, MemorySegment data, boolean mayChange) {
            lent.put((long) offer, data);
            exposed.put((long) offer, NOTHING);
            return List.of(new RemoteMemory(offer, 7, data.byteSize()));
        }
    }

    private final int messages;
    private final boolean mayDie;
    private final Plant plant;
    private final End a;
    private final End b;
    private final List<Sent> sent = new ArrayList<>();
    private final List<Received> received = new ArrayList<>();
    private int takenBack;

    RendezvousWorld(int messages, boolean mayDie, Plant plant) {
        this.messages = messages;
        this.mayDie = mayDie;
        this.plant = plant;
        this.a = new End("a");
        this.b = new End("b");
    }

    static Fingerprint fingerprint() {
        return new Fingerprint().without("verbena.messages.protocol.Peer", "timesCrowded");
    }

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        if (sent.size() < messages) {
            steps.add(Step.usual(() -> "a sends message " + (sent.size() + 1), this::send));
        }
        if (received.size() - takenBack < messages) {
            steps.add(Step.usual(() -> "b receives", this::receive));
        }
        a.addSteps(steps, b);
        b.addSteps(steps, a);
        for (Received each : received) {
            if (each.times == 0 && !each.isTakenBack) {
                steps.add(
                        Step.fault(() -> "b takes receive " + received.indexOf(each) + " back", () -> takeBack(each)));
            }
        }
        for (Sent each : sent) {
            if (each.times == 0 && each.data.scope().isAlive()) {
                steps.add(Step.fault(
                        () -> "a closes the memory of message " + (sent.indexOf(each) + 1), each.arena::close));
            }
        }
        if (mayDie && !a.isDead) {
            steps.add(Step.fault(() -> "the connection ends", () -> {
                a.lose();
                b.lose();
            }));
        }
        return steps;
    }

    private void send() {
        sent.add(new Sent(sent.size() + 1, Arena.ofShared()));
        a.peer.send(sent.getLast());
    }

    private void receive() {
        received.add(new Received());
        b.matching.receive(0, 0, b.peer, received.getLast());
    }

    private void takeBack(Received receive) {
        if (plant == Plant.KEEPS_A_RECEIVE || b.matching.withdraw(receive)) {
            receive.isTakenBack = true;
            takenBack++;
            Arrays.fill(receive.memory, OWN);
        }
    }

    // ---- what has to be

    @Override
    public void check() {
        assertThat(a.wrong).as("a ends the peer").isNull();
        assertThat(b.wrong).as("b ends the peer").isNull();
        int number = 0;
        for (Received each : received) {
            assertThat(each.times).as("times that a receive was told").isLessThanOrEqualTo(each.isTakenBack ? 0 : 1);
            if (each.isTakenBack || each.isFailed) {
                assertThat(each.memory).as("memory that the program has back").containsOnly(OWN);
            }
            if (each.isDone()) {
                int next = next(number);
                assertThat(each.memory)
                        .as("message %d", next)
                        .containsOnly(isClosed(next) ? each.memory[0] : (byte) next);
                number = next;
            }
        }
        for (Sent each : sent) {
            assertThat(each.times).as("times that a sender was told").isLessThanOrEqualTo(1);
        }
    }

    /// The next message that was not refused to its sender.
    private int next(int number) {
        int next = number + 1;
        while (next <= sent.size() && sent.get(next - 1).isFailed && !a.isDead) {
            next++;
        }
        return next;
    }

    /// Closed memory is nothing that a device reads: what arrives then is the program's affair.
    private boolean isClosed(int number) {
        return number <= sent.size() && !sent.get(number - 1).data.scope().isAlive();
    }

    @Override
    public void checkAtRest() {
        assertThat(sent).as("messages").allMatch(each -> each.times == 1);
        long failed = sent.stream().filter(each -> each.isFailed).count();
        if (a.isDead) {
            assertThat(received).as("receives").allMatch(each -> each.times == 1 || each.isTakenBack);
            return;
        }
        assertThat(received.stream().filter(Received::isDone).count())
                .as("messages that have come")
                .isEqualTo(messages - failed);
        assertThat(a.exposed).as("memory that is readable").isEmpty();
        assertThat(a.peer.isIdle()).isTrue();
        assertThat(b.peer.isIdle()).isTrue();
    }

    @Override
    public long now() {
        return Fingerprint.BEGINNING;
    }

    @Override
    public void close() {
        for (Sent each : sent) {
            if (each.data.scope().isAlive()) {
                each.arena.close();
            }
        }
    }
}

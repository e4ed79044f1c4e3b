package verbena.messages.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;

/// Two ends that send each other messages and receive when they like, with the smallest window: one frame, and the
/// reserve. Messages are whole or offered; an end that keeps one asks for offers, and takes one of them at once.
final class CreditsWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// The first frame that gives credits gives none.
        LOSES_A_CREDIT,
        /// A frame comes twice.
        REPEATS_A_FRAME,
        /// An end is not told that the reserve is its own again.
        KEEPS_THE_RESERVE,
        /// A READ brings other bytes.
        CHANGES_A_BYTE
    }

    private static final int SHORT = 4;
    private static final int LONG = 60;

    private static final class Sent extends Outgoing {
        private int times;

        Sent(byte[] data) {
            super(Kind.TAGGED, 0, MemorySegment.ofArray(data));
        }

        @Override
        public void done() {
            times++;
        }

        @Override
        public void failed(String why) {
            times++;
        }
    }

    private static final class Received implements Incoming {
        private final byte[] memory = new byte[LONG];
        private long length = -1;
        private boolean isFailed;

        @Override
        public MemorySegment memory() {
            return MemorySegment.ofArray(memory);
        }

        @Override
        public void done(PeerOwner from, long tag, long bytes) {
            assertThat(length).as("received before").isNegative();
            length = bytes;
        }

        @Override
        public void failed(String why) {
            isFailed = true;
        }
    }

    private static final class End extends ExploredEnd {
        private final int messages;
        private final Plant plant;
        private final List<Sent> sent = new ArrayList<>();
        private final List<Received> received = new ArrayList<>();
        private boolean isPlanted;

        End(String name, int messages, Plant plant) {
            super(name, new PeerLimits(FRAME_BYTES, 2, 0, 1, 1, 1));
            this.messages = messages;
            this.plant = plant;
        }

        @Override
        void leaves(byte[] frame) {
            frames.add(frame);
            if (isPlanted) {
                return;
            }
            switch (plant) {
                case LOSES_A_CREDIT -> {
                    isPlanted = frame[3] != 0;
                    frame[3] = 0;
                }
                case REPEATS_A_FRAME -> {
                    isPlanted = frame[0] != Frame.CREDIT;
                    if (isPlanted) {
                        frames.add(frame.clone());
                    }
                }
                case KEEPS_THE_RESERVE -> frame[2] &= ~Frame.RESERVE;
                case CHANGES_A_BYTE -> exposed.values().forEach(bytes -> bytes[LONG / 2] = 0);
                case NOTHING -> {}
            }
        }
    }

    private final boolean mayDie;
    private final End a;
    private final End b;

    CreditsWorld(int fromA, int fromB, boolean mayDie, Plant plant) {
        this.mayDie = mayDie;
        this.a = new End("a", fromA, plant);
        this.b = new End("b", fromB, plant);
    }

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        for (End end : List.of(a, b)) {
            End other = end == a ? b : a;
            if (end.sent.size() < end.messages) {
                steps.add(Step.usual(() -> end.name + " sends message " + end.sent.size(), () -> send(end)));
            }
            if (end.received.size() < other.messages) {
                steps.add(Step.usual(() -> end.name + " receives", () -> receive(end)));
            }
            end.addSteps(steps, other);
        }
        if (mayDie && !a.isDead) {
            steps.add(Step.fault(() -> "the connection ends", () -> {
                a.lose();
                b.lose();
            }));
        }
        return steps;
    }

    /// Every second message is long.
    private void send(End end) {
        int number = end.sent.size();
        byte[] data = new byte[number % 2 == 0 ? SHORT : LONG];
        Arrays.fill(data, (byte) (number + 1));
        end.sent.add(new Sent(data));
        end.peer.send(end.sent.getLast());
    }

    private static void receive(End end) {
        end.received.add(new Received());
        end.matching.receive(0, 0, end.peer, end.received.getLast());
    }

    @Override
    public void check() {
        for (End end : List.of(a, b)) {
            assertThat(end.wrong).as(end.name + " ends the peer").isNull();
            assertThat(end.frames.size())
                    .as("frames of %s, and receives", end.name)
                    .isLessThanOrEqualTo(end.window);
            for (Sent each : end.sent) {
                assertThat(each.times).isLessThanOrEqualTo(1);
            }
            for (int i = 0; i < end.received.size(); i++) {
                Received each = end.received.get(i);
                if (each.length >= 0) {
                    assertThat(each.length).as("message %d at %s", i, end.name).isEqualTo(i % 2 == 0 ? SHORT : LONG);
                    assertThat(Arrays.copyOf(each.memory, (int) each.length)).containsOnly((byte) (i + 1));
                }
            }
        }
    }

    @Override
    public void checkAtRest() {
        for (End end : List.of(a, b)) {
            assertThat(end.sent).as("messages of " + end.name).allMatch(each -> each.times == 1);
            assertThat(end.received).as("receives of " + end.name).allMatch(each -> each.length >= 0 || each.isFailed);
            if (!end.isDead) {
                assertThat(end.received).as("receives of " + end.name).allMatch(each -> each.length >= 0);
                assertThat(end.peer.isIdle()).isTrue();
                assertThat(end.peer.keptBytes()).isZero();
                assertThat(end.exposed).isEmpty();
            }
        }
    }

    @Override
    public long now() {
        return Fingerprint.BEGINNING;
    }

    /// Counts that tell nothing of the future.
    static Fingerprint fingerprint() {
        return new Fingerprint().without("verbena.messages.protocol.Peer", "timesCrowded");
    }
}

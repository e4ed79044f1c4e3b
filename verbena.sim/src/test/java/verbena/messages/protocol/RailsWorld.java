package verbena.messages.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;

/// Two ends with several rails, which break at any moment: what lies on a broken rail is gone, and each end finds
/// out by itself, or is told by the other. All messages come once and in order as long as a rail is left.
final class RailsWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// An end that has lost a rail does not say how many frames it has got.
        TELLS_TOO_FEW,
        /// It says nothing.
        TELLS_NOTHING,
        /// A frame is sent from a slot that is another's by then.
        FREES_TOO_EARLY,
        /// What was read by a lost rail is not read by another.
        FORGETS_WHAT_IS_READ,
        /// A message is complete when its first part has been read.
        READS_A_PART
    }

    /// A part of a long message that is being read, as a worker does with what is longer than a stripe.
    private record Reading(Peer.Read of, int part, int rail) {}

    private static final int WINDOW = 2;
    private static final int FRAME_BYTES = 64;
    private static final byte FREE = (byte) 0xEE;
    private static final int LONG_BYTES = 100;
    private static final int PARTS = 2;

    /// One end, its slots, and what its device has on each rail.
    private final class End {
        final String name;
        final ExploredEnd end;
        final Rails rails;
        final byte[][] slots = new byte[WINDOW + 1][Rails.HEADER_BYTES + FRAME_BYTES];
        final ArrayDeque<Integer> free = new ArrayDeque<>();
        final List<ArrayDeque<byte[]>> network = new ArrayList<>();
        final List<ArrayDeque<byte[]>> inbox = new ArrayList<>();
        final List<Integer> got = new ArrayList<>();
        final List<Reading> readings = new ArrayList<>();
        int received;
        int sent;

        End(String name) {
            this.name = name;
            this.rails = new Rails(count, WINDOW, WINDOW);
            this.end = new ExploredEnd(name, new PeerLimits(FRAME_BYTES, WINDOW, 1 << 20, 4, 4, count));
            for (int i = 0; i < count; i++) {
                rails.join(i);
                network.add(new ArrayDeque<>());
                inbox.add(new ArrayDeque<>());
            }
            for (int i = 0; i <= WINDOW; i++) {
                free.add(i);
            }
        }

        void send() {
            byte[] data = new byte[bytes];
            Arrays.fill(data, (byte) ++sent);
            end.peer.send(new Plain(Kind.TAGGED, 0, MemorySegment.ofArray(data)) {
                @Override
                public void done() {
                    data.fill(FREE); // the memory is the program's
                }
            });
        }

        /// Takes messages that have come.
        void receive() {
            while (end.matching.unexpectedCount() > 0) {
                end.matching.receive(0, 0, null, into(received++));
            }
        }

        private Incoming into(int number) {
            byte[] memory = new byte[bytes];
            return new Incoming() {
                @Override
                public MemorySegment memory() {
                    return MemorySegment.ofArray(memory);
                }

                @Override
                public void done(PeerOwner from, long tag, long length) {
                    assertThat(memory)
                            .as("what " + name + " has received as message " + number)
                            .containsOnly(number + 1);
                    got.add(number);
                }

                @Override
                public void failed(String why) {}
            };
        }

        /// Gives the device all that may leave, as a worker does.
        void pump() {
            int teller = rails.toTell();
            if (teller >= 0) {
                byte[] told = new byte[Rails.TOLD_BYTES];
                rails.tell(MemorySegment.ofArray(told));
                if (plant == Plant.TELLS_TOO_FEW) {
                    Arrays.fill(told, 4, 8, (byte) 0);
                }
                if (plant != Plant.TELLS_NOTHING) {
                    put(teller, told);
                }
            }
            while (rails.maySend()) {
                if (!rails.isToSendAgain()) {
                    int slot = free.element();
                    MemorySegment memory = MemorySegment.ofArray(slots[slot]);
                    int length = end.peer.poll(memory.asSlice(Rails.HEADER_BYTES));
                    if (length == 0) {
                        break;
                    }
                    free.remove();
                    rails.put(slot, length);
                }
                byte[] slot = slots[rails.slot()];
                rails.writeHeader(MemorySegment.ofArray(slot));
                put(rails.forFrames(), Arrays.copyOf(slot, Rails.HEADER_BYTES + rails.bytes()));
                rails.sent();
            }
            read();
        }

        /// Begins to read what is offered, and what was under way on a lost rail.
        private void read() {
            List<Reading> lost =
                    readings.stream().filter(each -> !rails.isUsable(each.rail)).toList();
            readings.removeAll(lost);
            if (plant != Plant.FORGETS_WHAT_IS_READ) {
                lost.forEach(each -> readings.add(new Reading(each.of, each.part, idlest())));
            }
            for (Peer.Read next = end.peer.pollRead(); next != null; next = end.peer.pollRead()) {
                for (int part = 0; part < PARTS; part++) {
                    readings.add(new Reading(next, part, idlest()));
                }
            }
        }

        private int idlest() {
            return IntStream.range(0, count)
                    .filter(rails::isUsable)
                    .boxed()
                    .min(Comparator.comparingLong(rail ->
                            readings.stream().filter(each -> each.rail == rail).count()))
                    .orElseThrow();
        }

        void hasRead(Reading reading, End from) {
            readings.remove(reading);
            Peer.Read of = reading.of;
            byte[] memory = from.end.read(of.at().getFirst().address());
            if (memory == null) {
                end.wrong = "memory was read that is not exposed any more";
                return;
            }
            int at = reading.part * LONG_BYTES / PARTS;
            MemorySegment.copy(MemorySegment.ofArray(memory), at, of.into(), at, LONG_BYTES / PARTS);
            if (plant == Plant.READS_A_PART || readings.stream().noneMatch(each -> each.of == of)) {
                readings.removeIf(each -> each.of == of);
                end.peer.onRead(of);
                receive();
                pump();
            }
        }

        private void put(int rail, byte[] frame) {
            if (!isBroken[rail]) {
                network.get(rail).add(frame);
            }
        }

        void freeSlots() {
            for (int slot = rails.free(); slot >= 0; slot = rails.free()) {
                Arrays.fill(slots[slot], FREE); // what is sent from there now is rubbish
                free.add(slot);
            }
        }

        void take(int rail) {
            byte[] bytes = inbox.get(rail).remove();
            MemorySegment frame = MemorySegment.ofArray(bytes);
            if (!rails.isUsable(rail)) {
                return;
            }
            String said = Rails.isTold(frame, bytes.length) ? rails.onTold(frame) : onFrame(rail, frame, bytes.length);
            end.wrong = end.wrong == null ? said : end.wrong;
            freeSlots();
            receive();
            pump();
        }

        private String onFrame(int rail, MemorySegment frame, int bytes) {
            String said = rails.onFrame(rail, frame, bytes);
            int behind = bytes - Rails.HEADER_BYTES;
            return said != null ? said : end.peer.onFrame(frame.asSlice(Rails.HEADER_BYTES), behind);
        }

        void lose(int rail) {
            if (rails.lose(rail)) {
                pump();
            }
        }
    }

    private final int count;
    private final int bytes;
    private final int fromA;
    private final int fromB;
    private final Plant plant;
    private final boolean[] isBroken;
    private final End a;
    private final End b;

    /// @param count of rails
    /// @param areLong whether messages are read by their receivers
    /// @param fromA how many `a` sends
    RailsWorld(int count, boolean areLong, int fromA, int fromB, Plant plant) {
        this.count = count;
        this.bytes = areLong ? LONG_BYTES : 1;
        this.fromA = fromA;
        this.fromB = fromB;
        this.plant = plant;
        this.isBroken = new boolean[count];
        this.a = new End("a");
        this.b = new End("b");
        a.pump();
        b.pump();
    }

    static Fingerprint fingerprint() {
        return new Fingerprint().without("verbena.messages.protocol.Peer", "timesCrowded");
    }

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        for (End end : List.of(a, b)) {
            End other = end == a ? b : a;
            if (end.sent < (end == a ? fromA : fromB)) {
                steps.add(Step.usual(() -> end.name + " sends message " + end.sent, () -> {
                    end.send();
                    end.pump();
                }));
            }
            for (int i = 0; i < count; i++) {
                int rail = i;
                if (!end.network.get(rail).isEmpty()) {
                    steps.add(Step.usual(
                            () -> "a frame of " + end.name + " arrives by rail " + rail,
                            () -> arrive(end, other, rail)));
                }
                if (!end.inbox.get(rail).isEmpty()) {
                    steps.add(Step.usual(() -> end.name + " takes a frame of rail " + rail, () -> end.take(rail)));
                }
                for (Reading each : List.copyOf(end.readings)) {
                    if (each.rail == rail && !isBroken[rail]) {
                        steps.add(Step.usual(
                                () -> end.name + " has read part " + each.part + " by rail " + rail,
                                () -> end.hasRead(each, other)));
                    }
                }
                if (isBroken[rail] && end.rails.isUsable(rail)) {
                    steps.add(Step.usual(() -> end.name + " finds rail " + rail + " lost", () -> end.lose(rail)));
                }
            }
        }
        for (int i = 0; i < count; i++) {
            int rail = i;
            if (!isBroken[rail]
                    && IntStream.range(0, count).filter(each -> !isBroken[each]).count() > 1) {
                steps.add(Step.fault(() -> "rail " + rail + " breaks", () -> breakRail(rail)));
            }
        }
        return steps;
    }

    /// The device of the other end has it, and that of this end is told so.
    private void arrive(End from, End to, int rail) {
        byte[] frame = from.network.get(rail).remove();
        to.inbox.get(rail).add(frame);
        if (!Rails.isTold(MemorySegment.ofArray(frame), frame.length)) {
            from.rails.completed(rail);
            if (plant == Plant.FREES_TOO_EARLY) {
                Arrays.fill(from.slots[0], Rails.HEADER_BYTES, FRAME_BYTES, FREE);
            }
            from.freeSlots();
            from.pump();
        }
    }

    private void breakRail(int rail) {
        isBroken[rail] = true;
        a.network.get(rail).clear();
        b.network.get(rail).clear();
    }

    @Override
    public void check() {
        for (End end : List.of(a, b)) {
            assertThat(end.end.wrong).as(end.name + " ends the peer").isNull();
            assertThat(end.got).as("messages at " + end.name).doesNotHaveDuplicates();
        }
    }

    @Override
    public void checkAtRest() {
        assertThat(a.got).as("messages at a").hasSize(fromB);
        assertThat(b.got).as("messages at b").hasSize(fromA);
        assertThat(a.rails.isIdle()).isTrue();
        assertThat(b.rails.isIdle()).isTrue();
    }

    @Override
    public long now() {
        return Fingerprint.BEGINNING;
    }
}

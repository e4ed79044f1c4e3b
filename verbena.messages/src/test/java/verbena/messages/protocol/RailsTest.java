package verbena.messages.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.RemoteMemory;

/// Rails between two workers, frame by frame, and random worlds in which rails break at any moment.
class RailsTest {
    private static final int UNDER_WAY = 3;
    private static final int FRAME_BYTES = 64;

    private final Rails rails = new Rails(3, 8, UNDER_WAY);

    RailsTest() {
        IntStream.range(0, 3).forEach(rails::join);
    }

    private String header() {
        MemorySegment out = MemorySegment.ofArray(new byte[Rails.HEADER_BYTES]);
        rails.writeHeader(out);
        return HexFormat.of().formatHex(out.toArray(JAVA_BYTE));
    }

    private String tell() {
        MemorySegment out = MemorySegment.ofArray(new byte[Rails.TOLD_BYTES]);
        rails.tell(out);
        return HexFormat.of().formatHex(out.toArray(JAVA_BYTE));
    }

    private static MemorySegment frame(String hex) {
        return MemorySegment.ofArray(HexFormat.of().parseHex(hex.replace(" ", "")));
    }

    private @Nullable String arrives(int rail, String hex) {
        MemorySegment frame = frame(hex);
        return Rails.isTold(frame, frame.byteSize())
                ? rails.onTold(frame)
                : rails.onFrame(rail, frame, frame.byteSize());
    }

    private void send(int slot) {
        rails.put(slot, 20);
        rails.sent();
    }

    @Test
    void aFrameHasItsNumberAndHowManyHaveCome() {
        rails.put(7, 20);
        assertThat(header()).isEqualTo("00000001" + "00000000");
        rails.sent();
        assertThat(arrives(0, "00000001 00000001")).isNull();
        rails.put(8, 20);
        assertThat(header()).isEqualTo("00000002" + "00000001");
    }

    @Test
    void aSlotIsFreeWhenTheDeviceAndThePeerHaveItsFrame() {
        send(7);
        send(8);
        rails.completed(0);
        assertThat(rails.free()).isNegative();
        assertThat(arrives(0, "00000001 00000002")).isNull();
        assertThat(rails.free()).isEqualTo(7);
        assertThat(rails.free()).isNegative();
        rails.completed(0);
        assertThat(rails.free()).isEqualTo(8);
    }

    @Test
    void theDeviceHasSoManyFramesAtOnce() {
        send(1);
        send(2);
        send(3);
        assertThat(rails.maySend()).isFalse();
        rails.completed(0);
        assertThat(rails.maySend()).isTrue();
    }

    @Test
    void whatThePeerHasNotGotGoesAgainByTheNextRail() {
        send(7);
        send(8);
        rails.completed(0);
        rails.completed(0); // the device of the peer has both
        assertThat(rails.lose(0)).isTrue();
        assertThat(rails.lose(0)).isFalse();
        assertThat(rails.maySend()).isFalse(); // until the peer has told what it has got
        assertThat(rails.toTell()).isEqualTo(1);
        assertThat(tell()).isEqualTo("ffffffff" + "00000000" + "00000001");
        assertThat(rails.toTell()).isNegative();
        assertThat(arrives(1, "ffffffff 00000001 00000001")).isNull();
        assertThat(rails.forFrames()).isEqualTo(1);
        assertThat(rails.free()).isEqualTo(7);
        assertThat(rails.isToSendAgain()).isTrue();
        assertThat(rails.slot()).isEqualTo(8);
        assertThat(rails.bytes()).isEqualTo(20);
        assertThat(header()).isEqualTo("00000002" + "00000000");
        rails.sent();
        assertThat(rails.isToSendAgain()).isFalse();
        rails.completed(0); // of the lost rail: says nothing
        assertThat(rails.isIdle()).isFalse();
        rails.completed(1);
        assertThat(rails.isIdle()).isTrue();
    }

    @Test
    void aLostRailOfDataStopsNoFrame() {
        send(7);
        rails.lose(2);
        assertThat(rails.maySend()).isTrue();
        assertThat(rails.isAgreed()).isFalse();
        assertThat(tell()).isEqualTo("ffffffff" + "00000000" + "00000004");
        assertThat(arrives(0, "ffffffff 00000000 00000004")).isNull();
        assertThat(rails.isAgreed()).isTrue();
        assertThat(rails.isToSendAgain()).isFalse();
    }

    @Test
    void aPeerThatTellsFirstIsAnswered() {
        assertThat(arrives(1, "ffffffff 00000000 00000001")).isNull();
        assertThat(rails.isUsable(0)).isFalse();
        assertThat(rails.forFrames()).isEqualTo(1);
        assertThat(tell()).isEqualTo("ffffffff" + "00000000" + "00000001");
        assertThat(arrives(1, "ffffffff 00000000 00000007")).isNull();
        assertThat(rails.areAllLost()).isTrue();
    }

    @Test
    void whatBreaksTheRulesIsTold() {
        send(7);
        assertThat(arrives(0, "0000")).contains("2 bytes");
        assertThat(arrives(1, "00000001 00000000")).contains("rail 1");
        assertThat(arrives(0, "00000002 00000000")).contains("frame 2 in place of 1");
        assertThat(arrives(0, "ffffffff 00000000")).contains("in place of 1");
        assertThat(arrives(0, "00000001 00000002")).contains("more frames received than were sent");
        assertThat(arrives(0, "00000001 ffffffff")).contains("more frames received than were sent");
        assertThat(arrives(0, "00000001 00000001")).isNull();
        assertThat(arrives(0, "00000002 00000000"))
                .contains("more frames received than were sent"); // fewer than before
        assertThat(arrives(0, "ffffffff 00000001 00000000")).contains("rails lost");
        assertThat(arrives(0, "ffffffff 00000001 00000008")).contains("rails lost"); // there are three
        assertThat(arrives(0, "ffffffff 00000002 00000004")).contains("more frames received than were sent");
        assertThat(arrives(0, "ffffffff 00000001 00000004")).isNull();
        assertThat(arrives(0, "ffffffff 00000001 00000004")).contains("rails lost"); // nothing new
        assertThat(arrives(0, "ffffffff 00000001 00000002")).contains("rails lost"); // one came back
    }

    /// Frames that were not sent again since a rail was lost are not acknowledged: their slots must not be free
    /// yet.
    @Test
    void aFrameThatIsToBeSentAgainCannotBeAcknowledged() {
        send(7);
        send(8);
        rails.lose(0);
        tell();
        assertThat(arrives(1, "ffffffff 00000000 00000001")).isNull();
        assertThat(arrives(1, "00000001 00000001")).contains("more frames received than were sent");
        rails.sent();
        assertThat(arrives(1, "00000001 00000001")).isNull();
        assertThat(rails.free()).isNegative(); // the device has it still
    }

    // ---- worlds

    /// One of two workers.
    private static final class End implements PeerOwner {
        final Rails rails;
        final Peer peer;
        final Matching matching = new Matching(1 << 20);
        final byte[][] slots;
        final ArrayDeque<Integer> free = new ArrayDeque<>();
        /// Frames on each rail, and those that the other end's device has and no thread has read.
        final List<ArrayDeque<byte[]>> network = new ArrayList<>();
        final List<ArrayDeque<byte[]>> inbox = new ArrayList<>();
        final List<Integer> got = new ArrayList<>();
        int sent;

        End(int count, int window) {
            rails = new Rails(count, window, UNDER_WAY);
            peer = new Peer(this, matching, new PeerLimits(FRAME_BYTES, window, 1 << 20, 1 << 16, 1 << 16, count));
            slots = new byte[window][Rails.HEADER_BYTES + FRAME_BYTES];
            for (int i = 0; i < count; i++) {
                rails.join(i);
                network.add(new ArrayDeque<>());
                inbox.add(new ArrayDeque<>());
            }
            for (int i = 0; i < window; i++) {
                free.add(i);
            }
        }

        void send() {
            byte[] data = new byte[4 + sent % 30];
            MemorySegment.ofArray(data).set(JAVA_INT_UNALIGNED, 0, sent++);
            peer.send(new World.Sent(0, 0, 0, 0, data));
        }

        /// Takes what has come, in order.
        void receive() {
            while (matching.unexpectedCount() > 0) {
                var receive = new World.Posted(0, 0, 0, 0, null, 64);
                matching.receive(0, 0, null, receive);
                got.add(MemorySegment.ofArray(receive.memory).get(JAVA_INT_UNALIGNED, 0));
            }
        }

        void pump() {
            int teller = rails.toTell();
            if (teller >= 0) {
                byte[] told = new byte[Rails.TOLD_BYTES];
                rails.tell(MemorySegment.ofArray(told));
                network.get(teller).add(told);
            }
            while (rails.maySend()) {
                if (!rails.isToSendAgain()) {
                    int slot = free.isEmpty() ? -1 : free.element();
                    byte[] memory = slot < 0 ? new byte[Rails.HEADER_BYTES + FRAME_BYTES] : slots[slot];
                    int bytes = peer.poll(MemorySegment.ofArray(memory).asSlice(Rails.HEADER_BYTES));
                    if (bytes == 0) {
                        return;
                    }
                    assertThat(free).as("slots are enough").isNotEmpty();
                    free.remove();
                    rails.put(slot, bytes);
                }
                byte[] slot = slots[rails.slot()];
                rails.writeHeader(MemorySegment.ofArray(slot));
                network.get(rails.forFrames()).add(java.util.Arrays.copyOf(slot, Rails.HEADER_BYTES + rails.bytes()));
                rails.sent();
                if (rails.isToSendAgain() || free.isEmpty()) {
                    freeSlots();
                }
            }
        }

        private void freeSlots() {
            for (int slot = rails.free(); slot >= 0; slot = rails.free()) {
                java.util.Arrays.fill(slots[slot], (byte) 0xEE); // whoever sends it now sends rubbish
                free.add(slot);
            }
        }

        void read(int rail) {
            byte[] bytes = inbox.get(rail).remove();
            MemorySegment frame = MemorySegment.ofArray(bytes);
            if (!rails.isUsable(rail)) {
                return;
            }
            if (Rails.isTold(frame, bytes.length)) {
                assertThat(rails.onTold(frame)).isNull();
            } else {
                assertThat(rails.onFrame(rail, frame, bytes.length)).isNull();
                assertThat(peer.onFrame(frame.asSlice(Rails.HEADER_BYTES), bytes.length - Rails.HEADER_BYTES))
                        .isNull();
            }
            freeSlots();
        }

        @Override
        public Optional<Incoming> incoming(Kind kind, long tag, long length) {
            return Optional.empty();
        }

        @Override
        public boolean active(int handler, MemorySegment frame, int at, int headerBytes, long bytes) {
            return false;
        }

        @Override
        public Optional<Incoming> active(int handler, byte[] header, long length) {
            return Optional.empty();
        }

        @Override
        public boolean admits(long length) {
            return true;
        }

        @Override
        public List<RemoteMemory> expose(int offer, MemorySegment data, boolean mayChange) {
            throw new AssertionError("all messages fit");
        }

        @Override
        public void withdraw(int offer, boolean isRead) {}
    }

    /// Moves one frame, or reads one; false when there is nothing to do.
    private static boolean step(End[] ends, boolean[] isCut, SplittableRandom random) {
        var ready = new ArrayList<Runnable>();
        for (int i = 0; i < 2; i++) {
            End from = ends[i];
            End to = ends[1 - i];
            from.pump();
            for (int rail = 0; rail < isCut.length; rail++) {
                int which = rail;
                if (isCut[rail]) {
                    from.network.get(rail).clear();
                }
                if (!from.network.get(rail).isEmpty()) {
                    ready.add(() -> {
                        byte[] frame = from.network.get(which).remove();
                        to.inbox.get(which).add(frame);
                        if (!Rails.isTold(MemorySegment.ofArray(frame), frame.length)) {
                            from.rails.completed(which);
                            from.freeSlots();
                        }
                    });
                }
                if (!to.inbox.get(rail).isEmpty()) {
                    ready.add(() -> to.read(which));
                }
            }
        }
        if (ready.isEmpty()) {
            return false;
        }
        ready.get(random.nextInt(ready.size())).run();
        return true;
    }

    private static void settle(End[] ends, boolean[] isCut, SplittableRandom random) {
        boolean goesOn = true;
        while (goesOn) {
            goesOn = step(ends, isCut, random);
            for (End each : ends) {
                each.receive();
            }
        }
    }

    /// Rails break in the middle, and each end finds out when it does. As long as one is left, all messages come,
    /// once and in order.
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 8})
    void messagesComeOnceAndInOrderWhateverRailsBreak(int window) {
        for (int seed = 0; seed < 3000; seed++) {
            var random = new SplittableRandom(seed);
            int count = 2 + random.nextInt(3);
            End[] ends = {new End(count, window), new End(count, window)};
            var isCut = new boolean[count];
            int left = count;
            for (int i = 0; i < 120; i++) {
                switch (random.nextInt(8)) {
                    case 0, 1 -> ends[random.nextInt(2)].send();
                    case 2 -> ends[random.nextInt(2)].receive();
                    case 3 -> {
                        int rail = random.nextInt(count);
                        if (random.nextInt(6) == 0 && !isCut[rail] && left > 1) {
                            isCut[rail] = true;
                            left--;
                        }
                    }
                    case 4 -> {
                        int rail = random.nextInt(count);
                        if (isCut[rail]) {
                            ends[random.nextInt(2)].rails.lose(rail);
                        }
                    }
                    default -> step(ends, isCut, random);
                }
            }
            for (int rail = 0; rail < count; rail++) {
                for (End each : ends) {
                    settle(ends, isCut, random);
                    if (isCut[rail]) {
                        each.rails.lose(rail);
                    }
                }
            }
            settle(ends, isCut, random);
            for (int i = 0; i < 2; i++) {
                assertThat(ends[i].got)
                        .as("seed %d, end %d", seed, i)
                        .isEqualTo(IntStream.range(0, ends[1 - i].sent).boxed().toList());
                assertThat(ends[i].rails.isIdle()).isTrue();
            }
        }
    }
}

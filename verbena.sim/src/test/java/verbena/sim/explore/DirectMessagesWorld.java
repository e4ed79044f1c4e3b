package verbena.sim.explore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import verbena.transport.Scheduled;
import verbena.transport.near.NearConnection;
import verbena.transport.near.PeerMessages;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Packet;

/// Two ends of a reliable connection over shared memory, whose messages need no packets
/// ([decision 19](../../../../../../../docs/decisions/19-without-packets.md)). Each sends numbers to the
/// other, in SENDs. A ring leads from each to the other. Nothing in it is lost, but it may have no room for
/// messages, and each end may be late with everything.
final class DirectMessagesWorld implements SmallWorld {
    private static final int RETRIES = 7;
    /// Receives for messages that must not come. They are posted late, with the last that is needed.
    private static final int SPARE = 1;
    /// Where [DirectMessage] has them.
    private static final int EXPECTED = 12;

    private static final int KIND = 16;
    private static final List<String> KINDS = List.of("", "answer", "decline", "query", "send", "write");

    /// What is wrong on purpose in what the ends write into their rings.
    enum Plant {
        NOTHING,
        /// An answer tells of a message that has not come.
        ANSWERS_TOO_EARLY,
        /// An answer to a question declines, and messages are taken all the same.
        DECLINES_WHAT_IT_TAKES,
        /// A question gets no answer.
        ANSWERS_NO_QUESTION,
        /// A byte changes on the way.
        CHANGES_A_BYTE
    }

    /// What may happen to `b`, once, besides being late.
    enum Harm {
        NONE,
        /// Its program resets the queue pair, and connects it again as it was. `a` is not told.
        RESET,
        /// Its process ends. `a` gets its last words, and then is told.
        DEATH
    }

    /// What lies in a ring.
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Sent(boolean isDirect, byte[] bytes) {}

    private final Arena arena = Arena.ofConfined();
    private final Frame frame = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
    private final Harm harm;
    private final Plant plant;
    private final Side a;
    private final Side b;
    private boolean isHarmed;
    /// Whether `a` has been told that `b` is dead.
    private boolean isTold;
    private long now = Fingerprint.BEGINNING;

    static Fingerprint fingerprint() {
        return ReliableEnd.fingerprint()
                .without(DirectMessagesWorld.class.getName(), "frame", "arena")
                .without(Side.class.getName(), "scratch");
    }

    /// @param fromA how many numbers `a` sends
    /// @param fromB how many `b` sends
    /// @param harm that `b` may come to
    /// @param plant what is wrong
    DirectMessagesWorld(int fromA, int fromB, Harm harm, Plant plant) {
        this.harm = harm;
        this.plant = plant;
        a = new Side("a", 0x11, 100, fromA, fromB);
        b = new Side("b", 0x22, 7000, fromB, fromA);
        a.peer = b;
        b.peer = a;
        a.end.connect(b.end, RETRIES, now);
        b.end.connect(a.end, RETRIES, now);
        prove(a);
        prove(b);
        for (Side side : List.of(a, b)) {
            while (side.end.received < side.peer.toSend) {
                side.end.postReceive();
            }
        }
    }

    /// The first message goes by packets: it shows that this is the right peer, by the right way.
    private void prove(Side side) {
        side.peer.end.postReceive();
        side.end.postSend(number(side, 0));
        side.turn();
        side.peer.take();
        side.peer.turn();
        side.take();
        check();
    }

    private static long number(Side side, int index) {
        return side.end.parameters.sqPsn * 1000L + index;
    }

    private final class Side implements PeerMessages {
        final ReliableEnd end;
        final int toSend;
        Side peer = this;
        /// What it has shown the peer, oldest first.
        final List<Sent> ring = new ArrayList<>();

        private final List<Sent> added = new ArrayList<>();
        private final MemorySegment scratch = arena.allocate(DirectMessage.BYTES_MAX, Long.BYTES);
        private final NearConnection near;
        private int begun;
        private long addedCount;
        private boolean isFull;
        /// Whether the last record that it has taken is a question.
        private boolean isAsked;

        Side(String name, int qpn, int psn, int toSend, int toReceive) {
            end = new ReliableEnd(name, qpn, psn, toReceive + 1 + SPARE, arena);
            near = new NearConnection(end.connection);
            near.peerMessages(this);
            end.protocol = near;
            this.toSend = toSend;
        }

        // ---- steps

        void addSteps(List<Step> to) {
            if (end.posted <= toSend) {
                addWriting(to, () -> end.name + " posts send " + end.posted, this::post);
            }
            if (end.received == peer.toSend) {
                to.add(Step.usual(() -> end.name + " posts its last receives", () -> {
                    end.postReceive();
                    end.postReceive();
                }));
            }
            if (!peer.ring.isEmpty()) {
                addWriting(to, () -> end.name + " takes " + describe(peer.ring.getFirst()), this::take);
            }
            if (end.isReady) {
                addWriting(to, () -> end.name + " has its turn", this::turn);
            }
            if (end.protocol.deadlineNanos() <= now) {
                to.add(Step.usual(() -> end.name + " looks at its timers", () -> end.onDeadline(now)));
            }
            if (isFull) {
                to.add(Step.usual(() -> "there is room from " + end.name, () -> isFull = false));
            }
        }

        /// A step that may write into the ring, and may find no room there. That there was none before makes no
        /// difference.
        private void addWriting(List<Step> to, Supplier<String> name, Runnable does) {
            to.add(Step.usual(name, does));
            if (!isFull) {
                to.add(Step.fault(() -> name.get() + ", and has no room", () -> {
                    isFull = true;
                    does.run();
                }));
            }
        }

        /// The thread that posts hands over what it can.
        private void post() {
            end.postSend(number(this, end.posted));
            end.isReady |= !near.carryOut();
        }

        void turn() {
            end.isReady = false;
            while (end.protocol.poll(frame, now)) {
                addedCount++;
                ring.add(new Sent(false, frame.packet().toArray(ValueLayout.JAVA_BYTE)));
            }
        }

        void take() {
            Sent next = peer.ring.removeFirst();
            put(next);
            end.isReady = true;
            frame.sourceHigh = frame.destinationHigh = 0;
            frame.sourceLow = end.parameters.destinationQpn;
            frame.destinationLow = end.parameters.qpn;
            isAsked = next.isDirect && DirectMessage.kind(frame) == DirectMessage.QUERY;
            if (next.isDirect) {
                if (!near.onMessage(frame, now) && isAsked && !isFull) {
                    MemorySegment answer = MemorySegment.ofArray(new byte[DirectMessage.HEADER_BYTES]);
                    DirectMessage.writeDecline(answer, 0, frame); // as its device does
                    addedCount++;
                    ring.add(new Sent(true, answer.toArray(ValueLayout.JAVA_BYTE)));
                }
            } else {
                var _ = end.protocol.onPacket(frame, Packet.opcode(frame), now);
            }
        }

        // ---- PeerMessages

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public long begin(int bytes) {
            begun = bytes;
            return isFull ? -1 : 0;
        }

        @Override
        public MemorySegment memory() {
            return scratch;
        }

        @Override
        public void end() {
            var record = new Sent(true, scratch.asSlice(0, begun).toArray(ValueLayout.JAVA_BYTE));
            addedCount++;
            if (!isPlanted(record, isAsked)) {
                added.add(record);
            }
        }

        @Override
        public void show() {
            ring.addAll(added);
            added.clear();
        }

        @Override
        public long added() {
            return addedCount;
        }

        @Override
        public boolean isRead(long place) {
            return addedCount - added.size() - ring.size() >= place;
        }

        // ---- what has to be

        void check() {
            for (int i = 0; i < end.numbers.size(); i++) {
                Long number = end.numbers.get(i);
                if (number != null ? number != number(peer, i) : !isHarmed) {
                    throw new AssertionError(end.name + " has received " + end.numbers + " of " + peer.toSend);
                }
            }
            for (int i = end.numbers.size(); i <= peer.toSend + SPARE; i++) {
                if (end.in.getAtIndex(ValueLayout.JAVA_LONG, i) != ReliableEnd.UNTOUCHED) {
                    throw new AssertionError(end.name + " has bytes of what it has not received");
                }
            }
            for (int i = 0; i < end.sent.size(); i++) {
                if (end.sent.get(i) != WcStatus.SUCCESS) {
                    if (!isHarmed) {
                        throw new AssertionError("send " + i + " of " + end.name + " has failed: " + end.sent.get(i));
                    }
                } else if (i >= peer.end.numbers.size()) {
                    throw new AssertionError("send " + i + " of " + end.name + " is a success, and not delivered");
                }
            }
        }

        void checkAtRest() {
            if (end.sent.size() != toSend + 1) {
                throw new AssertionError(end.name + " waits for send " + end.sent.size() + " for ever");
            }
        }
    }

    /// Makes wrong what an end writes; true when it writes nothing.
    private boolean isPlanted(Sent record, boolean isAsked) {
        ByteBuffer bytes = ByteBuffer.wrap(record.bytes).order(ByteOrder.nativeOrder());
        put(record);
        switch (plant) {
            case NOTHING -> {}
            case ANSWERS_TOO_EARLY -> bytes.putInt(EXPECTED, bytes.getInt(EXPECTED) + 1);
            case DECLINES_WHAT_IT_TAKES -> {
                if (isAsked && DirectMessage.kind(frame) == DirectMessage.ANSWER) {
                    bytes.put(KIND, (byte) DirectMessage.DECLINE);
                }
            }
            case ANSWERS_NO_QUESTION -> {
                return isAsked;
            }
            case CHANGES_A_BYTE -> {
                if (DirectMessage.kind(frame) == DirectMessage.SEND) {
                    bytes.put(record.bytes.length - 1, (byte) 1);
                }
            }
        }
        return false;
    }

    private void put(Sent sent) {
        MemorySegment.copy(MemorySegment.ofArray(sent.bytes), 0, frame.slot, frame.start, sent.bytes.length);
        frame.length = sent.bytes.length;
    }

    private String describe(Sent sent) {
        put(sent);
        if (!sent.isDirect) {
            return "packet " + Packet.opcode(frame) + " psn " + Bth.psn(frame.slot, frame.start);
        }
        String kind = KINDS.get(DirectMessage.kind(frame));
        return kind + (kind.equals("send") ? " " + DirectMessage.number(frame) : "") + " expects "
                + DirectMessage.expected(frame);
    }

    // ---- SmallWorld

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        a.addSteps(steps);
        boolean isDead = isHarmed && harm == Harm.DEATH;
        if (!isDead) {
            b.addSteps(steps);
        } else if (!isTold && b.ring.isEmpty()) {
            steps.add(Step.usual(() -> "a is told that b is dead", this::tell));
        }
        if (!isHarmed && harm != Harm.NONE) {
            steps.add(Step.fault(() -> harm == Harm.RESET ? "b is reset" : "b dies", this::harm));
        }
        long next = isDead ? deadline(a) : Math.min(deadline(a), deadline(b));
        if (next != Scheduled.NEVER) {
            steps.add(Step.time(() -> (next - now) / 1000 + " us pass", () -> now = next));
        }
        return steps;
    }

    private void harm() {
        isHarmed = true;
        if (harm == Harm.DEATH) {
            a.ring.clear();
            return;
        }
        b.end.modify(QpState.RESET, now);
        b.end.receives.discard();
        b.end.connect(a.end, RETRIES, now);
        for (b.end.received = b.end.numbers.size(); b.end.received <= a.toSend + SPARE; ) {
            b.end.postReceive();
        }
    }

    private void tell() {
        isTold = true;
        a.end.protocol.peerGone("b is dead");
        a.end.isReady = true;
    }

    private long deadline(Side side) {
        long deadline = side.end.protocol.deadlineNanos();
        return deadline > now ? deadline : Scheduled.NEVER;
    }

    @Override
    public void check() {
        a.end.takeCompletions();
        b.end.takeCompletions();
        a.check();
        b.check();
    }

    @Override
    public void checkAtRest() {
        a.checkAtRest();
        if (!isHarmed) {
            b.checkAtRest();
        }
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

package verbena.sim.explore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import verbena.transport.Scheduled;
import verbena.transport.memory.Region;
import verbena.transport.queue.SpareFrames;
import verbena.verbs.Access;
import verbena.verbs.WcStatus;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// Two ends of a reliable connection that repeat only what is missing
/// ([decision 05](../../../../../../../docs/decisions/05-repair-of-losses.md)), on a network that loses
/// packets, doubles them, and lets them overtake each other. `a` sends numbers, and READs of `b`.
final class SelectiveRepeatWorld implements SmallWorld {
    /// What is wrong on purpose, in what leaves an end.
    enum Plant {
        NOTHING,
        /// `a` sends a packet again, with the next PSN.
        REPEATS_AS_ANOTHER,
        /// `b` does not tell what it has and what it keeps.
        ANSWERS_NOTHING,
        /// A byte of an answer to a READ changes.
        CHANGES_A_BYTE,
        /// `b` acknowledges a packet that has not come.
        ACKNOWLEDGES_TOO_MUCH
    }

    private static final int RETRIES = 7;
    private static final int MTU = 256;
    /// Of a READ: three packets.
    private static final int READ_BYTES = 2 * MTU + 8;

    private final Arena arena = Arena.ofConfined();
    private final Frame frame = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
    private final int sends;
    private final int reads;
    private final Plant plant;
    private final Side a;
    private final Side b;
    private final Region near;
    private final Region far;
    private boolean isPlanted;
    private long now = Fingerprint.BEGINNING;

    static Fingerprint fingerprint() {
        return ReliableEnd.fingerprint()
                .without(SelectiveRepeatWorld.class.getName(), "frame", "arena")
                .without("verbena.transport.queue.SpareFrames", "free", "count", "made");
    }

    /// @param sends how many numbers `a` sends first
    /// @param reads how many READs it makes after them
    /// @param spares frames for what comes early
    SelectiveRepeatWorld(int sends, int reads, int spares, Plant plant) {
        this.sends = sends;
        this.reads = reads;
        this.plant = plant;
        a = new Side("a", 0x11, 100);
        b = new Side("b", 0x22, 7000);
        near = a.end.register(arena.allocate(READ_BYTES, 8));
        far = b.end.register(arena.allocate(READ_BYTES, 8));
        for (int i = 0; i < READ_BYTES; i++) {
            far.memory().set(ValueLayout.JAVA_BYTE, i, (byte) (i / MTU + 1));
        }
        a.connect(b, spares);
        b.connect(a, spares);
        for (int i = 0; i < sends; i++) {
            b.end.postReceive();
            a.end.postSend(number(i));
        }
        for (int i = 0; i < reads; i++) {
            a.end.postRead(near, far);
        }
        a.end.isReady = true;
    }

    private static long number(int index) {
        return 4_000L + index;
    }

    private final class Side {
        final ReliableEnd end;
        /// What is on the way from it, oldest first.
        final List<byte[]> network = new ArrayList<>();

        Side(String name, int qpn, int psn) {
            end = new ReliableEnd(name, qpn, psn, sends, arena);
        }

        void connect(Side peer, int spares) {
            end.parameters.pathMtu = MTU;
            end.parameters.readsOutstandingMax = 4;
            end.parameters.readsServedMax = 4;
            end.parameters.repeatsAnswers = true;
            end.parameters.repeatsRequests = true;
            end.parameters.spareFrames = new SpareFrames(spares);
            end.connect(peer.end, RETRIES, now);
            end.parameters.access = Access.REMOTE_WRITE.bit() | Access.REMOTE_READ.bit();
        }

        void addSteps(List<Step> to, Side peer) {
            if (end.isReady) {
                to.add(Step.usual(() -> end.name + " has its turn", this::turn));
            }
            if (end.protocol.deadlineNanos() <= now) {
                to.add(Step.usual(() -> end.name + " looks at its timers", () -> end.onDeadline(now)));
            }
            for (int i = 0; i < Math.min(2, peer.network.size()); i++) {
                int at = i;
                if (at == 0) {
                    to.add(Step.usual(
                            () -> end.name + " takes " + describe(peer.network.getFirst()), () -> take(peer, 0)));
                    to.add(Step.fault(
                            () -> describe(peer.network.getFirst()) + " is lost", () -> peer.network.remove(0)));
                    to.add(Step.fault(
                            () -> describe(peer.network.getFirst()) + " comes twice",
                            () -> peer.network.add(peer.network.getFirst().clone())));
                } else {
                    to.add(Step.fault(() -> describe(peer.network.get(at)) + " overtakes", () -> take(peer, at)));
                }
            }
        }

        void turn() {
            end.isReady = false;
            while (end.protocol.poll(frame, now)) {
                byte[] packet = frame.packet().toArray(ValueLayout.JAVA_BYTE);
                if (!isPlanted(packet)) {
                    network.add(packet);
                }
            }
        }

        void take(Side peer, int at) {
            put(peer.network.remove(at));
            frame.sourceLow = end.parameters.destinationQpn;
            frame.destinationLow = end.parameters.qpn;
            end.isReady = true;
            var _ = end.protocol.onPacket(frame, Packet.opcode(frame), now);
        }
    }

    private void put(byte[] packet) {
        MemorySegment.copy(MemorySegment.ofArray(packet), 0, frame.slot, frame.start, packet.length);
        frame.length = packet.length;
        frame.sourceHigh = frame.destinationHigh = 0;
    }

    private String describe(byte[] packet) {
        put(packet);
        return Packet.opcode(frame) + " psn " + Bth.psn(frame.slot, frame.start);
    }

    /// Makes wrong what is sent; true when nothing is sent.
    private boolean isPlanted(byte[] packet) {
        put(packet);
        Opcode opcode = Packet.opcode(frame);
        switch (plant) {
            case NOTHING -> {}
            case REPEATS_AS_ANOTHER -> {
                if (opcode == Opcode.RC_SEND_ONLY && !isPlanted) {
                    isPlanted = true;
                    a.network.add(packet.clone());
                    Bth.setPsn(MemorySegment.ofArray(packet), 0, Bth.psn(frame.slot, frame.start) + 1);
                }
            }
            case ANSWERS_NOTHING -> {
                return opcode == Opcode.SELECTIVE_ACK || opcode == Opcode.RC_ACKNOWLEDGE;
            }
            case CHANGES_A_BYTE -> {
                if (opcode == Opcode.RC_READ_RESPONSE_MIDDLE) {
                    packet[Packet.payloadOffset(frame, opcode) - frame.start] = 0;
                }
            }
            case ACKNOWLEDGES_TOO_MUCH -> {
                if (opcode == Opcode.RC_ACKNOWLEDGE && !isPlanted) {
                    isPlanted = true;
                    Bth.setPsn(MemorySegment.ofArray(packet), 0, Bth.psn(frame.slot, frame.start) + 1);
                }
            }
        }
        return false;
    }

    // ---- SmallWorld

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        a.addSteps(steps, b);
        b.addSteps(steps, a);
        long next = Math.min(deadline(a), deadline(b));
        if (next != Scheduled.NEVER) {
            steps.add(Step.time(() -> (next - now) / 1000 + " us pass", () -> now = next));
        }
        return steps;
    }

    private long deadline(Side side) {
        long deadline = side.end.protocol.deadlineNanos();
        return deadline > now ? deadline : Scheduled.NEVER;
    }

    @Override
    public void check() {
        a.end.takeCompletions();
        b.end.takeCompletions();
        List<Long> all =
                IntStream.range(0, sends).mapToObj(SelectiveRepeatWorld::number).toList();
        int received = b.end.numbers.size();
        if (received > sends || !b.end.numbers.equals(all.subList(0, received))) {
            throw new AssertionError("b has received " + b.end.numbers + " of " + sends);
        }
        for (int i = 0; i < a.end.sent.size(); i++) {
            if (a.end.sent.get(i) != WcStatus.SUCCESS) {
                throw new AssertionError("request " + i + " has failed: " + a.end.sent.get(i));
            }
            if (i < sends && i >= received) {
                throw new AssertionError("send " + i + " is a success, and not delivered");
            }
            if (i >= sends && near.memory().mismatch(far.memory()) >= 0) {
                throw new AssertionError("a READ is a success, and has other bytes");
            }
        }
    }

    @Override
    public void checkAtRest() {
        if (a.end.sent.size() != sends + reads) {
            throw new AssertionError("a waits for request " + a.end.sent.size() + " for ever");
        }
        if (b.end.parameters.spareFrames.inUse() > 0) {
            throw new AssertionError("b keeps packets for ever");
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

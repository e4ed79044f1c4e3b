package verbena.stream.protocol;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;
import verbena.verbs.AtomicCapability;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.MemoryRegion;
import verbena.verbs.OnDemandPaging;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.CompletionAccess;

/// Two ends of a stream of bytes, with the smallest buffers: rings of a few bytes, each shown half by half, and
/// credits for what has immediate data. Each program sends all of its bytes, then says that it sends no more, and
/// reads what comes when it likes. The device is as late as it likes with everything, and READs memory when it
/// sends.
final class StreamsWorld implements SmallWorld {
    /// What is wrong on purpose, in what arrives.
    enum Plant {
        NOTHING,
        /// A message that gives credits, and shows a half, is lost.
        LOSES_A_CREDIT,
        /// A message comes twice.
        REPEATS_A_MESSAGE,
        /// A byte changes on the way.
        CHANGES_A_BYTE
    }

    /// Requests that a queue pair has room for: the fewest that a stream takes.
    private static final int DEPTH = 16;
    /// What a stream calls its receives.
    private static final long RECEIVE = 3L << 32;
    /// How far from each other regions lie.
    private static final long APART = 0x1_0000;

    /// A request of a queue pair, its memory as addresses and lengths.
    private record Posted(long wrId, long to, boolean hasImmediate, int immediate, List<Long> from) {}

    /// What a program is told by its completion queue.
    private record Told(long wrId, boolean isReceive, int immediate) {}

    /// One end: its program, its stream, and its device.
    private final class End {
        final String name;
        final List<MemorySegment> regions = new ArrayList<>();
        final ArrayDeque<Posted> posted = new ArrayDeque<>();
        final ArrayDeque<Long> unacknowledged = new ArrayDeque<>();
        final ArrayDeque<Told> completions = new ArrayDeque<>();
        final int toSend;
        int receives;
        long sent;
        int read;
        boolean hasShutDown;
        private @Nullable Posted made;
        final ByteStream stream;

        End(String name, int toSend) {
            this.name = name;
            this.toSend = toSend;
            stream = new ByteStream(CONTEXT, (_, _) -> queuePair(), SIZES, Optional.of(domain()), _ -> queue());
        }

        // ---- its device

        private ProtectionDomain domain() {
            return proxy(ProtectionDomain.class, (_, arguments) -> {
                long bytes = (long) arguments[0];
                long address = (regions.size() + 1) * APART;
                MemorySegment memory = arena.allocate(bytes, Long.BYTES);
                regions.add(memory);
                return proxy(MemoryRegion.class, (asked, _) -> switch (asked) {
                    case "segment" -> memory;
                    case "address" -> address;
                    case "rkey", "lkey" -> 7;
                    case "length" -> bytes;
                    default -> null;
                });
            });
        }

        private CompletionQueue queue() {
            return proxy(CompletionQueue.class, (_, arguments) -> {
                WorkCompletion[] into = (WorkCompletion[]) arguments[0];
                int count = 0;
                while (count < into.length && !completions.isEmpty()) {
                    Told next = completions.remove();
                    CompletionAccess.fill(
                            into[count++],
                            next.wrId,
                            WcStatus.SUCCESS,
                            next.isReceive ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RDMA_WRITE,
                            0,
                            0,
                            next.immediate,
                            0,
                            0,
                            next.isReceive ? CompletionAccess.WITH_IMM : 0,
                            "");
                }
                return count;
            });
        }

        private QueuePair queuePair() {
            var sending = new SendBatch[1];
            sending[0] = proxy(SendBatch.class, (method, arguments) -> {
                switch (method) {
                    case "write" ->
                        made = new Posted((long) arguments[0], (long) arguments[1], false, 0, new ArrayList<>());
                    case "writeWithImmediate" ->
                        made = new Posted(
                                (long) arguments[0], (long) arguments[1], true, (int) arguments[3], new ArrayList<>());
                    case "sge" -> {
                        made.from.add(((MemoryRegion) arguments[0]).address() + (long) arguments[1]);
                        made.from.add(((Number) arguments[2]).longValue());
                    }
                    case "submit" -> {
                        posted.add(made);
                        return 1;
                    }
                    default -> {}
                }
                return sending[0];
            });
            var receiving = new ReceiveBatch[1];
            receiving[0] = proxy(ReceiveBatch.class, (method, _) -> {
                receives += method.equals("receive") ? 1 : 0;
                return method.equals("submit") ? 1 : receiving[0];
            });
            return proxy(QueuePair.class, (method, _) -> method.equals("sendBatch") ? sending[0] : receiving[0]);
        }

        MemorySegment at(long address, long length) {
            long region = address / APART - 1;
            if (region < 0 || region >= regions.size()) {
                throw new AssertionError(name + " has no memory at " + Long.toHexString(address));
            }
            return regions.get((int) region).asSlice(address % APART, length);
        }

        /// Carries out the oldest request.
        void carryOut(End peer) {
            Posted next = posted.remove();
            long to = next.to;
            for (int i = 0; i < next.from.size(); i += 2) {
                long length = next.from.get(i + 1);
                peer.at(to, length).copyFrom(at(next.from.get(i), length));
                to += length;
            }
            if (next.hasImmediate && !isPlanted(next, peer)) {
                peer.receives--;
                peer.completions.add(new Told(RECEIVE, true, next.immediate));
            }
            unacknowledged.add(next.wrId);
        }

        /// All that it has posted arrives.
        void settle(End peer) {
            while (!posted.isEmpty()) {
                carryOut(peer);
                completions.add(new Told(unacknowledged.remove(), false, 0));
            }
            int _ = peer.stream.progress();
            int _ = stream.progress();
        }

        void addSteps(List<Step> to, End peer) {
            if (sent < toSend && stream.canSend()) {
                to.add(Step.usual(() -> name + " sends from byte " + sent, this::send));
            }
            if (sent == toSend && toSend > 0 && !hasShutDown && stream.hasControl()) {
                to.add(Step.usual(() -> name + " sends no more", () -> {
                    hasShutDown = true;
                    stream.sendControl(StreamMessage.SHUTDOWN);
                }));
            }
            if (stream.available() > 0) {
                to.add(Step.usual(() -> name + " reads byte " + read, this::read));
            }
            if (!posted.isEmpty() && (!posted.element().hasImmediate || peer.receives > 0)) {
                to.add(Step.usual(() -> "what " + name + " has posted arrives", () -> carryOut(peer)));
            }
            if (!unacknowledged.isEmpty()) {
                to.add(Step.usual(
                        () -> name + " is told that it has arrived",
                        () -> completions.add(new Told(unacknowledged.remove(), false, 0))));
            }
            if (!completions.isEmpty()) {
                to.add(Step.usual(() -> name + " goes on", () -> {
                    int _ = stream.progress();
                }));
            }
        }

        // ---- its program

        private void send() {
            sent += stream.send(
                    (from, length, ring) -> {
                        MemorySegment bytes = arena.allocate(length);
                        for (int i = 0; i < length; i++) {
                            bytes.set(ValueLayout.JAVA_BYTE, i, (byte) (from + i + 1));
                        }
                        ring.put(bytes, 0, length);
                    },
                    sent,
                    toSend);
        }

        private void read() {
            MemorySegment into = arena.allocate(1);
            long count = stream.receive(into, 0, 1, false, 0);
            int value = into.get(ValueLayout.JAVA_BYTE, 0);
            if (count != 1 || value != read + 1) {
                throw new AssertionError(name + " has read " + value + " as byte " + (read + 1));
            }
            read++;
        }

        void check(End peer) {
            if (stream.failure() != null) {
                throw new AssertionError("the stream of " + name + " has failed: " + stream.failure());
            }
            if (stream.peerSendsNoMore() && read + stream.available() != peer.toSend) {
                throw new AssertionError(name + " is told of the end before " + peer.toSend + " bytes");
            }
        }

        void checkAtRest(End peer) {
            if (read != peer.toSend || stream.peerSendsNoMore() != (peer.toSend > 0)) {
                throw new AssertionError(name + " waits for byte " + (read + 1) + " for ever");
            }
            if (!stream.isSent()) {
                throw new AssertionError(name + " waits until all is sent for ever");
            }
        }
    }

    @FunctionalInterface
    private interface Answers {
        @Nullable
        Object answer(String method, Object[] arguments);
    }

    private static <T> T proxy(Class<T> type, Answers answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (_, method, arguments) -> answers.answer(method.getName(), arguments == null ? NONE : arguments)));
    }

    private static final Object[] NONE = {};
    private static final StreamSizes SIZES = new StreamSizes(1, 2, 0, 0, 0);
    private static final Context CONTEXT = proxy(
            Context.class,
            (_, _) -> new DeviceAttributes(
                    new DeviceAttributes.Identity("", 0, 0, 0, 0, 0),
                    new DeviceAttributes.QueueLimits(0, DEPTH, 2, 2, 0, 0, 0, 0, 0, 0),
                    new DeviceAttributes.MemoryLimits(0, 0, 0, 0, 0, 0, OnDemandPaging.NONE),
                    new DeviceAttributes.TransportLimits(0, 0, 0, 0, AtomicCapability.NONE, 0),
                    new DeviceAttributes.DatagramLimits(0, 0, 0, 0),
                    DeviceAttributes.Clock.NONE,
                    0,
                    0,
                    Set.of(Capability.IMMEDIATE_DATA)));

    private final Arena arena = Arena.ofConfined();
    private final Plant plant;
    private boolean isPlanted;
    private final End a;
    private final End b;

    /// @param fromA how many bytes `a` sends
    /// @param fromB how many `b` sends
    StreamsWorld(int fromA, int fromB, Plant plant) {
        this.plant = plant;
        a = new End("a", fromA);
        b = new End("b", fromB);
        a.stream.begin(b.stream.hello());
        b.stream.begin(a.stream.hello());
        int _ = a.stream.progress(); // shows the second half
        int _ = b.stream.progress();
        a.settle(b);
        b.settle(a);
    }

    static Fingerprint fingerprint() {
        return new Fingerprint()
                .without("verbena.verbs.WorkCompletion")
                .without(StreamsWorld.class.getName(), "arena")
                .without("verbena.stream.protocol.ByteStream", "owned", "domain", "qp", "sendBuffer")
                .without("verbena.stream.protocol.StreamCompletions", "cq", "batch")
                .without("verbena.stream.protocol.SendRing", "buffer")
                .without("verbena.stream.protocol.ReceiveRing", "buffer")
                .without("verbena.stream.protocol.PeerBuffers", "list")
                .without("verbena.stream.protocol.ControlMessages", "qp", "buffer")
                .without("verbena.stream.protocol.StreamMappings", "domain", "entry", "indexes");
    }

    /// Makes wrong what arrives; true when it is lost.
    private boolean isPlanted(Posted message, End peer) {
        boolean isData = StreamMessage.kind(message.immediate) == StreamMessage.DATA;
        switch (plant) {
            case NOTHING -> {}
            case LOSES_A_CREDIT -> {
                return StreamMessage.kind(message.immediate) == StreamMessage.CREDITS && a.sent > 0;
            }
            case REPEATS_A_MESSAGE -> {
                if (isData && !isPlanted) {
                    isPlanted = true;
                    peer.completions.add(new Told(RECEIVE, true, message.immediate));
                }
            }
            case CHANGES_A_BYTE -> {
                if (isData) {
                    peer.at(message.to, 1).fill((byte) 0);
                }
            }
        }
        return false;
    }

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        a.addSteps(steps, b);
        b.addSteps(steps, a);
        return steps;
    }

    @Override
    public void check() {
        a.check(b);
        b.check(a);
    }

    @Override
    public void checkAtRest() {
        a.checkAtRest(b);
        b.checkAtRest(a);
    }

    @Override
    public long now() {
        return Fingerprint.BEGINNING;
    }

    @Override
    public void close() {
        arena.close();
    }
}

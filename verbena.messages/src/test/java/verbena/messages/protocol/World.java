package verbena.messages.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.verbs.RemoteMemory;

/// Some workers without devices, whose frames and READs wait until a random choice moves them. It counts receives as
/// a device would: a frame that finds none is an error.
final class World {
    /// A message that was sent: its number, sender and order are in its bytes.
    static final class Sent extends Outgoing {
        final int from;
        final int to;
        final int order;
        int done;
        int failed;

        Sent(int from, int to, int order, long tag, byte[] data) {
            super(Kind.TAGGED, tag, MemorySegment.ofArray(data));
            this.from = from;
            this.to = to;
            this.order = order;
        }

        @Override
        public void done() {
            done++;
        }

        @Override
        public void failed(String why) {
            failed++;
        }
    }

    /// An active message: its number is in its header, and says who handles it.
    static final class Active extends Outgoing {
        final int from;
        final int to;
        final int order;
        int handled;
        int done;
        int failed;

        Active(int from, int to, int order, byte[] header, byte[] data) {
            super(order % 7, header, MemorySegment.ofArray(data));
            this.from = from;
            this.to = to;
            this.order = order;
        }

        @Override
        public void done() {
            done++;
        }

        @Override
        public void failed(String why) {
            failed++;
        }
    }

    /// A receive that was posted.
    static final class Posted implements Incoming {
        final int at;
        final int order;
        final long wanted;
        final long mask;
        final @Nullable Integer from;
        final byte[] memory;

        @Nullable
        Sent message;

        long length;
        int done;
        int failed;

        Posted(int at, int order, long wanted, long mask, @Nullable Integer from, int bytes) {
            this.at = at;
            this.order = order;
            this.wanted = wanted;
            this.mask = mask;
            this.from = from;
            this.memory = new byte[bytes];
        }

        boolean takes(Sent message) {
            return message.to == at && (from == null || from == message.from) && ((message.tag ^ wanted) & mask) == 0;
        }

        @Override
        public MemorySegment memory() {
            return MemorySegment.ofArray(memory);
        }

        @Override
        public void done(PeerOwner peer, long tag, long itsLength) {
            done++;
            length = itsLength;
        }

        @Override
        public void failed(String why) {
            failed++;
        }
    }

    /// One direction between two workers.
    private final class Link implements PeerOwner {
        final int from;
        final int to;
        final Peer peer;
        final ArrayDeque<byte[]> frames = new ArrayDeque<>();
        final ArrayDeque<Peer.Read> reads = new ArrayDeque<>();
        final Map<Long, MemorySegment> exposed = new HashMap<>();

        /// Frames of active messages that are being handled.
        int handling;

        int lastShort = -1;
        /// Bytes for what came unasked; the longest message fits.
        private long room = 200;

        Link(int from, int to) {
            this.from = from;
            this.to = to;
            this.peer = new Peer(this, matchings.get(from), limits);
        }

        @Override
        public Optional<Incoming> incoming(Kind kind, long tag, long length) {
            return Optional.empty();
        }

        @Override
        public boolean active(int handler, MemorySegment frame, int at, int headerBytes, long bytes) {
            byte[] data = frame.asSlice(at + headerBytes, bytes).toArray(JAVA_BYTE);
            handled(handler, frame.asSlice(at, headerBytes).toArray(JAVA_BYTE), data);
            handling++;
            return true;
        }

        @Override
        public Optional<Incoming> active(int handler, byte[] header, long length) {
            byte[] data = new byte[(int) length];
            return Optional.of(new Incoming() {
                @Override
                public MemorySegment memory() {
                    room -= length;
                    return MemorySegment.ofArray(data);
                }

                @Override
                public void done(PeerOwner peer, long tag, long bytes) {
                    handled(handler, header, data);
                    room += length;
                }

                @Override
                public void failed(String why) {}
            });
        }

        /// The header has the number of the message, and the data all of it.
        private void handled(int handler, byte[] header, byte[] data) {
            Active message = active.get(MemorySegment.ofArray(header).get(JAVA_INT_UNALIGNED, 0));
            assertThat(message.from).isEqualTo(to);
            assertThat(message.to).isEqualTo(from);
            assertThat(handler).isEqualTo(message.order % 7);
            assertThat(MemorySegment.ofArray(data).mismatch(message.data)).isEqualTo(-1);
            message.handled++;
            if (message.header.length + data.length <= FRAME_BYTES - Frame.HEADER_BYTES) {
                assertThat(message.order).as("order of short ones").isGreaterThan(lastShort);
                lastShort = message.order;
            }
        }

        @Override
        public boolean admits(long length) {
            return room >= length;
        }

        @Override
        public List<RemoteMemory> expose(int offer, MemorySegment data, boolean mayChange) {
            exposed.put((long) offer, data);
            return List.of(new RemoteMemory(offer, 7, data.byteSize()));
        }

        @Override
        public void withdraw(int offer, boolean isRead) {
            assertThat(exposed.remove((long) offer)).isNotNull();
        }
    }

    static final int FRAME_BYTES = 64;
    private static final int MESSAGE_BYTES_MIN = 16;

    private final RandomGenerator random;
    private final int workers;
    private final PeerLimits limits;
    private final List<Matching> matchings = new ArrayList<>();
    private final Link[][] links;
    private final boolean[] isDead;
    final List<Sent> sent = new ArrayList<>();
    final List<Active> active = new ArrayList<>();
    final List<Posted> posted = new ArrayList<>();

    World(RandomGenerator random, int workers, int window) {
        this(random, workers, new PeerLimits(FRAME_BYTES, window, 1 << 20, 1 << 16, 1 << 16, 1));
    }

    World(RandomGenerator random, int workers, PeerLimits limits) {
        this.random = random;
        this.workers = workers;
        this.limits = limits;
        this.isDead = new boolean[workers];
        this.links = new Link[workers][workers];
        for (int i = 0; i < workers; i++) {
            matchings.add(new Matching(1 << 20));
        }
        for (int i = 0; i < workers; i++) {
            for (int k = 0; k < workers; k++) {
                links[i][k] = new Link(i, k);
            }
        }
    }

    void send(int from, int to, long tag, int bytes) {
        byte[] data = new byte[Math.max(MESSAGE_BYTES_MIN, bytes)];
        for (int i = 8; i < data.length; i++) {
            data[i] = (byte) (sent.size() * 31 + i);
        }
        MemorySegment.ofArray(data).set(JAVA_LONG_UNALIGNED, 0, sent.size());
        var message = new Sent(from, to, sent.size(), tag, data);
        sent.add(message);
        links[from][to].peer.send(message);
    }

    void postActive(int from, int to, int headerBytes, int bytes) {
        byte[] header = new byte[Math.max(Integer.BYTES, headerBytes)];
        MemorySegment.ofArray(header).set(JAVA_INT_UNALIGNED, 0, active.size());
        byte[] data = new byte[bytes];
        java.util.Arrays.fill(data, (byte) active.size());
        var message = new Active(from, to, active.size(), header, data);
        active.add(message);
        links[from][to].peer.send(message);
    }

    Posted receive(int at, long tag, long mask, @Nullable Integer from, int bytes) {
        var receive = new Posted(at, posted.size(), tag, mask, from, Math.max(MESSAGE_BYTES_MIN, bytes));
        posted.add(receive);
        matchings.get(at).receive(tag, mask, from == null ? null : links[at][from].peer, receive);
        return receive;
    }

    /// The peers of a worker find it gone: what was on its way to or from it is lost.
    void kill(int worker) {
        isDead[worker] = true;
        for (int i = 0; i < workers; i++) {
            for (Link each : List.of(links[i][worker], links[worker][i])) {
                each.frames.clear();
                each.peer.lose("killed", List.copyOf(each.reads));
                each.reads.clear();
            }
        }
    }

    /// One random thing that a network or a device does; false when nothing is left to do.
    boolean step() {
        var ready = new ArrayList<Runnable>();
        for (Link[] row : links) {
            for (Link link : row) {
                Link back = links[link.to][link.from];
                byte[] frame = new byte[FRAME_BYTES];
                if (link.frames.size() < limits.window()) { // a frame has a receive of the other end for certain
                    int bytes = link.peer.poll(MemorySegment.ofArray(frame));
                    if (bytes > 0) {
                        link.frames.add(java.util.Arrays.copyOf(frame, bytes));
                    }
                } else {
                    assertThat(link.peer.poll(MemorySegment.ofArray(frame)))
                            .as("a frame more than there are receives")
                            .isZero();
                }
                for (Peer.Read next = link.peer.pollRead(); next != null; next = link.peer.pollRead()) {
                    link.reads.add(next);
                }
                if (!link.frames.isEmpty()) {
                    ready.add(() -> assertThat(back.peer.onFrame(
                                    MemorySegment.ofArray(link.frames.element()), link.frames.remove().length))
                            .isNull());
                }
                if (link.handling > 0) {
                    ready.add(() -> {
                        link.handling--;
                        link.peer.handled();
                    });
                }
                if (!link.reads.isEmpty()) {
                    ready.add(() -> {
                        Peer.Read read = link.reads.remove();
                        MemorySegment from =
                                back.exposed.get(read.at().getFirst().address());
                        assertThat(from).as("exposed memory").isNotNull();
                        MemorySegment.copy(from, 0, read.into(), 0, read.into().byteSize());
                        link.peer.onRead(read);
                    });
                }
            }
        }
        if (ready.isEmpty()) {
            return false;
        }
        ready.get(random.nextInt(ready.size())).run();
        return true;
    }

    /// What holds in every world: at any time what can be told once was told once.
    void check() {
        var taken = new HashMap<Integer, Posted>();
        for (Posted receive : posted) {
            assertThat(receive.done + receive.failed).isLessThanOrEqualTo(1);
            if (receive.done == 0) {
                continue;
            }
            MemorySegment memory = MemorySegment.ofArray(receive.memory);
            Sent message = sent.get((int) memory.get(JAVA_LONG_UNALIGNED, 0));
            receive.message = message;
            assertThat(taken.put(message.order, receive)).as("received twice").isNull();
            assertThat(receive.takes(message)).as("matches").isTrue();
            assertThat(receive.length).isEqualTo(message.data.byteSize());
            long bytes = Math.min(receive.memory.length, receive.length);
            assertThat(memory.asSlice(0, bytes).mismatch(message.data.asSlice(0, bytes)))
                    .as("bytes")
                    .isEqualTo(-1);
        }
        for (Sent message : sent) {
            assertThat(message.done + message.failed).isLessThanOrEqualTo(1);
        }
        for (Posted one : posted) {
            for (Posted other : posted) {
                Sent first = one.message;
                Sent second = other.message;
                if (first == null || second == null || first.from != second.from || first.order >= second.order) {
                    continue;
                }
                if (one.takes(second) && other.takes(first)) {
                    assertThat(one.order).as("order of one sender").isLessThan(other.order);
                }
            }
        }
    }

    /// What holds when nothing is left to do: what can be received is, and what can be sent is.
    void checkQuiet() {
        check();
        var left = new ArrayList<Sent>();
        for (Active message : active) {
            boolean isLost = isDead[message.from] || isDead[message.to];
            assertThat(message.handled).as("handled").isLessThanOrEqualTo(1);
            assertThat(message.done + message.failed).as("told").isEqualTo(1);
            assertThat(isLost || message.handled == 1).isTrue();
        }
        for (Sent message : sent) {
            boolean isReceived = posted.stream().anyMatch(each -> each.message == message);
            boolean isLost = isDead[message.from] || isDead[message.to];
            if (!isReceived && !isLost) {
                left.add(message);
            }
            if (isReceived && !isLost) {
                assertThat(message.done).as("sent").isEqualTo(1);
            }
            if (isLost) {
                assertThat(message.done + message.failed).as("told").isEqualTo(1);
            }
        }
        for (Posted receive : posted) {
            if (receive.done + receive.failed == 0) {
                assertThat(left)
                        .as("a receive waits though a message does")
                        .noneMatch(message -> receive.takes(message) && heldBack(message.from, message.to) == 0);
                assertThat(receive.from == null || !(isDead[receive.from] || isDead[receive.at]))
                        .as("a receive from a lost peer waits")
                        .isTrue();
            }
        }
    }

    /// Messages that wait for offers to be taken, of one worker to another.
    private int heldBack(int from, int to) {
        return links[from][to].peer.heldBack();
    }

    /// The most that one worker keeps of another.
    long keptMost() {
        long most = 0;
        for (Link[] row : links) {
            for (Link link : row) {
                most = Math.max(most, link.peer.keptBytes());
            }
        }
        return most;
    }

    int unexpected(int worker) {
        return matchings.get(worker).unexpectedCount();
    }
}

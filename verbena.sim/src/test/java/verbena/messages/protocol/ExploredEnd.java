package verbena.messages.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import verbena.sim.explore.Step;
import verbena.verbs.RemoteMemory;

/// One end of messages in a world that is explored: what a worker has of a peer, without its device. Frames lie on
/// the way in order; READs are under way until a step ends them.
class ExploredEnd implements PeerOwner {
    static final int FRAME_BYTES = 64;

    final String name;
    final Matching matching = new Matching(1 << 20);
    final Peer peer;
    final int window;
    final ArrayDeque<byte[]> frames = new ArrayDeque<>();
    final ArrayDeque<Peer.Read> reads = new ArrayDeque<>();
    final SequencedMap<Long, byte[]> exposed = new LinkedHashMap<>();
    /// Whether the memory of a request is not copied, as was so once.
    boolean exposesWhatMayChange;

    boolean isDead;

    @Nullable
    String wrong;

    ExploredEnd(String name, PeerLimits limits) {
        this.name = name;
        this.window = limits.window();
        this.peer = new Peer(this, matching, limits);
    }

    /// What this end and its device may do next.
    void addSteps(List<Step> steps, ExploredEnd other) {
        if (isDead) {
            return;
        }
        steps.add(Step.usual(() -> name + " sends a frame", this::send));
        if (!other.frames.isEmpty()) {
            steps.add(Step.usual(() -> name + " takes a frame", () -> receive(other)));
        }
        steps.add(Step.usual(() -> name + " begins a READ", this::beginRead));
        if (!reads.isEmpty()) {
            steps.add(Step.usual(() -> name + " has read", () -> endRead(other)));
        }
    }

    private void send() {
        byte[] frame = new byte[FRAME_BYTES];
        int bytes = peer.poll(MemorySegment.ofArray(frame));
        if (bytes > 0) {
            leaves(Arrays.copyOf(frame, bytes));
        }
    }

    /// A frame leaves.
    void leaves(byte[] frame) {
        frames.add(frame);
    }

    private void receive(ExploredEnd from) {
        byte[] frame = from.frames.remove();
        String said = peer.onFrame(MemorySegment.ofArray(frame), frame.length);
        wrong = wrong == null ? said : wrong;
    }

    private void beginRead() {
        Peer.Read next = peer.pollRead();
        if (next != null) {
            reads.add(next);
            begins(next);
        }
    }

    /// The device begins to read.
    void begins(Peer.Read read) {}

    /// What the device of the other end reads; null when it finds nothing there.
    byte @Nullable [] read(long offer) {
        return exposed.get(offer);
    }

    private void endRead(ExploredEnd other) {
        Peer.Read read = reads.remove();
        byte[] from = other.read(read.at().getFirst().address());
        if (from == null) {
            wrong = "memory was read that is not exposed any more";
        } else {
            read.into()
                    .copyFrom(MemorySegment.ofArray(from).asSlice(0, read.into().byteSize()));
        }
        peer.onRead(read);
    }

    /// The connection has ended.
    void lose() {
        isDead = true;
        peer.lose("it has ended", List.copyOf(reads));
        reads.clear();
        frames.clear();
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
        boolean isCopied = mayChange && !exposesWhatMayChange;
        exposed.put(
                (long) offer,
                isCopied ? data.toArray(JAVA_BYTE) : (byte[]) data.heapBase().orElseThrow());
        return List.of(new RemoteMemory(offer, 7, data.byteSize()));
    }

    @Override
    public void withdraw(int offer, boolean isRead) {
        exposed.remove((long) offer);
    }
}

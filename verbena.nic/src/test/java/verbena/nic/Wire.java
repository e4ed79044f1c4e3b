package verbena.nic;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import verbena.nic.link.Link;
import verbena.nic.link.PacketPairs;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.Frame;

/// One end of a wire in memory, whose sleep moves a virtual clock.
final class Wire implements Link, PacketPairs {
    /// A clock that moves only by tests and by sleeps.
    static final class Clock {
        long nanos = 1_000_000_000;

        long nanos() {
            return nanos;
        }
    }

    private final GidEntry gid;
    private final Clock clock;
    private final ArrayDeque<Frame> arriving = new ArrayDeque<>();
    private Wire peer = this;
    private boolean woken;

    /// Which of the frames sent from here are lost.
    Predicate<Frame> loses = _ -> false;
    /// Whether successive packets arrive together.
    boolean keepsTogether;
    /// How many frames the wire takes at once.
    int room = Integer.MAX_VALUE;
    /// How many frames one receive brings at most.
    int brings = Integer.MAX_VALUE;
    /// Thrown by the next receive, if not null.
    RuntimeException broken;

    /// The multicast groups of which it is a member.
    final Set<Gid> groups = new HashSet<>();

    boolean closed;
    int mtuBytes = Frame.PACKET_MAX;

    Wire(String address, Clock clock) {
        this.gid = new GidEntry(0, Gid.parse(address), GidType.ROCE_V2, "wire0", 1);
        this.clock = clock;
    }

    void connect(Wire other) {
        peer = other;
        other.peer = this;
    }

    /// Lets a packet arrive here.
    void deliver(Frame frame) {
        Frame copy = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES))[0];
        copy.copyFrom(frame);
        arriving.add(copy);
    }

    @Override
    public List<GidEntry> gids() {
        return List.of(gid);
    }

    @Override
    public int packetMax() {
        return mtuBytes;
    }

    @Override
    public int receive(Frame[] frames, int from, int count) {
        if (broken != null) {
            throw broken;
        }
        int n = 0;
        while (n < Math.min(count, brings) && !arriving.isEmpty()) {
            frames[from + n++].copyFrom(arriving.poll());
        }
        return n;
    }

    @Override
    public boolean mayHaveMore() {
        return !arriving.isEmpty();
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        int n = Math.min(count, room);
        for (int i = 0; i < n; i++) {
            Frame frame = frames[from + i];
            frame.icrcValid = true;
            if (!loses.test(frame)) {
                peer.deliver(frame);
            }
        }
        return n;
    }

    @Override
    public boolean keepsTogether(Frame first, Frame next) {
        return keepsTogether;
    }

    @Override
    public void join(Gid group) {
        groups.add(group);
    }

    @Override
    public void leave(Gid group) {
        groups.remove(group);
    }

    /// Lets time pass.
    @Override
    public void await(long timeoutNanos) {
        if (!woken && arriving.isEmpty() && timeoutNanos > 0) {
            clock.nanos += timeoutNanos;
        }
        woken = false;
    }

    @Override
    public void wakeup() {
        woken = true;
    }

    @Override
    public long malformed() {
        return 0;
    }

    @Override
    public long unsendable() {
        return 0;
    }

    @Override
    public void close() {
        closed = true;
    }
}

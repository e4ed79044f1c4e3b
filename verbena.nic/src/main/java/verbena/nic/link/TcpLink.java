package verbena.nic.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;

/// TCP streams, many of them, moved by whoever drives the engine: none of them has a thread, and nothing blocks
/// but [#await(long)].
///
/// A stream belongs to a [StreamHandler], which is told what happens by [#move(long)]. What is read goes
/// through buffers that all streams share, a stream has one only while it holds something back.
public abstract sealed class TcpLink implements Carrier permits LinuxTcpLink, ChannelTcpLink {
    /// What is read, or written, at once.
    static final int BUFFER_BYTES = 256 << 10;
    /// What may be kept back of what has arrived: the longest FPDU, and its marks (RFC 5044).
    public static final int KEPT_BYTES_MAX = 66 << 10;
    /// When there is less room behind what is kept, it is moved to the front.
    static final int ROOM_BYTES_MIN = BUFFER_BYTES - KEPT_BYTES_MAX - (64 << 10);
    /// What is kept outside of a buffer.
    static final int LITTLE_BYTES = 4 << 10;
    /// Pieces of memory that are written at once (IOV_MAX of Linux is 1,024).
    static final int PIECES_MAX = 256;
    /// What can be written at once, because so much can be kept.
    public static final int BURST_BYTES_MAX = BUFFER_BYTES;
    /// Unanswered for so long, a stream breaks (TCP_USER_TIMEOUT, RFC 5482): iWARP has no timers of its own that
    /// would notice a dead peer.
    static final int UNANSWERED_MILLIS_MAX = 10_000;

    /// How often an idle peer is asked whether it lives before it counts as dead.
    static final int KEEP_ALIVE_PROBES = 3;

    final Arena arena = Arena.ofShared();
    final WakeSignal signal = new WakeSignal();
    private final List<GidEntry> gids;
    /// Where what is written is put together, but for what lies in regions.
    final StreamBuffer own = new StreamBuffer(arena.allocate(BUFFER_BYTES, 64));

    private final StreamOutput output = new StreamOutput(own, PIECES_MAX);
    private final ArrayDeque<StreamBuffer> free = new ArrayDeque<>();
    private final ArrayDeque<MemorySegment> freeLittle = new ArrayDeque<>();
    private final List<Attached> taps = new ArrayList<>();
    private Consumer<Throwable> containedTo = _ -> {};
    // Written by who moves, read by anybody.
    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong connected = new AtomicLong();
    private final AtomicLong broken = new AtomicLong();
    private final AtomicLong open = new AtomicLong();

    TcpLink(List<GidEntry> addresses) {
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("addresses: at least one");
        }
        gids = List.copyOf(addresses);
    }

    /// Opens one: the Linux link where it works, else the portable one, or that of a kind.
    ///
    /// @throws LinkException when the kind asked for does not work here
    public static TcpLink open(List<GidEntry> addresses, UdpLinks.Kind kind) {
        String why = UdpLinks.whyPortable();
        return switch (kind) {
            case PORTABLE -> new ChannelTcpLink(addresses);
            case AUTO -> why == null ? new LinuxTcpLink(addresses) : new ChannelTcpLink(addresses);
            case LINUX -> {
                if (why != null) {
                    throw new LinkException(LinkException.Kind.UNSUPPORTED, "link=linux: " + why);
                }
                yield new LinuxTcpLink(addresses);
            }
        };
    }

    // ---- failures

    /// Who is told when our own code fails at what happens on one stream, which then ends alone. Set before the link is
    /// used.
    public final void onContained(Consumer<Throwable> to) {
        containedTo = to;
    }

    final void contained(Throwable cause) {
        containedTo.accept(cause);
    }

    // ---- taps

    private record Attached(Tap tap, LongSupplier clock) {}

    /// Shows `tap` all streams from now on. Called like [#move].
    ///
    /// @param clock nanoseconds, monotonic
    public final void tap(Tap tap, LongSupplier clock) {
        taps.add(new Attached(tap, clock));
        for (TcpSocket socket : sockets()) {
            lead(socket);
            if (socket.isConnected()) {
                tap.onStreamOpened(socket, clock.getAsLong());
            }
        }
    }

    /// Shows it nothing any more. Called like [#move].
    public final void untap(Tap tap) {
        taps.removeIf(attached -> attached.tap == tap);
        sockets().forEach(this::lead);
    }

    /// Leads a stream's bytes past all taps.
    private ByteStream lead(TcpSocket socket) {
        ByteStream stream = socket;
        for (Attached attached : taps) {
            stream = new TapStream(socket, stream, attached.tap, attached.clock);
        }
        socket.through(stream);
        return stream;
    }

    /// Those that are open, or about to be.
    abstract List<? extends TcpSocket> sockets();

    // ---- streams

    /// Takes a port.
    ///
    /// @param port 0 for any that is free
    /// @throws LinkException when it cannot be had
    public abstract TcpPort bind(Gid local, int port);

    /// Opens a stream; [StreamHandler#onConnected(long)] or [StreamHandler#onBroken] follows.
    ///
    /// @param from the port to open it from, which then is its own; null for any
    /// @throws LinkException when this host cannot even try
    public abstract TcpSocket connect(@Nullable TcpPort from, Gid local, Gid remote, int port, StreamHandler handler);

    /// What is to be written is gathered here, empty to begin with.
    public final StreamOutput output() {
        output.clear();
        return output;
    }

    abstract void forget(TcpSocket socket);

    final StreamBuffer take() {
        StreamBuffer last = free.pollLast(); // the last one is warm in the cache
        return last != null ? last : new StreamBuffer(arena.allocate(BUFFER_BYTES, 64));
    }

    final void giveBack(StreamBuffer buffer) {
        free.addLast(buffer);
    }

    final MemorySegment takeLittle() {
        MemorySegment last = freeLittle.pollLast();
        return last != null ? last : arena.allocate(LITTLE_BYTES, 64);
    }

    final void giveBack(MemorySegment little) {
        freeLittle.addLast(little);
    }

    /// A stream that a peer has opened.
    final void onAccepted(TcpSocket socket) {
        accepted.lazySet(accepted.get() + 1);
        open.lazySet(open.get() + 1);
        lead(socket).onOpened();
    }

    /// One that this side opens.
    final void onConnecting(TcpSocket socket) {
        connected.lazySet(connected.get() + 1);
        open.lazySet(open.get() + 1);
        lead(socket);
    }

    final void countClosed(boolean reset) {
        open.lazySet(open.get() - 1);
        broken.lazySet(broken.get() + (reset ? 1 : 0));
    }

    @Override
    public Map<String, Long> counters() {
        var counters = new TreeMap<String, Long>();
        counters.put("tcp.accepted", accepted.get());
        counters.put("tcp.connects", connected.get());
        counters.put("tcp.open", open.get());
        counters.put("tcp.resets", broken.get());
        return counters;
    }

    @Override
    public abstract int move(long nowNanos);

    // ---- addresses

    @Override
    public final List<GidEntry> gids() {
        return gids;
    }

    @Override
    public final List<GidEntry> liveGids() {
        return UdpLink.live(gids);
    }
}

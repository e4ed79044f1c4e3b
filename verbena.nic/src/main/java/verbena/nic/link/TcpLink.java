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

/// TCP streams, many of them, moved by the thread that drives the engine: no stream has a thread, and nothing blocks
/// but [#await(long)].
///
/// A stream belongs to a [StreamHandler], which is told what happens by [#move(long)]. What is read goes through
/// buffers that all streams share; a stream has one only while it holds something back.
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
    /// Connections that the system holds for a port before they are accepted.
    static final int LISTEN_BACKLOG = 1_024;
    /// Unanswered for so long, a stream breaks (TCP_USER_TIMEOUT, RFC 5482): iWARP has no timers of its own that
    /// would notice a dead peer.
    static final int UNANSWERED_MILLIS_MAX = 10_000;

    /// How often an idle peer is asked whether it lives before it counts as dead.
    static final int KEEP_ALIVE_PROBES = 3;

    final Arena arena = Arena.ofShared();
    private final Occupancy occupancy = new Occupancy();
    private final WakeSignal signal = new WakeSignal();
    private final List<GidEntry> gids;
    /// Where what is written is put together, but for what lies in regions.
    final StreamBuffer own = new StreamBuffer(arena.allocate(BUFFER_BYTES, 64));

    private final StreamOutput output = new StreamOutput(own, PIECES_MAX);
    private final ArrayDeque<StreamBuffer> free = new ArrayDeque<>();
    private final ArrayDeque<MemorySegment> freeLittle = new ArrayDeque<>();
    /// Streams that could not even begin: the next piece of work tells their handlers.
    private final ArrayDeque<TcpSocket> stillborn = new ArrayDeque<>();
    private final List<Attached> taps = new ArrayList<>();
    private Consumer<Throwable> containedTo = _ -> {};
    // Written by the thread that moves, read by any.
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

    /// Is told when our own code fails at what happens on one stream, which then ends alone. Set before the link is
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
    private List<TcpSocket> sockets() {
        var all = new ArrayList<>(stillborn);
        all.addAll(watchedSockets());
        return all;
    }

    /// A copy of those that the system is asked about, but for the stillborn.
    abstract List<? extends TcpSocket> watchedSockets();

    /// A copy of the ports that are listened at.
    abstract List<? extends TcpPort> listeningPorts();

    // ---- moving

    @Override
    public final int move(long nowNanos) {
        if (occupancy.isClosed()) {
            return 0;
        }
        int done = 0;
        for (TcpSocket socket = stillborn.poll(); socket != null; socket = stillborn.poll()) {
            try {
                socket.breakUp(nowNanos);
            } catch (RuntimeException | Error e) {
                socket.contain(e, nowNanos);
            }
            done++;
        }
        return done + moveWatched(nowNanos);
    }

    /// Does what there is to do at sockets and ports; returns how much that was.
    abstract int moveWatched(long now);

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

    /// It is closed.
    final void forget(TcpSocket socket) {
        stillborn.remove(socket);
    }

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

    /// A stream that this side opens.
    ///
    /// @param hasFailed whether it broke at once
    final void onConnecting(TcpSocket socket, boolean hasFailed) {
        if (hasFailed) {
            stillborn.add(socket);
            wakeup();
        }
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

    // ---- sleeping

    @Override
    public final void await(long timeoutNanos) {
        try (Occupancy.Stay stay = occupancy.sleep()) {
            if (stay == null || !signal.sleep()) {
                return;
            }
            try {
                if (timeoutNanos != 0) {
                    sleep(timeoutNanos);
                }
            } finally {
                signal.awake();
            }
        }
    }

    /// Sleeps until there is something to do, [#ring()] was called, or the time has passed (negative: no limit).
    abstract void sleep(long timeoutNanos);

    /// Ends the current or the next sleep. Any thread.
    abstract void ring();

    @Override
    public final void wakeup() {
        if (signal.raise()) {
            ring();
        }
    }

    // ---- the end

    /// As [Link#close()]; streams that are open are reset.
    @Override
    public final void close() {
        if (!occupancy.close(this::ring)) {
            return;
        }
        sockets().forEach(TcpSocket::closeAtLast);
        listeningPorts().forEach(TcpPort::close);
        assert stillborn.isEmpty()
                && watchedSockets().isEmpty()
                && listeningPorts().isEmpty();
        release();
        arena.close();
    }

    /// Gives back what the system has given, but for sockets and ports, which are closed. No thread sleeps.
    abstract void release();

    // ---- addresses

    @Override
    public final List<GidEntry> gids() {
        return gids;
    }

    @Override
    public final List<GidEntry> liveGids() {
        return UdpLink.live(gids);
    }

    /// Index of the interface that has an address of this link; 0 when none has.
    final int interfaceOf(Gid local) {
        for (GidEntry entry : gids) {
            if (entry.gid().equals(local)) {
                return entry.interfaceIndex();
            }
        }
        return 0;
    }
}

package verbena.nic.link.tcp;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Carrier;
import verbena.nic.link.Interfaces;
import verbena.nic.link.LinkException;
import verbena.nic.link.Occupancy;
import verbena.nic.link.WakeSignal;
import verbena.nic.link.tap.Tap;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;

/// TCP streams, moved by the thread that drives the engine: no stream has a thread, and only [#await(long)] blocks.
///
/// A stream belongs to a [StreamHandler], which [#move(long)] calls when something happens. Bytes are read into
/// buffers that all streams share; a stream has a buffer only while it keeps bytes back.
public abstract class TcpLink implements Carrier {
    /// The most pieces of memory that are written at once (IOV_MAX of Linux is 1,024).
    static final int PIECES_MAX = 256;
    /// The most bytes that a handler may leave unconsumed.
    public static final int KEPT_BYTES_MAX = StreamBuffers.KEPT_BYTES_MAX;
    /// The most bytes that can be written at once, because that many can be kept.
    public static final int BURST_BYTES_MAX = StreamBuffers.BUFFER_BYTES;
    /// The number of connections that the system holds for a port before they are accepted.
    static final int LISTEN_BACKLOG = 1_024;
    /// A stream breaks when its data stay unacknowledged for this long (TCP_USER_TIMEOUT, RFC 5482). iWARP has no
    /// timers of its own that would notice a dead peer.
    static final int UNANSWERED_MILLIS_MAX = 10_000;

    /// The number of keep-alive probes that an idle peer may miss before it counts as dead.
    static final int KEEP_ALIVE_PROBES = 3;

    final Arena arena = Arena.ofShared();
    private final Occupancy occupancy = new Occupancy();
    private final WakeSignal signal = new WakeSignal();
    private final List<GidEntry> gids;
    private final StreamBuffers buffers = new StreamBuffers(arena);
    /// The buffer in which output is put together, except for bytes in memory regions.
    final StreamBuffer own = buffers.take();

    private final StreamOutput output = new StreamOutput(own, PIECES_MAX);
    /// The streams that could not even begin: the next piece of work reports that to their handlers.
    private final ArrayDeque<TcpSocket> stillborn = new ArrayDeque<>();
    private final List<Attached> taps = new ArrayList<>();
    private Consumer<Throwable> containedTo = _ -> {};

    private final TcpSocket.Host host = new TcpSocket.Host() {
        @Override
        public StreamBuffers buffers() {
            return buffers;
        }

        @Override
        public void onContained(Throwable cause) {
            containedTo.accept(cause);
        }

        @Override
        public void onClosed(TcpSocket socket) {
            stillborn.remove(socket);
        }
    };

    // Written by the thread that moves, read by any thread.
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

    // ---- failures

    /// Sets the listener that is called when our own code fails at an event of one stream, which then ends alone.
    /// Set before the link is used.
    public final void onContained(Consumer<Throwable> to) {
        containedTo = to;
    }

    // ---- taps

    private record Attached(Tap tap, LongSupplier clock) {}

    /// Shows all streams to `tap` from now on. Called like [#move].
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

    /// Stops showing streams to `tap`. Called like [#move].
    public final void untap(Tap tap) {
        taps.removeIf(attached -> attached.tap == tap);
        sockets().forEach(this::lead);
    }

    /// Leads a stream's bytes through all taps.
    private ByteStream lead(TcpSocket socket) {
        ByteStream stream = socket;
        for (Attached attached : taps) {
            stream = new TapStream(socket, stream, attached.tap, attached.clock);
        }
        socket.through(stream);
        return stream;
    }

    /// Returns the streams that are open, or about to be.
    private List<TcpSocket> sockets() {
        var all = new ArrayList<>(stillborn);
        all.addAll(watchedSockets());
        return all;
    }

    /// Returns a copy of the list of streams that the system watches, without the stillborn ones.
    abstract List<? extends TcpSocket> watchedSockets();

    /// Returns a copy of the list of ports with listeners.
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

    /// Does the work that there is at sockets and ports; returns how much.
    abstract int moveWatched(long now);

    // ---- streams

    /// Returns the part of this link that its streams need.
    final TcpSocket.Host host() {
        return host;
    }

    /// Binds a port.
    ///
    /// @param port 0 for any that is free
    /// @throws LinkException when the port cannot be had
    public abstract TcpPort bind(Gid local, int port);

    /// Opens a stream; [StreamHandler#onConnected(long)] or [StreamHandler#onBroken] follows.
    ///
    /// @param from the port to open it from, which the stream then owns; null for any
    /// @throws LinkException when this host cannot even try
    public abstract TcpSocket connect(@Nullable TcpPort from, Gid local, Gid remote, int port, StreamHandler handler);

    /// Returns the output in which the next write is gathered, empty at first.
    public final StreamOutput output() {
        output.clear();
        return output;
    }

    /// Adds a stream that a peer has opened.
    final void onAccepted(TcpSocket socket) {
        accepted.lazySet(accepted.get() + 1);
        open.lazySet(open.get() + 1);
        lead(socket).onOpened();
    }

    /// Adds a stream that this side opens.
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

    /// Sleeps until there is something to do, [#ring()] was called, or the time is over (negative: no limit).
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

    /// Implements [verbena.nic.link.Link#close()]; open streams are reset.
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

    /// Releases all system resources except sockets and ports, which are closed already. No thread sleeps.
    abstract void release();

    // ---- addresses

    @Override
    public final List<GidEntry> gids() {
        return gids;
    }

    @Override
    public final List<GidEntry> liveGids() {
        return Interfaces.live(gids);
    }

    /// Returns the index of the interface that has this address of the link; 0 when none has.
    final int interfaceOf(Gid local) {
        for (GidEntry entry : gids) {
            if (entry.gid().equals(local)) {
                return entry.interfaceIndex();
            }
        }
        return 0;
    }
}

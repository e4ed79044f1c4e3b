package verbena.nic.link.tcp;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.LinkException;
import verbena.nic.link.tap.TappedStream;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.transport.iwarp.StreamTarget;
import verbena.verbs.Gid;

/// A TCP stream. For the thread that may move its link, one at a time.
///
/// Bytes that the system does not take at once are copied and leave later ([StreamRest]). Bytes that arrive in
/// pieces are kept until the handler has all that it needs ([StreamInput]).
public abstract class TcpSocket extends ByteStream implements TappedStream {
    /// The part of its link that a stream needs.
    interface Host {
        StreamBuffers buffers();

        /// Called when our own code has failed at an event of one stream.
        void onContained(Throwable cause);

        /// Called when a stream has been closed.
        void onClosed(TcpSocket socket);
    }

    /// A payload of at least this length is read straight to its place, with little room behind it for the bytes
    /// that follow, because these are copied.
    private static final int DIRECT_BYTES_MIN = 16 << 10;

    private static final int BEHIND_DIRECT_BYTES = 4 << 10;
    /// The number of bytes that one stream may bring before the next has its turn.
    private static final int TURN_BYTES = 512 << 10;

    /// The number of times that a closing link asks the system to take the rest; with the pauses, this takes at
    /// most 0.5 s.
    private static final int LAST_ATTEMPTS = 500;

    private static final long LAST_PAUSE_NANOS = 1_000_000;

    private final Host host;
    private final Gid remote;
    private final int remotePort;
    private final StreamTarget target = new StreamTarget();
    private @Nullable StreamHandler handler;
    private boolean isConnected;
    private boolean isClosed;

    private final StreamInput input;
    private final StreamRest rest;
    private boolean endsWhenEmpty;
    private boolean hasEnded;
    private boolean isPaused;

    // The stream that moves the bytes.
    private ByteStream stream = this;

    TcpSocket(Host host, Gid remote, int remotePort, boolean isConnected) {
        this.host = host;
        this.remote = remote;
        this.remotePort = remotePort;
        this.isConnected = isConnected;
        input = new StreamInput(host.buffers());
        rest = new StreamRest(host.buffers());
    }

    @Override
    public final Gid remote() {
        return remote;
    }

    @Override
    public final int remotePort() {
        return remotePort;
    }

    public final boolean isClosed() {
        return isClosed;
    }

    final boolean isConnected() {
        return isConnected;
    }

    /// Sets the stream that moves the bytes from now on: the socket itself, or a wrapper.
    final void through(ByteStream around) {
        stream = around;
    }

    @Override
    final void onOpened() {}

    /// Sets the handler that is called from now on.
    public final void handler(StreamHandler to) {
        handler = to;
    }

    // ---- for each implementation

    /// Ends the stream with the error that the system reported.
    abstract void breakUp(long now);

    /// Sets which events are reported from now on: arrivals, room.
    abstract void watch(boolean arrivals, boolean room);

    /// Returns the bytes of a TCP segment that the connection can fill now (EMSS, RFC 5044, 4.1).
    public abstract int segmentBytes();

    /// Makes the system probe an idle peer after this many seconds without arrivals; 0 for never.
    public abstract void keepAlive(int seconds);

    // ---- writing

    /// Returns whether bytes of the last write have not left yet: the next [#write] has to wait for
    /// [StreamHandler#onWritable].
    public final boolean isFull() {
        return !rest.isEmpty();
    }

    /// Writes all that `output` has gathered, at most [TcpLink#BURST_BYTES_MAX]. Retains none of the memory that
    /// `output` names. Not while [#isFull()].
    public final void write(StreamOutput output, long now) {
        if (isClosed || output.total() == 0) {
            return;
        }
        try {
            long sent = stream.send(output);
            if (sent >= 0 && sent < output.total()) { // if the stream is broken, reading reports it
                rest.keep(output, sent);
                watch(!isPaused, true);
            }
        } catch (LinkException | IllegalStateException | InternalError e) {
            // The memory is gone: its arena was closed, or a mapped file was truncated.
            break_(StreamHandler.Cause.LOCAL, "the memory to send is gone: " + e.getMessage(), now);
        }
    }

    /// Writes a copy of a few bytes, at most [StreamBuffers#LITTLE_BYTES]. Not while [#isFull()].
    public final void write(MemorySegment bytes) {
        if (isClosed) {
            return;
        }
        StreamBuffer copy = host.buffers().take();
        MemorySegment.copy(bytes, 0, copy.segment, 0, bytes.byteSize());
        int to = (int) bytes.byteSize();
        long sent = stream.send(copy, 0, to);
        if (sent < 0 || sent == to) {
            host.buffers().giveBack(copy);
            return;
        }
        rest.keep(copy, (int) sent, to);
        watch(!isPaused, true);
    }

    /// Ends the output: the written bytes leave, then the end of the stream.
    public final void end() {
        if (isClosed) {
            return;
        }
        if (isFull()) {
            endsWhenEmpty = true;
        } else {
            hasEnded = true;
            stream.endOutput();
        }
    }

    /// Returns whether everything was written and the end as well, so that closing takes nothing from the peer.
    final boolean isEnding() {
        return hasEnded || endsWhenEmpty;
    }

    /// Called when the system has room.
    final void onRoom(long now) {
        if (!rest.send(stream)) {
            return;
        }
        watch(!isPaused, false);
        if (endsWhenEmpty) {
            hasEnded = true;
            stream.endOutput();
        } else if (handler != null) {
            handler.onWritable(now);
        }
    }

    // ---- reading

    /// Called when bytes have arrived, or the end of the stream. Returns the number of bytes.
    final int onReadable(long now) {
        int got = 0;
        while (!isClosed && !isPaused && got < TURN_BYTES) {
            StreamHandler to = handler;
            StreamBuffer buffer = input.roomy();
            int end = input.end();
            int room = buffer.size() - end;
            if (to == null || room == 0) {
                break_(StreamHandler.Cause.RESET, "the peer has sent more than it may before it is answered", now);
                return got;
            }
            long n;
            if (input.isEmpty() && to.direct(target)) {
                int behind = target.bytes >= DIRECT_BYTES_MIN ? Math.min(room, BEHIND_DIRECT_BYTES) : room;
                n = stream.read(target, buffer, end, end + behind);
                room = behind + target.bytes;
                if (n < 0) { // nothing has come, or the memory is not there: then the handler is to find out
                    target.segment = MemorySegment.NULL;
                    room = buffer.size() - end;
                    n = stream.read(buffer, end, end + room);
                    input.add((int) Math.max(0, n));
                } else if (n > 0) {
                    int direct = (int) Math.min(n, target.bytes);
                    target.segment = MemorySegment.NULL;
                    to.onDirect(direct, now);
                    if (!isClosed) {
                        input.add((int) n - direct);
                    }
                }
            } else {
                n = stream.read(buffer, end, end + room);
                input.add((int) Math.max(0, n));
            }
            if (n > 0) {
                got += (int) n;
                deliver(now);
            }
            if (n == 0 && !isPaused) {
                close(false);
                to.onEnd(now);
            } else if (n < room) {
                break; // everything was read
            }
        }
        input.settle();
        return got;
    }

    /// Stops reading until it is resumed: the system keeps what the peer sends, and when the system is full, the
    /// peer has to wait.
    public final void pause(boolean isWanted) {
        if (isPaused != isWanted) {
            isPaused = isWanted;
            if (!isClosed) {
                watch(!isPaused, isFull());
            }
        }
    }

    /// Hands the kept bytes to the handler again.
    public final void again(long now) {
        if (!isClosed && !input.isEmpty()) {
            input.roomy();
            deliver(now);
            input.settle();
        }
    }

    private void deliver(long now) {
        StreamHandler to = handler;
        if (to != null) {
            input.deliver(to, now);
        }
    }

    // ---- the end

    /// Called when the requested connection is established.
    final void onConnected(long now) {
        if (isToItself()) {
            breakUp(true, null, now);
            return;
        }
        isConnected = true;
        stream.onOpened();
        StreamHandler to = handler;
        if (to != null) {
            to.onConnected(now);
        }
    }

    /// Returns whether the stream leads to itself. Where no program listens at a port, the system may open the
    /// stream from that very port. Then both ends open it at once (RFC 9293, 3.5), and it leads to itself.
    private boolean isToItself() {
        InetSocketAddress own = localAddress();
        return own.getPort() == remotePort && remote.equals(Gid.of(own.getAddress()));
    }

    /// Called when the system has given the stream up.
    ///
    /// @param isRefused whether the connection was refused, because no program listens at the port
    /// @param detail the system's words, to follow the name of the peer; null when the peer has broken the
    ///     connection off
    final void breakUp(boolean isRefused, @Nullable String detail, long now) {
        String peer = remote + " port " + remotePort;
        if (isRefused) {
            break_(StreamHandler.Cause.REFUSED, "no program listens at " + peer, now);
        } else if (detail == null) {
            break_(StreamHandler.Cause.RESET, peer + " has broken off the TCP connection", now);
        } else {
            var cause = isConnected ? StreamHandler.Cause.RESET : StreamHandler.Cause.UNREACHABLE;
            break_(cause, peer + detail, now);
        }
    }

    final void break_(StreamHandler.Cause cause, String why, long now) {
        if (isClosed) {
            return;
        }
        StreamHandler to = handler;
        close(true);
        if (to != null) {
            to.onBroken(cause, why, now);
        }
    }

    /// Ends this socket alone, because our own code has failed at one of its events.
    final void contain(Throwable cause, long now) {
        host.onContained(cause);
        try {
            break_(StreamHandler.Cause.LOCAL, "internal error, please report it: " + cause, now);
        } catch (RuntimeException | Error e) {
            host.onContained(e);
        }
    }

    /// Closes the socket when its link closes. A stream that was ended in order still reaches the peer: the system
    /// sees to it once it has all bytes. Any other stream is broken off.
    final void closeAtLast() {
        for (int i = 0; i < LAST_ATTEMPTS && isFull() && endsWhenEmpty && !isClosed; i++) {
            onRoom(0);
            LockSupport.parkNanos(LAST_PAUSE_NANOS);
        }
        close(!hasEnded);
    }

    /// Closes at once; the handler is not called any more. Idempotent.
    ///
    /// @param reset whether the peer is to see that the stream was broken off
    public final void close(boolean reset) {
        if (isClosed) {
            return;
        }
        isClosed = true;
        stream.release(reset);
        host.onClosed(this);
        input.release();
        rest.release();
    }
}

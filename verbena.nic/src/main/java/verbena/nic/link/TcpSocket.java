package verbena.nic.link;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import verbena.transport.iwarp.StreamBuffer;
import verbena.transport.iwarp.StreamOutput;
import verbena.transport.iwarp.StreamTarget;
import verbena.verbs.Gid;

/// One TCP stream. For the thread that may move its link, one at a time.
///
/// What the system does not take at once is copied and leaves later ([StreamRest]). What arrives in pieces is kept
/// until the handler has all that it needs ([StreamInput]).
public abstract sealed class TcpSocket extends ByteStream permits LinuxTcpSocket, ChannelTcpSocket {
    /// A payload of at least this goes straight to its place, with little room behind it for what follows, because
    /// that is copied.
    private static final int DIRECT_BYTES_MIN = 16 << 10;

    private static final int BEHIND_DIRECT_BYTES = 4 << 10;
    /// Bytes that one stream may bring before the next has its turn.
    private static final int TURN_BYTES = 512 << 10;

    /// How often, and after which pauses, the system is asked to take the rest when the link closes: 0.5 s.
    private static final int LAST_ATTEMPTS = 500;

    private static final long LAST_PAUSE_NANOS = 1_000_000;

    private final TcpLink link;
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

    // What moves the bytes.
    private ByteStream stream = this;

    TcpSocket(TcpLink link, Gid remote, int remotePort, boolean isConnected) {
        this.link = link;
        this.remote = remote;
        this.remotePort = remotePort;
        this.isConnected = isConnected;
        input = new StreamInput(link);
        rest = new StreamRest(link);
    }

    public final Gid remote() {
        return remote;
    }

    public final int remotePort() {
        return remotePort;
    }

    public final boolean isClosed() {
        return isClosed;
    }

    final boolean isConnected() {
        return isConnected;
    }

    /// What its bytes pass through from now on: the socket itself, or what is around it.
    final void through(ByteStream around) {
        stream = around;
    }

    @Override
    final void onOpened() {}

    /// Tells this handler from now on.
    public final void handler(StreamHandler to) {
        handler = to;
    }

    // ---- what each implementation brings, beside the stream itself

    /// Ends the stream for the reason that the system gave.
    abstract void breakUp(long now);

    /// What is to be told from now on: arrivals, room.
    abstract void watch(boolean arrivals, boolean room);

    /// The address and port of this side, as long as it is not closed.
    ///
    /// @throws LinkException when the system does not tell
    public abstract InetSocketAddress localAddress();

    /// Bytes of a TCP segment that the connection may fill now (EMSS, RFC 5044, 4.1).
    public abstract int segmentBytes();

    /// Asks the peer whether it lives when nothing has come for so many seconds; 0: never.
    public abstract void keepAlive(int seconds);

    // ---- writing

    /// Whether what was written last has not left yet: [#write] has to wait for [StreamHandler#onWritable].
    public final boolean isFull() {
        return !rest.isEmpty();
    }

    /// Writes all that `output` has gathered, not more than [TcpLink#BURST_BYTES_MAX]. Remembers nothing of the
    /// memory that it names. Not while [#isFull()].
    public final void write(StreamOutput output, long now) {
        if (isClosed || output.total() == 0) {
            return;
        }
        try {
            long sent = stream.send(output);
            if (sent >= 0 && sent < output.total()) { // that a stream is broken, reading tells
                rest.keep(output, sent);
                watch(!isPaused, true);
            }
        } catch (LinkException | IllegalStateException | InternalError e) {
            // Memory that is not there any more: a closed arena, a mapped file that was cut short.
            break_(StreamHandler.Cause.LOCAL, "what was to be sent is gone: " + e.getMessage(), now);
        }
    }

    /// Writes a copy of little: not more than [TcpLink#LITTLE_BYTES]. Not while [#isFull()].
    public final void write(MemorySegment bytes) {
        if (isClosed) {
            return;
        }
        StreamBuffer copy = link.take();
        MemorySegment.copy(bytes, 0, copy.segment, 0, bytes.byteSize());
        int to = (int) bytes.byteSize();
        long sent = stream.send(copy, 0, to);
        if (sent < 0 || sent == to) {
            link.giveBack(copy);
            return;
        }
        rest.keep(copy, (int) sent, to);
        watch(!isPaused, true);
    }

    /// Nothing more is written: what was leaves, then the end of the stream.
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

    /// Whether everything has been said: closing it then takes nothing from the peer.
    final boolean isEnding() {
        return hasEnded || endsWhenEmpty;
    }

    /// The system has room.
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

    /// Something has arrived, perhaps the end. Returns the number of bytes.
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
                if (n > 0) {
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
                break; // that was all
            }
        }
        input.settle();
        return got;
    }

    /// Reads no more until it is to go on: what the peer sends stays with the system, and when that is full with
    /// the peer.
    public final void pause(boolean isWanted) {
        if (isPaused != isWanted) {
            isPaused = isWanted;
            if (!isClosed) {
                watch(!isPaused, isFull());
            }
        }
    }

    final boolean isPaused() {
        return isPaused;
    }

    /// Presents again what was kept.
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

    /// The connection that was asked for is there.
    final void onConnected(long now) {
        isConnected = true;
        stream.onOpened();
        StreamHandler to = handler;
        if (to != null) {
            to.onConnected(now);
        }
    }

    /// The system has given the stream up.
    ///
    /// @param isRefused whether it never came to be, because no program listens there
    /// @param detail what the system says, behind the name of the peer; null when the peer has broken it off
    final void breakUp(boolean isRefused, @Nullable String detail, long now) {
        String peer = remote + " port " + remotePort;
        if (isRefused) {
            break_(StreamHandler.Cause.REFUSED, "nobody listens at " + peer, now);
        } else if (detail == null) {
            break_(StreamHandler.Cause.RESET, peer + " has broken the TCP connection off", now);
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

    /// Our own code has failed at what happened on this socket: it alone ends.
    final void contain(Throwable cause, long now) {
        link.contained(cause);
        try {
            break_(StreamHandler.Cause.LOCAL, "internal error, please report it: " + cause, now);
        } catch (RuntimeException | Error e) {
            link.contained(e);
        }
    }

    /// The link closes: what has been said to its end still gets to the peer, for which the system cares once it
    /// has it all; everything else breaks off.
    final void closeAtLast() {
        for (int i = 0; i < LAST_ATTEMPTS && isFull() && endsWhenEmpty && !isClosed; i++) {
            onRoom(0);
            LockSupport.parkNanos(LAST_PAUSE_NANOS);
        }
        close(!hasEnded);
    }

    /// Closes at once; the handler hears nothing more. Idempotent.
    ///
    /// @param reset whether the peer is to see that it broke off
    public final void close(boolean reset) {
        if (isClosed) {
            return;
        }
        isClosed = true;
        stream.release(reset);
        link.forget(this);
        input.release();
        rest.release();
    }
}

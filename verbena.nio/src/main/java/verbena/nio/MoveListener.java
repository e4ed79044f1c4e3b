package verbena.nio;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;
import verbena.stream.StreamListener;

/// The server of connections that move to RDMA ([Moving]): it knows those that its listener has accepted, and listens
/// for streams when one of them is busy. A stream whose first bytes name none of them is closed. Safe for use by any
/// thread.
final class MoveListener implements Moving.Side, Closeable {
    /// Opens the listener for streams at the port of the listener by TCP; null when there is no device, which it
    /// has told.
    @FunctionalInterface
    interface Streams {
        @Nullable
        StreamListener listen() throws IOException;
    }

    /// The time in which a peer has to name its connection. It does so at once.
    private static final int NAME_MILLIS = 10_000;
    /// The time in which the program has to accept the connection. A client may ask while it waits in the backlog.
    private static final long ACCEPTED_NANOS = Duration.ofSeconds(5).toNanos();
    /// The number of connections that have ended and are remembered: a client may ask while its connection ends.
    private static final int ENDED_MAX = 256;
    /// The number of streams that have not named a connection yet. Further ones are closed.
    private static final int NAMELESS_MAX = 64;

    private final Streams streams;
    private final ReentrantLock lock;
    private final Condition changed;
    /// Guarded by the lock.
    private final Map<TcpAddresses, Moving> movable = new HashMap<>();
    /// The connections that have ended, so that nothing waits for them. Guarded by the lock.
    private final SequencedSet<TcpAddresses> ended = new LinkedHashSet<>();

    // Guarded by the lock, all below.
    /// The number of streams that have not named their connection yet.
    private int nameless;

    private boolean isAsked;
    private @Nullable StreamListener listener;
    private boolean isClosed;

    MoveListener(Streams streams) {
        this(streams, new ReentrantLock());
    }

    /// Makes one with this lock, for a world that explores how threads meet.
    MoveListener(Streams streams, ReentrantLock lock) {
        this.streams = streams;
        this.lock = lock;
        this.changed = lock.newCondition();
    }

    /// Makes the carrier of an accepted connection.
    Moving accepted(Carrier by, Pace pace) throws IOException {
        var made = new Moving(by, false, pace.ofListener(), this);
        add(made);
        return made;
    }

    /// Lets this connection move.
    void add(Moving accepted) {
        lock.lock();
        try {
            movable.put(accepted.addresses(), accepted);
            boolean _ = ended.remove(accepted.addresses());
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onOver(Moving it) {
        lock.lock();
        try {
            if (movable.remove(it.addresses(), it) && ended.add(it.addresses()) && ended.size() > ENDED_MAX) {
                TcpAddresses _ = ended.removeFirst();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onBusy(Moving it) {
        listen();
    }

    private void listen() {
        if (asks(true)) {
            start(this::open);
        }
    }

    /// Notes whether the listener is asked for. Returns whether that is news.
    private boolean asks(boolean now) {
        lock.lock();
        try {
            boolean isNews = isAsked != now;
            isAsked = now;
            return isNews;
        } finally {
            lock.unlock();
        }
    }

    /// Listens for streams from now on; waits until it does.
    void listenAtOnce() throws IOException {
        if (asks(true)) {
            StreamListener made = open();
            start(() -> made);
        }
    }

    private void start(Streams from) {
        try {
            Thread.ofVirtual().name("verbena-nio-moves").start(() -> acceptAll(from));
        } catch (OutOfMemoryError e) {
            boolean _ = asks(false); // the next busy connection tries again
        }
    }

    private void acceptAll(Streams from) {
        try {
            StreamListener made = from.listen();
            while (made != null) {
                StreamChannel found = made.accept();
                if (found != null) {
                    take(found);
                }
            }
        } catch (ClosedChannelException e) {
            // the program has closed the listener
        } catch (IOException e) {
            close(); // the device has failed: TCP goes on
        }
    }

    private @Nullable StreamListener open() throws IOException {
        StreamListener made = streams.listen();
        lock.lock();
        try {
            if (!isClosed) {
                listener = made;
                return made;
            }
        } finally {
            lock.unlock();
        }
        Opener.quietly(made);
        return null;
    }

    /// Counts streams without a name. Returns false when there are too many, and counts nothing then.
    private boolean count(int more) {
        lock.lock();
        try {
            boolean isCounted = nameless + more <= NAMELESS_MAX;
            nameless += isCounted ? more : 0;
            return isCounted;
        } finally {
            lock.unlock();
        }
    }

    private void take(StreamChannel found) {
        if (!count(1)) {
            var _ = found.closeLater();
            return;
        }
        boolean isBegun = false;
        try {
            Thread.ofVirtual().name("verbena-nio-move").start(() -> {
                try {
                    join(new Carrier.ByStream(found, null, found.peerAddress().orElse(null), Usage.NONE));
                } finally {
                    boolean _ = count(-1);
                }
            });
            isBegun = true;
        } finally {
            if (!isBegun) {
                boolean _ = count(-1);
                var _ = found.closeLater();
            }
        }
    }

    /// Moves the connection that the first bytes of a stream name, or closes the stream. Waits for both.
    void join(Carrier found) {
        boolean isTaken = false;
        try {
            InetAddress from = Objects.requireNonNull(found.remote()).getAddress();
            Optional<TcpAddresses> name =
                    name(found).filter(of -> of.client().getAddress().equals(from));
            Moving named = name.isPresent() ? await(name.get()) : null;
            isTaken = named != null && named.agree(found);
        } catch (IOException | RuntimeException e) {
            // the peer learns it from the end of the stream
        } catch (InterruptedException e) {
            // no program knows this thread
        } finally {
            if (!isTaken) {
                close(found);
            }
        }
    }

    private static void close(Carrier found) {
        try {
            found.close(-1, false);
        } catch (IOException e) {
            // it is closed
        }
    }

    /// Returns the connection of this name, when the program accepts it in time; null at once when it has ended.
    private @Nullable Moving await(TcpAddresses name) throws InterruptedException {
        long left = ACCEPTED_NANOS;
        lock.lock();
        try {
            while (!movable.containsKey(name) && !ended.contains(name) && left > 0) {
                left = changed.awaitNanos(left);
            }
            return movable.get(name);
        } finally {
            lock.unlock();
        }
    }

    private static Optional<TcpAddresses> name(Carrier from) throws IOException {
        byte[] name = new byte[TcpAddresses.BYTES];
        for (int at = 0; at < name.length; ) {
            int read = from.read(name, at, name.length - at, NAME_MILLIS);
            if (read < 0) {
                return Optional.empty();
            }
            at += read;
        }
        return TcpAddresses.parse(ByteBuffer.wrap(name));
    }

    /// Listens no more. Connections that have moved stay.
    @Override
    public void close() {
        StreamListener open;
        lock.lock();
        try {
            isClosed = true;
            open = listener;
            listener = null;
        } finally {
            lock.unlock();
        }
        if (open != null) {
            open.close();
        }
    }
}

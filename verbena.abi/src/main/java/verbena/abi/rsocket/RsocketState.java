package verbena.abi.rsocket;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.PollableDescriptor;
import verbena.abi.rsocket.RsocketOptions.Option;
import verbena.foreign.rdma.SocketAddress;
import verbena.stream.protocol.ByteStream;
import verbena.stream.protocol.StreamEnds;
import verbena.stream.protocol.StreamMessage;
import verbena.verbs.CompletionQueue;
import verbena.verbs.cm.ConnectionId;

/// What an [Rsocket] is at the moment, how that changes, and how calls wait for it.
///
/// A call that waits does the device's work in its own thread, and takes what completes ([StreamWatch]). A
/// program that asks the kernel instead, by poll(2) or epoll(7), finds the file descriptor as ready as the
/// rsocket is. That costs a thread and system calls, so it is done only while no call of ours waits, nor
/// has done so a moment ago.
abstract class RsocketState implements AnyRsocket {
    /// How far it has got.
    enum Phase {
        NEW,
        BOUND,
        LISTENING,
        /// Asked, or accepted and not confirmed.
        CONNECTING,
        CONNECTED,
        /// What has arrived can be read.
        ENDED,
        CLOSED
    }

    final ConnectionId id;
    final RsocketOptions options;
    final ReentrantLock lock = new ReentrantLock();
    final Condition changed = lock.newCondition();
    volatile boolean isNonBlocking;

    // Guarded by the lock, all below.
    Phase phase = Phase.NEW;

    /// None while a connection waits to be accepted.
    private @Nullable PollableDescriptor descriptor;

    @Nullable
    ByteStream stream;

    /// Of the stream: the device, which is told what completes, and the queue that it is told by.
    private @Nullable StreamWatch watch;

    private @Nullable CompletionQueue queue;
    final StreamEnds ends = new StreamEnds();

    /// What completes next is notified.
    volatile boolean isArmed;
    /// The descriptor is kept as ready as the rsocket is, because the program may ask the kernel.
    volatile boolean isWatched;
    /// Calls that wait without asking the kernel; and those that wait for the descriptor.
    final AtomicInteger waiters = new AtomicInteger();

    int kernelWaiters;
    /// Those who wait do not know yet what has come.
    private boolean isChanged;
    /// Left to the looker; and whether a call was made since it looked.
    private boolean isLeft;

    private boolean isTouched;
    /// When something came last.
    private long heardNanos;

    /// A call was told to come again when more can be sent.
    boolean isWriterWaiting;
    /// For `SO_ERROR`, or the next call; negative.
    long error;

    RsocketState(ConnectionId id, RsocketOptions options, boolean isNonBlocking) {
        this.id = id;
        this.options = options;
        this.isNonBlocking = isNonBlocking;
    }

    /// Whether a listener has a connection for the program.
    abstract boolean hasAccepted();

    // ---- what it is

    @Override
    public int open() {
        lock.lock();
        try {
            descriptor = new PollableDescriptor();
            settle();
            return descriptor.fd();
        } finally {
            lock.unlock();
        }
    }

    void closeDescriptor() {
        StreamLooker.keepAlive(this, false);
        if (descriptor != null) {
            descriptor.close();
        }
    }

    @Override
    public InetSocketAddress noName() {
        return new InetSocketAddress(SocketAddress.any(options.get(Option.DOMAIN)), 0);
    }

    @Override
    public Optional<InetSocketAddress> localName() {
        return id.localAddress();
    }

    @Override
    public Optional<InetSocketAddress> peerName() {
        return isConnected() ? id.peerAddress() : Optional.empty();
    }

    @Override
    public boolean isNonBlocking() {
        return isNonBlocking;
    }

    @Override
    public void nonBlocking(boolean wanted) {
        isNonBlocking = wanted;
    }

    @Override
    public boolean isConnected() {
        return phase == Phase.CONNECTED;
    }

    @Override
    public boolean isListening() {
        return phase == Phase.LISTENING;
    }

    @Override
    public int takeError() {
        lock.lock();
        try {
            progress();
            long taken = error;
            error = 0;
            return (int) -taken;
        } finally {
            finish();
        }
    }

    @Override
    public long setOption(long level, long name, long value, long length) {
        lock.lock();
        try {
            long answer = options.set(level, name, value, length, stream != null);
            if (phase == Phase.CONNECTED
                    && Option.of(level, name)
                            .filter(RsocketState::isOfKeepAlive)
                            .isPresent()) {
                StreamLooker.keepAlive(this, options.get(Option.KEEP_ALIVE) != 0);
            }
            return answer;
        } finally {
            lock.unlock();
        }
    }

    private static boolean isOfKeepAlive(Option option) {
        return option == Option.KEEP_ALIVE || option == Option.KEEP_IDLE;
    }

    @Override
    public long getOption(long level, long name, long into, long lengthPointer) {
        return options.get(level, name, into, lengthPointer, this);
    }

    // ---- the stream

    /// Makes the stream, when the address is resolved.
    ByteStream makeStream() {
        StreamWatch at = StreamWatch.join(id.context());
        watch = at;
        boolean done = false;
        try {
            var made = new ByteStream(id.context(), id::createQueuePair, options.sizes(), Optional.empty(), entries -> {
                CompletionQueue its = at.createQueue(entries, this);
                queue = its;
                return its;
            });
            stream = made;
            done = true;
            return made;
        } finally {
            if (!done) {
                leaveWatch();
            }
        }
    }

    /// Frees all of it. A thread that sleeps wakes.
    void closeStream() {
        if (stream != null) {
            stream.close();
            leaveWatch();
        }
    }

    private void leaveWatch() {
        if (watch != null) {
            watch.leave(queue);
            watch = null;
        }
    }

    /// The device that it is connected through, while it has a stream.
    @Nullable
    StreamWatch watch() {
        return watch;
    }

    // ---- completions

    /// There is a connection. Until a call of the program waits for it, the program may wait by the kernel.
    void connected(ByteStream made) {
        phase = Phase.CONNECTED;
        ends.begin();
        isWatched = true;
        isChanged = true;
        heardNanos = System.nanoTime();
        StreamLooker.keepAlive(this, options.get(Option.KEEP_ALIVE) != 0);
        keep();
    }

    /// Takes what has completed, and sees what has become of the connection.
    ///
    /// @return how many completions there were
    int progress() {
        ByteStream made = stream;
        if (made == null || phase == Phase.CLOSED) {
            return 0;
        }
        int count = made.progress();
        if (count > 0) {
            isChanged = true;
            heardNanos = System.nanoTime();
        }
        if (ends.look(made) && phase == Phase.CONNECTED) {
            if (!made.isOver()) {
                error = Errno.of(made.failure());
            }
            end();
        }
        return count;
    }

    /// By the thread that works for the device: something has come. Whether to
    /// [#lookAfter] it. A caller that is in a call of this rsocket looks by itself, and without a thread that
    /// waits there is no need.
    boolean onNotification() {
        isArmed = false; // before the look at who waits: that thread says so first, then asks whether it is armed
        return (isWatched || waiters.get() > 0) && !lock.isHeldByCurrentThread();
    }

    /// Looks for those who wait. A call that armed it meanwhile has looked.
    void lookAfter() {
        if (isArmed) {
            return;
        }
        lock.lock();
        try {
            progress();
            keep();
        } finally {
            lock.unlock();
        }
    }

    /// A call is over. Gives the lock back.
    void finish() {
        isTouched = true;
        keep();
        if (!isWatched && !isLeft && waiters.get() == 0 && phase == Phase.CONNECTED) {
            isLeft = true;
            StreamLooker.leave(this);
        }
        lock.unlock();
    }

    /// By the looker, for one that was left behind: whether it need not come again. It watches one that the
    /// program has not touched since the last time.
    boolean isDoneWith() {
        if (!lock.tryLock()) {
            return false; // a call is under way
        }
        try {
            if (phase == Phase.CONNECTED && !isWatched && waiters.get() == 0) {
                if (isTouched) {
                    isTouched = false;
                    return false;
                }
                isWatched = true;
                keep();
            }
            isLeft = false;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// While a thread waits, completions are notified. The descriptor tells what has changed, and calls that
    /// wait look.
    void keep() {
        ByteStream made = stream;
        if (made != null && phase == Phase.CONNECTED && !isArmed && (isWatched || waiters.get() > 0)) {
            do {
                isArmed = true;
                made.arm();
                progress();
            } while (!isArmed && phase == Phase.CONNECTED);
            if (isWatched && watch != null) {
                watch.handOver();
            }
        }
        settle();
    }

    /// Asks a peer that has not been heard of for so long for a sign of life, without which the connection
    /// ends. In how many nanoseconds it is time for that again.
    long keepAlive(long now) {
        lock.lock();
        try {
            ByteStream made = stream;
            if (made == null || phase != Phase.CONNECTED) {
                return Long.MAX_VALUE;
            }
            progress();
            long idle = options.get(Option.KEEP_IDLE) * 1_000_000_000L;
            if (now - heardNanos >= idle) {
                heardNanos = now;
                if (made.isSent() && made.hasControl()) {
                    made.sendControl(StreamMessage.KEEP_ALIVE);
                }
            }
            keep();
            return Math.max(1, heardNanos + idle - now);
        } finally {
            lock.unlock();
        }
    }

    // ---- the descriptor

    /// The file descriptor tells what has changed, and calls that wait look.
    void settle() {
        if (phase == Phase.CLOSED) {
            return;
        }
        if (descriptor != null) {
            settle(descriptor);
        }
        changed.signalAll();
        if (isChanged && waiters.get() > 0 && watch != null) {
            watch.poke();
        }
        isChanged = false;
    }

    /// While the program waits in calls of ours, it does not ask the kernel. Only a descriptor that lies is
    /// corrected.
    private void settle(PollableDescriptor descriptor) {
        boolean isReadable = isReadable();
        boolean isAsked = isWatched || phase != Phase.CONNECTED;
        if (isAsked || !isReadable) {
            descriptor.readable(isReadable);
        }
        if (isWriterWaiting && phase != Phase.CONNECTING && isWritable()) {
            isWriterWaiting = false;
        }
        if (isAsked || !isWriterWaiting) {
            descriptor.writable(!isWriterWaiting);
        }
        if (isHungUp()) {
            descriptor.hangUp(); // many a program does not read what there is from one that is hung up
        }
    }

    boolean isReadable() {
        return hasAccepted()
                || phase == Phase.ENDED
                || (phase == Phase.CONNECTED && !ends.mayRead())
                || (stream != null && stream.available() > 0);
    }

    boolean isWritable() {
        return phase == Phase.ENDED
                || (phase == Phase.CONNECTED && (!ends.mayWrite() || (stream != null && stream.canSend())));
    }

    boolean isHungUp() {
        return phase == Phase.ENDED && (stream == null || stream.available() == 0);
    }

    // ---- the end

    /// Calls that wait look, because it is closed.
    void wakeAll() {
        changed.signalAll();
        if (watch != null) {
            watch.poke();
        }
    }

    /// Nothing comes any more, and nothing can be sent.
    void end() {
        phase = Phase.ENDED;
        ends.end();
        isChanged = true;
        settle();
    }
}

package verbena.tools.files;

import java.nio.BufferUnderflowException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.Closing;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SendBatch;
import verbena.verbs.VerbsException;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;

/// Messages over a connection, and the WRITEs and READs between them. Any thread may send; one receives. Every
/// message that needs room at the peer is answered by one that gives it back (see [Sender]), so no more are under
/// way than receives are posted.
final class MessageChannel implements AutoCloseable {
    /// Requests that can be outstanding, beside messages.
    static final int TRANSFERS_MAX = 2 * Terms.SLOTS_MAX;
    /// Messages that can be outstanding on either side.
    static final int MESSAGES_MAX = Terms.ANNOUNCEMENTS_MAX + Terms.FILES_MAX + Terms.SLOTS_MAX + 8;

    /// Bits in the number of a request, for a READ into a slot and for a WRITE. The number of a message is its
    /// index.
    private static final long READ = 1L << 32;

    private static final long WRITE = 1L << 33;
    /// The time that a peer may be silent, where no other time is given.
    private static final Duration SILENCE = Duration.ofSeconds(60);
    /// The interval at which this end reports to a peer that it is busy.
    private static final Duration BEAT = Duration.ofSeconds(1);
    /// The number of such reports in a row that a peer may send: a day long.
    private static final int BUSY_MAX = 86_400;

    /// The time that the end of a connection waits for last messages.
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final Connection connection;
    private final Duration silence;
    /// The number of operations on files that run now.
    private final AtomicInteger busy = new AtomicInteger();
    private final MemoryRegion received;
    private final MemoryRegion sent;
    private final Message[] arrivals = new Message[MESSAGES_MAX];
    private final ArrayBlockingQueue<Message> free = new ArrayBlockingQueue<>(MESSAGES_MAX);
    private final Message[] departures = new Message[MESSAGES_MAX];
    private final Transfers transfers = new Transfers();
    private final WorkCompletion arrived = new WorkCompletion();
    private final Thread completions;
    private volatile IntConsumer onRead = MessageChannel::ignore;
    private volatile @Nullable String why;
    private volatile @Nullable String failure;
    private volatile boolean isAborted;
    private @Nullable Message inHand;
    private long messagesReceived;

    MessageChannel(Connection connection) {
        this(connection, SILENCE);
    }

    /// @param connection closed with this, and when there is no memory for this
    /// @param silence how long the peer may say nothing within a request, and take no message
    MessageChannel(Connection connection, Duration silence) {
        this.connection = connection;
        this.silence = silence;
        boolean made = false;
        try {
            received = connection.allocate((long) MESSAGES_MAX * Message.MAX, Access.local());
            sent = connection.allocate((long) MESSAGES_MAX * Message.MAX, Access.local());
            for (int i = 0; i < MESSAGES_MAX; i++) {
                arrivals[i] = message(received, i);
                departures[i] = message(sent, i);
                free.add(departures[i]);
                connection.queuePair().postReceive(i, received.slice((long) i * Message.MAX, Message.MAX));
            }
            completions = Thread.ofPlatform()
                    .daemon()
                    .name("verbena-files-completions")
                    .start(this::complete);
            made = true;
        } finally {
            if (!made) {
                connection.close();
            }
        }
    }

    private static Message message(MemoryRegion region, int i) {
        return new Message(
                i, region.segment().asSlice((long) i * Message.MAX, Message.MAX).asByteBuffer());
    }

    Connection connection() {
        return connection;
    }

    // ---- sending

    /// Starts a message; it has to be sent.
    ///
    /// @throws ConnectionException when the peer takes none of the messages before it
    Message write(Kind kind) throws InterruptedException {
        Message message = free.poll(silence.toNanos(), TimeUnit.NANOSECONDS);
        if (message == null) {
            String text = "the peer took no message for " + Sizes.seconds(silence);
            fail(text);
            throw new ConnectionException(ConnectionException.Reason.TIMEOUT, text);
        }
        return message.begin(kind);
    }

    void send(Message message) {
        try (SendBatch batch = connection.queuePair().sendBatch()) {
            addTo(batch, message);
            batch.submit();
        }
    }

    /// Writes `length` bytes of `from` into the peer's memory at the same place, and sends a message that cannot
    /// arrive before them. The bytes belong to the device until [#awaitTransfer].
    void send(Message message, MemoryRegion from, long offset, int length, RemoteMemory to) {
        transfers.begin(message.index(), offset);
        boolean isPosted = false;
        try (SendBatch batch = connection.queuePair().sendBatch()) {
            batch.write(WRITE, to.address() + offset, to.rkey()).sge(from, offset, length);
            addTo(batch, message);
            batch.submit();
            isPosted = true;
        } finally {
            if (!isPosted) {
                transfers.end(message.index());
            }
        }
    }

    /// Waits until the WRITE from an offset is complete, whatever the peer has answered.
    ///
    /// @throws ConnectionException when it is not in time
    void awaitTransfer(long offset) throws InterruptedException {
        if (!transfers.await(offset, silence)) {
            String text = "a WRITE was not complete after " + Sizes.seconds(silence);
            fail(text);
            throw new ConnectionException(ConnectionException.Reason.TIMEOUT, text);
        }
    }

    /// Waits until no WRITE is under way, so that memory may go, but not for longer than the peer may be silent. On
    /// a connection that has ended they come back.
    void awaitTransfers() {
        try {
            long end = System.nanoTime() + silence.toNanos();
            for (long offset : transfers.underWay()) {
                transfers.await(offset, Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void addTo(SendBatch batch, Message message) {
        batch.send(message.index())
                .sge(sent, (long) message.index() * Message.MAX, message.bytes().position())
                .signaled();
    }

    /// Reads `length` bytes of the peer's memory into the same place of `into`; [#onRead] hears of `slot` then.
    void read(int slot, MemoryRegion into, long offset, int length, RemoteMemory from) {
        connection.queuePair().postRead(READ | slot, from.slice(offset, length), into.slice(offset, length));
    }

    /// Sets the listener that is called when the READ into a slot is done, on a thread of the channel's own.
    void onRead(@Nullable IntConsumer listener) {
        onRead = listener == null ? MessageChannel::ignore : listener;
    }

    /// Sends the peer the reason why nothing more will come, unless the peer has sent such a reason itself or
    /// cannot be reached.
    void abort(String text) throws InterruptedException {
        if (isAborted) {
            return;
        }
        isAborted = true;
        try {
            Message message = free.poll(FAREWELL.toNanos(), TimeUnit.NANOSECONDS);
            if (message == null) {
                return;
            }
            send(message.begin(Kind.ABORT).text(text));
            drain();
        } catch (VerbsException _) {
            // It has gone.
        }
    }

    /// Waits until what was sent has arrived, or cannot any more.
    private void drain() throws InterruptedException {
        long deadline = System.nanoTime() + FAREWELL.toNanos();
        List<Message> back = new ArrayList<>();
        while (back.size() < MESSAGES_MAX) {
            Message message = free.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (message == null) {
                break;
            }
            back.add(message);
        }
        free.addAll(back);
    }

    /// Ends the connection from any thread, for this reason: the thread that receives hears it.
    void fail(String text) {
        failure = text;
        disconnect();
    }

    /// Counts an operation on files that begins (1) or ends (-1). In between, this end reports to the peer at least
    /// once a second that it lives, however long the disk takes.
    void busy(int change) {
        busy.addAndGet(change);
    }

    /// Ends the connection from any thread; the receiving thread notices.
    void disconnect() {
        if (connection.id().state() == ConnectionId.State.CONNECTED) {
            connection.id().disconnect();
        }
    }

    private static void ignore(int slot) {}

    private void complete() {
        var done = new WorkCompletion();
        Message beat = null;
        try {
            while (true) {
                if (!connection.queuePair().options().sendCq().await(done, BEAT)) {
                    if (beat == null && busy.get() > 0) {
                        beat = beat();
                    }
                    continue;
                }
                if (beat != null && done.wrId() == beat.index()) {
                    beat = null;
                }
                if (!done.ok()) {
                    if (why == null) {
                        why = done.cause().isEmpty() ? done.status().label() : done.cause();
                    }
                    if ((done.wrId() & (READ | WRITE)) == 0) {
                        departed((int) done.wrId()); // no thread may wait for one for ever
                    }
                } else if ((done.wrId() & READ) != 0) {
                    onRead.accept((int) done.wrId());
                } else {
                    departed((int) done.wrId());
                }
            }
        } catch (InterruptedException | InvalidStateException _) {
            // Closed.
        }
    }

    /// Takes back a message that is complete. So is the WRITE in front of it.
    private void departed(int index) {
        transfers.end(index);
        free.add(departures[index]);
    }

    /// Sends the message that this end is busy, and returns it; null when it cannot be sent now.
    private @Nullable Message beat() {
        Message message = free.poll();
        if (message == null) {
            return null;
        }
        try {
            send(message.begin(Kind.BUSY));
            return message;
        } catch (VerbsException _) {
            free.add(message);
            return null; // the connection has ended, which the thread that receives hears too
        }
    }

    // ---- receiving

    /// Returns the next message of a request, open at its first field; it is valid until the next one is asked for.
    ///
    /// @throws ConnectionException when the connection has ended, or the peer is silent for too long
    /// @throws CommandFailed when the peer says why it will not go on
    Message receive() throws InterruptedException {
        for (int i = 0; i < BUSY_MAX; i++) {
            Message message = receive(silence);
            if (message.kind() != Kind.BUSY) {
                return message;
            }
        }
        throw new CommandFailed("the peer says that it is busy, and nothing else");
    }

    /// Returns the next message of any kind, within a time.
    Message receive(Duration timeout) throws InterruptedException {
        Message before = inHand;
        if (before != null) {
            inHand = null;
            connection
                    .queuePair()
                    .postReceive(before.index(), received.slice((long) before.index() * Message.MAX, Message.MAX));
        }
        if (!connection.queuePair().options().receiveCq().await(arrived, timeout)) {
            throw new ConnectionException(
                    ConnectionException.Reason.TIMEOUT, "the peer said nothing for " + Sizes.seconds(timeout));
        }
        if (!arrived.ok()) {
            throw new ConnectionException(ConnectionException.Reason.DISCONNECTED, "the peer is gone: " + end());
        }
        messagesReceived++;
        Message message = arrivals[(int) arrived.wrId()].arrived(arrived.byteLength());
        inHand = message;
        if (message.kind() == Kind.ABORT) {
            isAborted = true;
            throw new CommandFailed("the peer: " + message.open().takeText());
        }
        return message.open();
    }

    // What the connection manager says, else what the first failed request has said.
    private String end() throws InterruptedException {
        String own = failure;
        if (own != null) {
            return own;
        }
        String cause = why;
        try {
            while (true) {
                var event = connection.id().channel().await(FAREWELL);
                if (event.isEmpty()) {
                    break;
                }
                if (event.get() instanceof ConnectionEvent.Disconnected disconnected) {
                    return disconnected.why();
                }
            }
        } catch (InvalidStateException _) {
            // Closed here meanwhile.
        }
        return cause == null ? "the connection has ended" : cause;
    }

    /// Returns the next message, which has to be of this kind.
    Message expect(Kind kind, Duration timeout) throws InterruptedException {
        Message message = receive(timeout);
        if (message.kind() != kind) {
            throw unexpected(message);
        }
        return message;
    }

    static CommandFailed unexpected(Message message) {
        return new CommandFailed("the peer sent " + message.kind() + ", which has no place here");
    }

    static CommandFailed malformed(BufferUnderflowException e) {
        return new CommandFailed("the peer sent a message that is too short", e);
    }

    long messagesReceived() {
        return messagesReceived;
    }

    /// Ends the connection.
    @Override
    public void close() {
        connection.close();
        Closing.join(completions);
    }
}

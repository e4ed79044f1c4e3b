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
import verbena.tools.CommandFailed;
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
final class Mailbox implements AutoCloseable {
    /// Requests that can be outstanding, beside messages.
    static final int TRANSFERS_MAX = 2 * Terms.SLOTS_MAX;
    /// Messages that can be outstanding on either side.
    static final int LETTERS = Sender.ANNOUNCEMENTS_MAX + Sender.FILES_MAX + Terms.SLOTS_MAX + 8;

    /// In the number of a request: a READ into a slot, or a WRITE. A message has its letter's index.
    private static final long READ = 1L << 32;

    private static final long WRITE = 1L << 33;
    /// How long a peer may say nothing, where no other time is given.
    private static final Duration SILENCE = Duration.ofSeconds(60);
    /// How often a peer hears that this end is busy.
    private static final Duration BEAT = Duration.ofSeconds(1);
    /// How often in a row a peer may say so: a day long.
    private static final int BUSY_MAX = 86_400;

    /// How long the end of a connection waits for last words.
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final Connection connection;
    private final Duration silence;
    /// What is done with files at this time.
    private final AtomicInteger busy = new AtomicInteger();
    private final MemoryRegion received;
    private final MemoryRegion sent;
    private final Letter[] arrivals = new Letter[LETTERS];
    private final ArrayBlockingQueue<Letter> free = new ArrayBlockingQueue<>(LETTERS);
    private final Letter[] departures = new Letter[LETTERS];
    private final WorkCompletion arrived = new WorkCompletion();
    private final Thread completions;
    private volatile IntConsumer onRead = Mailbox::ignore;
    private volatile @Nullable String why;
    private volatile @Nullable String failure;
    private volatile boolean isAborted;
    private @Nullable Letter inHand;
    private long messagesReceived;

    Mailbox(Connection connection) {
        this(connection, SILENCE);
    }

    /// @param connection closed with this, and when there is no memory for this
    /// @param silence how long the peer may say nothing within a request, and take no message
    Mailbox(Connection connection, Duration silence) {
        this.connection = connection;
        this.silence = silence;
        boolean made = false;
        try {
            received = connection.allocate((long) LETTERS * Letter.MAX, Access.local());
            sent = connection.allocate((long) LETTERS * Letter.MAX, Access.local());
            for (int i = 0; i < LETTERS; i++) {
                arrivals[i] = letter(received, i);
                departures[i] = letter(sent, i);
                free.add(departures[i]);
                connection.queuePair().postReceive(i, received, (long) i * Letter.MAX, Letter.MAX);
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

    private static Letter letter(MemoryRegion region, int i) {
        return new Letter(
                i, region.segment().asSlice((long) i * Letter.MAX, Letter.MAX).asByteBuffer());
    }

    Connection connection() {
        return connection;
    }

    // ---- sending

    /// Starts a message; it has to be sent.
    ///
    /// @throws ConnectionException when the peer takes none of the messages before it
    Letter write(Kind kind) throws InterruptedException {
        Letter letter = free.poll(silence.toNanos(), TimeUnit.NANOSECONDS);
        if (letter == null) {
            String text = "the peer took no message for " + Sizes.seconds(silence);
            fail(text);
            throw new ConnectionException(ConnectionException.Reason.TIMEOUT, text);
        }
        return letter.begin(kind);
    }

    void send(Letter letter) {
        try (SendBatch batch = connection.queuePair().send()) {
            addTo(batch, letter);
            batch.submit();
        }
    }

    /// Writes `length` bytes of `from` into the peer's memory at the same place, and sends a message that cannot
    /// arrive before them.
    void send(Letter letter, MemoryRegion from, long offset, int length, RemoteMemory to) {
        try (SendBatch batch = connection.queuePair().send()) {
            batch.write(WRITE, to.address() + offset, to.rkey()).sge(from, offset, length);
            addTo(batch, letter);
            batch.submit();
        }
    }

    private void addTo(SendBatch batch, Letter letter) {
        batch.send(letter.index())
                .sge(sent, (long) letter.index() * Letter.MAX, letter.bytes().position())
                .signaled();
    }

    /// Reads `length` bytes of the peer's memory into the same place of `into`; [#onRead] hears of `slot` then.
    void read(int slot, MemoryRegion into, long offset, int length, RemoteMemory from) {
        connection
                .queuePair()
                .postRead(
                        READ | slot,
                        into,
                        offset,
                        length,
                        from.slice(offset, length).address(),
                        from.rkey());
    }

    /// The listener that is told when the READ into a slot is done, on a thread of the mailbox's own.
    void onRead(@Nullable IntConsumer listener) {
        onRead = listener == null ? Mailbox::ignore : listener;
    }

    /// The peer is told why nothing more will come, if it can be, and has not said so itself.
    void abort(String text) throws InterruptedException {
        if (isAborted) {
            return;
        }
        isAborted = true;
        try {
            Letter letter = free.poll(FAREWELL.toNanos(), TimeUnit.NANOSECONDS);
            if (letter == null) {
                return;
            }
            send(letter.begin(Kind.ABORT).text(text));
            drain();
        } catch (VerbsException _) {
            // It has gone.
        }
    }

    /// Waits until what was sent has arrived, or cannot any more.
    private void drain() throws InterruptedException {
        long deadline = System.nanoTime() + FAREWELL.toNanos();
        List<Letter> back = new ArrayList<>();
        while (back.size() < LETTERS) {
            Letter letter = free.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (letter == null) {
                break;
            }
            back.add(letter);
        }
        free.addAll(back);
    }

    /// Ends the connection from any thread, for this reason: the thread that receives hears it.
    void fail(String text) {
        failure = text;
        disconnect();
    }

    /// Something with files begins (1) or ends (-1). In between the peer hears at least once a second that this end
    /// lives, however long the disk takes.
    void busy(int change) {
        busy.addAndGet(change);
    }

    /// Ends the connection from any thread; the receiving thread gets to know it.
    void disconnect() {
        if (connection.id().state() == ConnectionId.State.CONNECTED) {
            connection.id().disconnect();
        }
    }

    private static void ignore(int slot) {}

    private void complete() {
        var done = new WorkCompletion();
        Letter beat = null;
        try {
            while (true) {
                if (!connection.sendCompletions().await(done, BEAT)) {
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
                        free.add(departures[(int) done.wrId()]); // no thread may wait for a letter for ever
                    }
                } else if ((done.wrId() & READ) != 0) {
                    onRead.accept((int) done.wrId());
                } else {
                    free.add(departures[(int) done.wrId()]);
                }
            }
        } catch (InterruptedException | InvalidStateException _) {
            // Closed.
        }
    }

    /// Says that this end is busy; null when it cannot be said now.
    private @Nullable Letter beat() {
        Letter letter = free.poll();
        if (letter == null) {
            return null;
        }
        try {
            send(letter.begin(Kind.BUSY));
            return letter;
        } catch (VerbsException _) {
            free.add(letter);
            return null; // the connection has ended, which the thread that receives hears too
        }
    }

    // ---- receiving

    /// The next message of a request, open at its first field; it is valid until the next one is asked for.
    ///
    /// @throws ConnectionException when the connection has ended, or the peer is silent for too long
    /// @throws CommandFailed when the peer says why it will not go on
    Letter receive() throws InterruptedException {
        for (int i = 0; i < BUSY_MAX; i++) {
            Letter letter = receive(silence);
            if (letter.kind() != Kind.BUSY) {
                return letter;
            }
        }
        throw new CommandFailed("the peer says that it is busy, and nothing else");
    }

    /// The next message of any kind, within a time.
    Letter receive(Duration patience) throws InterruptedException {
        Letter before = inHand;
        if (before != null) {
            inHand = null;
            connection
                    .queuePair()
                    .postReceive(before.index(), received, (long) before.index() * Letter.MAX, Letter.MAX);
        }
        if (!connection.receiveCompletions().await(arrived, patience)) {
            throw new ConnectionException(
                    ConnectionException.Reason.TIMEOUT, "the peer said nothing for " + Sizes.seconds(patience));
        }
        if (!arrived.ok()) {
            throw new ConnectionException(ConnectionException.Reason.DISCONNECTED, "the peer is gone: " + end());
        }
        messagesReceived++;
        Letter letter = arrivals[(int) arrived.wrId()].arrived(arrived.byteLength());
        inHand = letter;
        if (letter.kind() == Kind.ABORT) {
            isAborted = true;
            throw new CommandFailed("the peer: " + letter.open().takeText());
        }
        return letter.open();
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

    /// The next message, which has to be of this kind.
    Letter expect(Kind kind, Duration patience) throws InterruptedException {
        Letter letter = receive(patience);
        if (letter.kind() != kind) {
            throw unexpected(letter);
        }
        return letter;
    }

    static CommandFailed unexpected(Letter letter) {
        return new CommandFailed("the peer sent " + letter.kind() + ", which has no place here");
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
        boolean interrupted = false;
        while (completions.isAlive()) {
            try {
                completions.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

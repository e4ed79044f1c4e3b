package verbena.nio;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;
import verbena.sim.explore.Strand;

/// A connection that moves from TCP to a stream, and back, while the programs at both ends write, read and end. What
/// moves the connection is the real code at both ends: [Moving] and [MoveListener]. Its threads stand still before each
/// lock and each read, and a program that selects stands still in its sleep.
final class MovingWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// A stream that has been taken ends without the last answer.
        LOSES_THE_ANSWER,
        /// Nothing wakes a thread that waits in the kernel.
        LOSES_THE_MARK,
        /// No selector is told what happens at the stream.
        TELLS_NOBODY,
        /// No selector is told what a thread finds out that reads.
        TELLS_NO_READER,
        /// A byte is lost by the stream.
        LOSES_A_BYTE
    }

    /// A kind of world.
    ///
    /// @param fromClient the bytes that the client writes
    /// @param fromServer those that the server writes
    /// @param isRefused whether the listener refuses the stream
    /// @param waits whether both programs read and write in a thread each, which waits, in place of selecting.
    ///     They end their data when they have those of their peer, and the server only answers
    /// @param goesBack whether the connection has moved before the programs begin, and both ends go back to TCP
    /// @param converses whether the client ends its data when it has all of the server, and the server when it has
    ///     the end of the client. Otherwise they end at once, which wakes each selector by TCP
    record Kind(int fromClient, int fromServer, boolean isRefused, boolean waits, boolean goesBack, boolean converses) {
        Kind(int fromClient, int fromServer, boolean isRefused, boolean waits, boolean goesBack) {
            this(fromClient, fromServer, isRefused, waits, goesBack, false);
        }
    }

    // The calls of a program.
    private static final int READS = 100;
    private static final int WRITES = 200;
    private static final int CLOSES = 300;

    /// The name of a connection, its answers, and some bytes.
    private static final int STREAM_ROOM = 64;
    /// The bytes of the server's answers.
    private static final int ANSWERS = 10;

    /// A time that does not pass.
    private static final long FOREVER = Long.MAX_VALUE / 2;

    private static final Pace NEVER = new Pace(Long.MAX_VALUE, Long.MAX_VALUE, 0);

    /// A thread.
    private final class Actor {
        private final String name;
        private final Runnable code;
        private final Strand strand = new Strand();
        private boolean hasBegun;
        private BooleanSupplier mayGoOn = () -> true;
        /// How often it has stood still in its call, and which call that is. The fingerprint reads it.
        @SuppressWarnings("UnusedVariable")
        private int place;

        /// What its last read has found; the same.
        @SuppressWarnings("UnusedVariable")
        private int found;

        private boolean isTimed;
        private boolean isTimeOver;
        private @Nullable Signals waitsAt;

        private Actor(String name, Runnable code) {
            this.name = name;
            this.code = code;
            actors.add(this);
        }

        private void begin() {
            hasBegun = true;
            running = this;
            strand.begin(code);
            running = null;
        }

        private void goOn() {
            running = this;
            strand.goOn();
            running = null;
        }

        private void addSteps(List<Step> steps) {
            if (strand.isUnderWay() && mayGoOn.getAsBoolean()) {
                steps.add(Step.usual(() -> name + ": " + strand.at(), this::goOn));
            } else if (strand.isUnderWay() && isTimed && !isTimeOver) {
                steps.add(Step.time(() -> name + " has waited long enough: " + strand.at(), () -> isTimeOver = true));
            }
        }
    }

    /// What threads do at a connection, and at their locks.
    private final class Threads implements MemoryConnection.Threads {
        @Override
        public void stand(String where, BooleanSupplier mayGoOn) {
            stand(where, mayGoOn, false);
        }

        @Override
        public void standForATime(String where, BooleanSupplier mayGoOn) {
            Actor me = running;
            stand(where, () -> mayGoOn.getAsBoolean() || me.isTimeOver, true);
        }

        private void stand(String where, BooleanSupplier mayGoOn, boolean isTimed) {
            Actor me = running;
            if (me == null || isClosed) {
                return;
            }
            me.mayGoOn = mayGoOn;
            me.isTimed = isTimed;
            me.isTimeOver = false;
            me.place++;
            me.strand.pause(where);
        }

        @Override
        public void found(int count) {
            running.found = count;
        }

        @Override
        public int onTheWay(MemoryConnection by, int value) {
            boolean isMover = running == server.mover || running == client.mover;
            boolean isData = by == stream && !isMover;
            answers += by == stream && running == server.mover ? 1 : 0;
            return switch (plant) {
                case LOSES_THE_ANSWER -> answers == ANSWERS && isMover ? lose() : value;
                case LOSES_THE_MARK -> by == tcp && isMover ? -1 : value;
                case LOSES_A_BYTE -> isData ? -1 : value;
                default -> value;
            };
        }
    }

    /// The answer is lost, and the client finds the end of the stream instead.
    private int lose() {
        client.stream.end();
        return -1;
    }

    /// A lock, which a thread that stands still may have.
    private final class Lock extends ReentrantLock {
        private static final long serialVersionUID = 1;
        /// Whether a thread stands still before it takes the lock, also when no other has it. What it does before and
        /// behind another lock no other thread can tell apart.
        private final boolean isMet;

        private transient @Nullable Actor owner;
        private int holds;

        private Lock(boolean isMet) {
            this.isMet = isMet;
        }

        @Override
        public void lock() {
            if (owner != running && (isMet || owner != null)) {
                threads.stand("lock", () -> owner == null);
            }
            owner = running;
            holds++;
        }

        @Override
        public void unlock() {
            holds--;
            if (holds == 0) {
                owner = null;
            }
        }

        @Override
        public boolean tryLock() {
            if (owner != null && owner != running) {
                return false;
            }
            lock();
            return true;
        }

        @Override
        public boolean tryLock(long time, TimeUnit unit) {
            if (owner != null && owner != running) {
                threads.standForATime("lock for a time", () -> owner == null);
            }
            return tryLock();
        }

        @Override
        public boolean isHeldByCurrentThread() {
            return owner == running;
        }

        @Override
        public Condition newCondition() {
            return new Signals(this);
        }
    }

    /// A condition of a lock.
    private final class Signals implements Condition {
        private final Lock lock;

        private Signals(Lock lock) {
            this.lock = lock;
        }

        /// Returns whether it was woken in time.
        private boolean sleep(boolean isTimed) throws InterruptedException {
            Actor me = running;
            if (isClosed || me == null) {
                throw new InterruptedException();
            }
            int held = lock.holds;
            lock.holds = 0;
            lock.owner = null;
            me.waitsAt = this;
            BooleanSupplier mayGoOn = () -> lock.owner == null && (me.waitsAt == null || me.isTimeOver);
            threads.stand("is told", mayGoOn, isTimed);
            boolean isTold = me.waitsAt == null;
            me.waitsAt = null;
            lock.owner = me;
            lock.holds = held;
            return isTold;
        }

        @Override
        public void await() throws InterruptedException {
            boolean _ = sleep(false);
        }

        @Override
        public long awaitNanos(long nanos) throws InterruptedException {
            return sleep(nanos < FOREVER) ? nanos : 0;
        }

        @Override
        public void signalAll() {
            for (Actor each : actors) {
                each.waitsAt = each.waitsAt == this ? null : each.waitsAt;
            }
        }

        @Override
        public void signal() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void awaitUninterruptibly() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean await(long time, TimeUnit unit) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean awaitUntil(Date deadline) {
            throw new UnsupportedOperationException();
        }
    }

    /// A program at one end, and what moves its connection.
    private final class End {
        private final String name;
        private final int bytes;
        private final MemoryConnection.End tcp;
        private final MemoryConnection.End stream;
        private final Actor program;
        /// The thread that writes, where the program waits. The other one reads then.
        private final Actor writer;
        private final Actor closer;
        private final Actor mover;
        private final Actor returner;
        private @Nullable End peer;
        private @Nullable Moving moving;

        private int begun;
        private int written;
        private int read;
        private boolean isWritten;
        private boolean isRead;
        private boolean hasClosed;
        private boolean closedEarly;
        private int interest;
        private boolean isPoked;
        private boolean isHot;
        /// What its selector has asked the kernel for, and found.
        private int asked;

        private int ready;

        private End(String name, int bytes, MemoryConnection.End tcp, MemoryConnection.End stream, Runnable moves) {
            this.name = name;
            this.bytes = bytes;
            this.tcp = tcp;
            this.stream = stream;
            this.program = new Actor(name + "'s program", kind.waits ? this::readAll : this::select);
            this.writer = new Actor(name + "'s writer", this::writeAll);
            this.returner = new Actor(name + "'s way back", this::goBack);
            this.closer = new Actor(name + "'s closer", this::close);
            this.mover = new Actor(name + "'s mover", moves);
        }

        private void connect(Moving made) {
            try {
                moving = made;
                made.configureBlocking(kind.waits);
                made.begin(() -> isPoked |= isTold());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        private boolean isTold() {
            return switch (plant) {
                case TELLS_NOBODY -> false;
                case TELLS_NO_READER -> running != program || program.place < READS || program.place >= WRITES;
                default -> true;
            };
        }

        private void goBack() {
            try {
                moving.goBack(true);
            } catch (IOException e) {
                // the program finds out
            }
        }

        private boolean hasMoved() {
            return moving.toString().startsWith("begun");
        }

        // ---- the program

        private void readAll() {
            while (!isRead && !hasClosed) {
                running.place = 0;
                readOne();
            }
        }

        private void writeAll() {
            if (this == server) {
                awaitAll();
            }
            while (!isWritten && !hasClosed) {
                running.place = 0;
                writeOne();
            }
        }

        /// Waits for all bytes of the peer.
        private void awaitAll() {
            if (read < peer.bytes) {
                threads.stand("waits for bytes", () -> read == peer.bytes || isRead || hasClosed);
            }
        }

        private void begin() {
            program.begin();
            if (kind.waits) {
                writer.begin();
            }
        }

        private void select() {
            while ((!isRead || !isWritten) && !hasClosed) {
                running.place = 0;
                int wanted = (isRead ? 0 : SelectionKey.OP_READ) | (hasToWrite() ? SelectionKey.OP_WRITE : 0);
                isPoked |= interest != wanted;
                interest = wanted;
                int found = look();
                if (found == 0) {
                    threads.stand("sleep", () -> isPoked || tcp.kernelReadyOps(asked) != 0);
                    found = look();
                }
                ready = found | tcp.kernelReadyOps(asked);
                if ((ready & SelectionKey.OP_READ) != 0) {
                    readOne();
                }
                if ((ready & SelectionKey.OP_WRITE) != 0 && !hasClosed) {
                    writeOne();
                }
            }
        }

        /// Returns whether there are bytes to write, or the end.
        private boolean hasToWrite() {
            boolean mayEnd = !kind.converses || isRead || (this == client && read == peer.bytes);
            return !isWritten && (written < bytes || mayEnd);
        }

        /// Looks at the connection if it was poked or was ready, as the selector does.
        private int look() {
            if (!isPoked && !isHot) {
                return 0;
            }
            isPoked = false;
            asked = moving.kernelOps(interest);
            int found = moving.readyOps(interest);
            isHot = found != 0;
            return found;
        }

        private void readOne() {
            running.place = READS;
            ByteBuffer into = ByteBuffer.allocate(1);
            try {
                int count = moving.read(into);
                if (count > 0 && !hasClosed) {
                    is(into.get(0) == read && read < peer.begun, "reads " + into.get(0) + " as byte " + read);
                    read++;
                } else if (count < 0 && !hasClosed) {
                    is(read >= peer.written && (peer.isWritten || peer.hasClosed), "is at the end after byte " + read);
                    isRead = true;
                    closeWhenDone();
                }
            } catch (IOException e) {
                onFailure(e);
            }
        }

        private void writeOne() {
            running.place = WRITES;
            threads.stand("writes", () -> true);
            try {
                if (written < bytes) {
                    begun = written + 1;
                    written += moving.write(ByteBuffer.wrap(new byte[] {(byte) written}));
                } else {
                    if (kind.waits) {
                        awaitAll();
                    }
                    isWritten = true;
                    moving.shutdownOutput();
                    closeWhenDone();
                }
            } catch (IOException e) {
                onFailure(e);
            }
        }

        private void onFailure(IOException e) {
            boolean isPeers = peer.closedEarly && begun > 0;
            if (!hasClosed && !isPeers && !isFaulty) {
                throw new AssertionError(name + " fails for nothing", e);
            }
            close();
        }

        private void closeWhenDone() {
            if (isRead && isWritten) {
                close();
            }
        }

        private void close() {
            if (!hasClosed) {
                hasClosed = true;
                closedEarly = !isRead;
                running.place = CLOSES;
                closeMoving(moving);
            }
        }

        private void is(boolean isRight, String what) {
            if (!isRight) {
                throw new AssertionError(name + " " + what);
            }
        }

        // ---- steps

        private void addSteps(List<Step> steps) {
            if (!hasClosed) {
                steps.add(Step.fault(() -> name + " closes", closer::begin));
            }
            if (kind.goesBack && !returner.hasBegun && hasMoved()) {
                steps.add(Step.usual(() -> name + " is idle", returner::begin));
            }
            for (Actor each : actors()) {
                each.addSteps(steps);
            }
        }

        private List<Actor> actors() {
            return List.of(program, writer, closer, mover, returner);
        }

        private void checkAtRest() {
            for (Actor each : actors()) {
                is(!each.strand.isUnderWay(), each.name + " waits for ever: " + each.strand.at());
            }
            is(hasClosed, "has not come to its end");
            is(!tcp.isOpen(), "keeps TCP open");
            is(!mover.hasBegun || !stream.isOpen(), "keeps the stream open");
            is(isRead || closedEarly, "has not read the end");
        }
    }

    private final Kind kind;
    private final Plant plant;
    private final Threads threads = new Threads();
    private final List<Actor> actors = new ArrayList<>();
    private final MemoryConnection tcp = new MemoryConnection("TCP:", true, 1, threads);
    private final MemoryConnection stream = new MemoryConnection("the stream:", false, STREAM_ROOM, threads);
    private final MoveListener listener = new MoveListener(() -> null, new Lock(false));
    private final End client;
    private final End server;
    private @Nullable Actor running;
    /// The number of bytes that the server has answered.
    private int answers;
    private boolean isFaulty;
    private boolean isClosed;

    MovingWorld(Kind kind, Plant plant) {
        this.kind = kind;
        this.plant = plant;
        client = new End("the client", kind.fromClient, tcp.client, stream.client, this::ask);
        server = new End("the server", kind.fromServer, tcp.server, stream.server, this::join);
        client.peer = server;
        server.peer = client;
        client.connect(moving(client, true, new Moving.Side() {
            @Override
            public void onBusy(Moving it) {
                throw new AssertionError("it never is");
            }

            @Override
            public void onOver(Moving it) {
                // as a client does
            }
        }));
        accept();
        client.mover.begin();
        if (kind.goesBack) {
            move();
        }
        client.begin();
        server.begin();
    }

    private void move() {
        server.mover.begin();
        while (client.mover.strand.isUnderWay() || server.mover.strand.isUnderWay()) {
            for (Actor each : List.of(client.mover, server.mover)) {
                if (each.strand.isUnderWay() && each.mayGoOn.getAsBoolean()) {
                    each.goOn();
                }
            }
        }
    }

    private Moving moving(End end, boolean isClient, Moving.Side side) {
        try {
            return new Moving(end.tcp, isClient, NEVER, side, new Lock(false), new Lock(false), new Lock(true));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void closeMoving(Moving it) {
        try {
            it.close(-1, false);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    static Fingerprint fingerprint() {
        return new Fingerprint()
                .without(Use.class.getName())
                .without(Lock.class.getName())
                .without(Threads.class.getName())
                .without(Actor.class.getName(), "code", "mayGoOn")
                .without(Moving.class.getName(), "side", "listener")
                .without(MovingWorld.class.getName(), "answers")
                .without(MemoryConnection.End.class.getName(), "listener")
                .without(MoveListener.class.getName(), "streams", "nameless", "isAsked", "listener")
                .without(Strand.class.getName(), "world", "own", "failure");
    }

    // ---- moving

    private void ask() {
        boolean isTaken = false;
        try {
            isTaken = client.moving.ask(client.stream);
        } catch (IOException | InterruptedException e) {
            // as the client does
        } finally {
            if (!isTaken) {
                client.stream.close(-1, false);
            }
        }
    }

    private void join() {
        listener.join(server.stream);
    }

    private void refuse() {
        server.mover.hasBegun = true;
        server.stream.close(-1, false);
    }

    private void accept() {
        Moving made = moving(server, false, listener);
        listener.add(made);
        server.connect(made);
    }

    // ---- SmallWorld

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        client.addSteps(steps);
        server.addSteps(steps);
        if (!server.mover.hasBegun) {
            steps.add(
                    kind.isRefused
                            ? Step.usual(() -> "the listener refuses the stream", this::refuse)
                            : Step.usual(() -> "the listener has the stream", server.mover::begin));
        }
        addFault(steps, tcp, "TCP is reset");
        addFault(steps, stream, "the stream fails");
        return steps;
    }

    private void addFault(List<Step> steps, MemoryConnection which, String name) {
        if (!which.isBroken()) {
            steps.add(Step.fault(() -> name, () -> {
                isFaulty = true;
                which.breakDown();
            }));
        }
    }

    @Override
    public void check() {
        // the programs do
    }

    @Override
    public void checkAtRest() {
        client.checkAtRest();
        server.checkAtRest();
    }

    @Override
    public long now() {
        return Fingerprint.BEGINNING;
    }

    @Override
    public void close() {
        isClosed = true;
        for (Actor each : actors) {
            running = each;
            each.strand.close();
        }
    }
}

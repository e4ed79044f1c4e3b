package verbena.stream;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import verbena.stream.protocol.ByteStream;
import verbena.stream.protocol.StreamEnds;
import verbena.stream.protocol.StreamFailure;
import verbena.stream.protocol.StreamMessage;
import verbena.stream.waiting.DeviceWatch;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.waiting.LeaderFollowers;
import verbena.verbs.waiting.TimeLimits;

/// The stream of a connection. Safe for use by any thread.
final class OpenStream implements LeaderFollowers.Source, DeviceWatch.Stream {
    static final long FOREVER = LeaderFollowers.FOREVER;
    /// The next read would find no byte, but the end or a failure.
    static final int OP_END = 1 << 1;

    private final ConnectionId id;
    private final ByteStream stream;
    private final DeviceWatch.Seat seat;
    private final StreamEnds ends = new StreamEnds();
    private final ReentrantLock lock = new ReentrantLock();
    private final LeaderFollowers threads = new LeaderFollowers(lock, this);
    private final LeaderFollowers.WaitSet waiting = new LeaderFollowers.WaitSet();
    /// Never signalled.
    private final Condition processEnded = lock.newCondition();
    /// There will be no completion any more. By the thread that leads.
    private boolean isBroken;

    // Guarded by the lock, all below.
    /// Whether the connection is over: nothing comes any more, and nothing can be sent.
    private boolean isOver;

    private boolean isInputShut;
    private boolean isOutputShut;
    private boolean isClosing;
    private boolean isClosed;
    /// The process ends.
    private boolean isLast;
    /// Something was sent since [#progress()] looked.
    private boolean hasSent;
    /// The reason why it is over; null when one side has ended it.
    private @Nullable StreamFailure failure;

    /// @param stream that has begun
    /// @param seat of its completion queue, closed with the stream
    OpenStream(ConnectionId id, ByteStream stream, DeviceWatch.Seat seat) {
        this.id = id;
        this.stream = stream;
        this.seat = seat;
        ends.begin();
        seat.take(this);
        StreamCounters.OPENED.increment();
    }

    // ---- what there is to wait for

    private boolean isReadable() {
        return isClosing || isInputShut || isOver || !ends.mayRead() || stream.available() > 0;
    }

    private boolean isWritable() {
        return isClosing || isOutputShut || isOver || !ends.mayWrite() || stream.canSend();
    }

    private boolean isWritableDirectly() {
        return isClosing || isOutputShut || isOver || !ends.mayWrite() || stream.canSendDirectly();
    }

    private boolean isAcknowledged() {
        return isClosing || isOver || stream.unacknowledged() == 0;
    }

    private boolean isSent() {
        return isOver || isClosed || stream.isSent();
    }

    private boolean isControllable() {
        return isOver || isClosed || stream.hasControl();
    }

    private boolean isEnded() {
        return isSent() && (isOver || isClosed || ends.hasSaidNoMore());
    }

    // ---- waiting

    /// Waits until the condition is true. Returns false when `nanos` have passed.
    private boolean await(Predicate<OpenStream> wanted, long nanos) throws InterruptedException {
        if (wanted.test(this)) {
            return true;
        }
        progress();
        return nanos > 0 ? threads.await(waiting, this, wanted, nanos) : wanted.test(this);
    }

    /// Waits as [#await] does, and keeps an interruption for the caller. Returns whether there was an interruption.
    private boolean awaitUninterrupted(Predicate<OpenStream> wanted, long nanos) {
        long start = System.nanoTime();
        boolean interrupted = false;
        while (true) {
            try {
                boolean _ = await(wanted, TimeLimits.left(nanos, start));
                return interrupted;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    @Override
    public void await(long nanos) throws InterruptedException {
        try {
            stream.await(nanos);
        } catch (VerbsException e) {
            isBroken = true;
        }
    }

    @Override
    public void take() {
        if (isBroken) {
            end(StreamFailure.DEVICE); // closed meanwhile, or the device has failed
        }
        progress();
        seat.tell(); // this thread has taken what a notification would have told
    }

    /// Takes the completions, unless a thread leads, and looks at the state of the connection. Threads that wait
    /// for a change look again.
    private void progress() {
        if (isClosed || threads.isLed()) {
            return;
        }
        hasSent = false;
        try {
            int _ = stream.progress();
        } catch (VerbsException e) {
            end(StreamFailure.DEVICE);
        }
        if (ends.look(stream)) {
            end(stream.isOver() ? null : stream.failure());
        } else if (stream.isCutOff()) {
            end(StreamFailure.RESET);
        }
        threads.tell(waiting);
    }

    private void end(@Nullable StreamFailure why) {
        if (!isOver) {
            isOver = true;
            failure = why;
            ends.end();
        }
    }

    // ---- readiness

    /// Returns its place at the device, whose listener runs when one of [#readyOps] may have become possible.
    DeviceWatch.Seat seat() {
        return seat;
    }

    /// Returns the operations among `interestOps` that would not wait. When there is none, the listener runs when
    /// one may have become possible. Without `interestOps` it runs when anything has arrived.
    int readyOps(int interestOps) {
        lock.lock();
        try {
            int ready = opsNow(interestOps);
            if ((ready != 0 && ready == interestOps) || isClosed || isOver) {
                return ready;
            }
            if (ready == 0 && !seat.isArmed()) {
                seat.armed();
                stream.arm(); // before the look: what came before is not notified
            }
            progress();
            return opsNow(interestOps);
        } catch (VerbsException e) {
            end(StreamFailure.DEVICE);
            return opsNow(interestOps);
        } finally {
            lock.unlock();
        }
    }

    private int opsNow(int interestOps) {
        return interestOps
                & ((isReadable() ? SelectionKey.OP_READ : 0)
                        | (isWritable() ? SelectionKey.OP_WRITE : 0)
                        | (isReadable() && stream.available() == 0 ? OP_END : 0));
    }

    // ---- data

    /// Reads the bytes that are there. It waits for the first bytes for `nanos`, zero for not at all.
    ///
    /// @return bytes; -1 at the end; 0 when there is nothing and this call may not wait
    long read(BufferTarget into, long nanos) throws IOException, InterruptedException {
        lock.lock();
        try {
            checkOpen();
            if (isInputShut) {
                return -1;
            }
            checkFailure();
            if (!into.hasRoom()) {
                return 0;
            }
            boolean found = await(OpenStream::isReadable, nanos);
            if (isClosing) {
                throw new AsynchronousCloseException();
            }
            if (isInputShut) {
                return -1;
            }
            if (stream.available() > 0) {
                long bytes = into.take(stream);
                StreamCounters.IN.add(bytes);
                return bytes;
            }
            checkFailure();
            if (!found && nanos > 0) {
                throw new SocketTimeoutException("read: " + id + ": nothing came within " + StreamOptions.limit(nanos));
            }
            return found ? -1 : 0;
        } finally {
            lock.unlock();
        }
    }

    /// Writes all bytes, or as many as there is room for when this call may not wait. The bytes written when the
    /// time is over count, and are no failure.
    ///
    /// @param nanos to wait for room each time; zero for not at all
    long write(BufferSource from, long nanos) throws IOException, InterruptedException {
        lock.lock();
        try {
            checkOpen();
            checkNotShut();
            long bytes = from.remaining();
            if (bytes > 0) {
                beginWrite();
            }
            long done = 0;
            while (done < bytes) {
                boolean found = await(OpenStream::isWritable, nanos);
                checkWritable();
                if (!found) {
                    if (done == 0 && nanos > 0) {
                        throw new SocketTimeoutException(
                                "write: " + id + ": the peer has made no room within " + StreamOptions.limit(nanos));
                    }
                    return done;
                }
                long bytesSent = stream.send(from, done, bytes);
                StreamCounters.OUT.add(bytesSent);
                done += bytesSent;
                hasSent = true;
            }
            return done;
        } finally {
            lock.unlock();
        }
    }

    /// Writes from registered memory, without a copy. A call that may wait returns when the peer's device has
    /// acknowledged all of it.
    ///
    /// @param nanos to wait for room each time, and for the acknowledgement; zero for not at all
    long write(MemoryRegion from, long offset, long length, long nanos) throws IOException, InterruptedException {
        lock.lock();
        try {
            beginWrite();
            BufferSource.requireOf(stream.domain(), from);
            long done = 0;
            boolean inTime = true;
            while (done < length && inTime) {
                inTime = await(OpenStream::isWritableDirectly, nanos);
                checkWritable();
                long bytesSent = inTime ? stream.send(from, offset + done, length - done) : 0;
                StreamCounters.OUT.add(bytesSent);
                done += bytesSent;
                hasSent = true;
            }
            if (nanos > 0) {
                if (!inTime || !await(OpenStream::isAcknowledged, nanos)) {
                    throw new SocketTimeoutException(
                            "write: " + id + ": the peer has acknowledged " + (done - stream.unacknowledged()) + " of "
                                    + length + " bytes within " + StreamOptions.limit(nanos));
                }
                if (stream.unacknowledged() > 0) { // it is over
                    checkWritable();
                }
            }
            return done;
        } finally {
            lock.unlock();
        }
    }

    /// Throws the failure of the connection. A peer that has announced its end may go in any manner: a read finds
    /// the end.
    private void checkFailure() throws IOException {
        if (failure != null && stream.available() == 0 && !stream.peerSendsNoMore()) {
            throw failure.exception(id);
        }
    }

    /// Returns the number of bytes that a read would find now.
    int available() throws ClosedChannelException {
        lock.lock();
        try {
            checkOpen();
            return isInputShut || readyOps(SelectionKey.OP_READ) == 0 ? 0 : stream.available();
        } finally {
            lock.unlock();
        }
    }

    ProtectionDomain domain() {
        return stream.domain();
    }

    /// Returns the number of bytes of registered memory that the device still reads. It reads none once the stream
    /// is closed.
    long unacknowledged() {
        lock.lock();
        try {
            progress();
            return isClosed ? 0 : stream.unacknowledged();
        } finally {
            lock.unlock();
        }
    }

    /// Looks at the connection between two writes, so that the second finds out when the peer has gone. A write
    /// after a read need not look: the read has.
    private void beginWrite() throws IOException {
        checkOpen();
        if (hasSent) {
            progress();
        }
        checkWritable();
    }

    private void checkNotShut() throws AsynchronousCloseException {
        while (isLast) {
            processEnded.awaitUninterruptibly(); // before this thread goes on
        }
        if (isClosing || isOutputShut) {
            throw new AsynchronousCloseException();
        }
    }

    private void checkWritable() throws IOException {
        checkNotShut();
        if (isOver || !ends.mayWrite()) {
            throw failure == null
                    ? new SocketException("Broken pipe: " + id + ": the peer takes nothing more")
                    : failure.exception(id);
        }
    }

    private void checkOpen() throws ClosedChannelException {
        if (isClosing) {
            throw new ClosedChannelException();
        }
    }

    // ---- the end

    /// Ends reading on this side: bytes that come later are not read. A thread that reads finds the end.
    void shutdownInput() throws IOException {
        lock.lock();
        try {
            checkOpen();
            isInputShut = true;
            int what = ends.shutdown(true, false);
            if (what != StreamEnds.NOTHING) {
                say(what);
            } else if (threads.isLed() && !isOver && stream.hasControl()) {
                stream.sendControl(StreamMessage.KEEP_ALIVE); // it completes, so the thread that leads looks
            }
            threads.tell(waiting);
            seat.tell();
        } finally {
            lock.unlock();
        }
    }

    /// Announces to the peer that nothing more is written.
    void shutdownOutput() throws IOException {
        lock.lock();
        try {
            checkOpen();
            isOutputShut = true;
            int what = ends.shutdown(false, true);
            if (what != StreamEnds.NOTHING) {
                say(what);
            }
            threads.tell(waiting);
            seat.tell();
        } finally {
            lock.unlock();
        }
    }

    private void say(int what) {
        boolean interrupted = awaitUninterrupted(OpenStream::isControllable, FOREVER);
        if (!isOver && !isClosed) {
            ends.say(what, stream);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Announces the end of writing to the peer when the process ends, as far as that is possible without waiting.
    /// The threads of the program see nothing of it. One that wants to write waits until the process has gone.
    ///
    /// @param nanos to wait for the lock at most
    @Override
    public void sayLast(long nanos) throws InterruptedException {
        if (!lock.tryLock(nanos, TimeUnit.NANOSECONDS)) {
            return;
        }
        try {
            isLast = true;
            progress();
            sayNoMore();
        } finally {
            lock.unlock();
        }
    }

    private void sayNoMore() {
        if (!isClosing && !isOver && ends.mayWrite() && stream.hasControl()) {
            ends.say(ends.shutdown(false, true), stream);
        }
    }

    /// Waits until the peer has all that was written, and knows that it is the end. After [#sayLast].
    ///
    /// @param nanos to wait at most
    @Override
    public void awaitLast(long nanos) throws InterruptedException {
        long start = System.nanoTime();
        if (!lock.tryLock(nanos, TimeUnit.NANOSECONDS)) {
            return;
        }
        try {
            boolean _ = await(OpenStream::isControllable, Math.max(1, nanos - (System.nanoTime() - start)));
            sayNoMore();
            boolean _ = await(OpenStream::isEnded, Math.max(1, nanos - (System.nanoTime() - start)));
        } finally {
            lock.unlock();
        }
    }

    /// Ends the connection after the written bytes have arrived, and frees its objects.
    ///
    /// @param lingerNanos how long that may take
    void close(long lingerNanos) {
        lock.lock();
        try {
            if (isClosing) {
                return;
            }
            isClosing = true;
            threads.tell(waiting);
            boolean interrupted = Thread.interrupted();
            progress();
            if (!isOver && lingerNanos > 0) {
                interrupted |= sayGoodbye(lingerNanos);
            }
            isClosed = true;
            StreamCounters.CLOSED.increment();
            if (failure != null && !stream.peerSendsNoMore()) {
                StreamCounters.FAILED.increment();
            }
            stream.close(); // first: a queue pair that is there gives back hundreds of receives when it is disconnected
            id.disconnect();
            seat.close();
            threads.tell(waiting);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean sayGoodbye(long nanos) {
        long start = System.nanoTime();
        boolean isSaid = ends.isAll();
        int what = ends.shutdown(true, true);
        boolean interrupted = awaitUninterrupted(OpenStream::isControllable, nanos);
        if (!isSaid && !isOver && stream.hasControl()) {
            ends.say(what, stream);
        }
        interrupted |= awaitUninterrupted(OpenStream::isSent, Math.max(1, nanos - (System.nanoTime() - start)));
        return interrupted;
    }
}

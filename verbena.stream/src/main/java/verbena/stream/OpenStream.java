package verbena.stream;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.stream.protocol.ByteStream;
import verbena.stream.protocol.StreamEnds;
import verbena.stream.protocol.StreamFailure;
import verbena.stream.protocol.StreamMessage;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.ConnectionId;

/// The stream of a connection, and how threads wait for it. Safe for use by any thread.
///
/// A thread that waits leads when no other does: it waits at the completion queue, without the lock, and takes
/// what has come for all. The others wait until the leader tells them, and then one of them leads. Only the leader
/// takes completions while there is one, so none that a leader waits for is taken from under it.
final class OpenStream {
    static final long FOREVER = Long.MAX_VALUE;
    private static final Duration FOREVER_DURATION = Duration.ofDays(36_500);
    private final ConnectionId id;
    private final ByteStream stream;
    private final DeviceWatch.Seat seat;
    private final StreamEnds ends = new StreamEnds();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by the lock, all below.
    private boolean isLed;
    private int followers;
    /// Nothing comes any more, and nothing can be sent.
    private boolean isOver;

    private boolean isInputShut;
    private boolean isOutputShut;
    private boolean isClosing;
    private boolean isClosed;
    /// Something was sent since [#progress()] looked.
    private boolean hasSent;
    /// Why it is over; null when one side has said so.
    private @Nullable StreamFailure failure;

    // Made once, so that no wait makes one.
    private final BooleanSupplier readable = this::isReadable;
    private final BooleanSupplier writable = this::isWritable;
    private final BooleanSupplier writableDirectly = this::isWritableDirectly;
    private final BooleanSupplier acknowledged = this::isAcknowledged;
    private final BooleanSupplier sent = this::isSent;
    private final BooleanSupplier controllable = this::isControllable;

    /// @param stream that has begun
    /// @param seat of its completion queue, closed with the stream
    OpenStream(ConnectionId id, ByteStream stream, DeviceWatch.Seat seat) {
        this.id = id;
        this.stream = stream;
        this.seat = seat;
        ends.begin();
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

    // ---- waiting

    /// Takes what has completed, and sees what has become of the connection. Not while a thread leads.
    private void progress() {
        if (isClosed) {
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
    }

    private void end(@Nullable StreamFailure why) {
        if (!isOver) {
            isOver = true;
            failure = why;
            ends.end();
        }
    }

    /// Waits until there is what is wanted; false when `nanos` have passed.
    private boolean await(BooleanSupplier wanted, long nanos) throws InterruptedException {
        if (wanted.getAsBoolean()) {
            return true;
        }
        long start = nanos == FOREVER ? 0 : System.nanoTime();
        try {
            while (true) {
                if (!isLed) {
                    progress();
                }
                if (wanted.getAsBoolean()) {
                    return true;
                }
                long left = nanos == FOREVER ? nanos : nanos - (System.nanoTime() - start);
                if (left <= 0) {
                    return false;
                }
                if (isLed) {
                    follow(left);
                } else {
                    lead(left);
                }
            }
        } finally {
            tellFollowers(); // one of them has to lead now
        }
    }

    private void tellFollowers() {
        if (followers > 0) {
            changed.signalAll();
        }
    }

    private void lead(long nanos) throws InterruptedException {
        isLed = true;
        lock.unlock();
        boolean isBroken = false;
        try {
            boolean _ = stream.await(nanos == FOREVER ? FOREVER_DURATION : Duration.ofNanos(nanos));
        } catch (VerbsException e) {
            isBroken = true; // closed meanwhile, or the device has failed
        } finally {
            lock.lock();
            isLed = false;
            if (isBroken) {
                end(StreamFailure.DEVICE);
            }
            tellFollowers();
            seat.tell(); // this thread has taken what a notification would have told
        }
    }

    @SuppressWarnings("WaitNotInLoop") // the caller asks again
    private void follow(long nanos) throws InterruptedException {
        followers++;
        try {
            long _ = changed.awaitNanos(nanos);
        } finally {
            followers--;
        }
    }

    /// As [#await], and an interruption waits until the caller is done. Returns whether there was one.
    private boolean awaitUninterrupted(BooleanSupplier wanted, long nanos) {
        long start = System.nanoTime();
        boolean interrupted = false;
        while (true) {
            try {
                long left = nanos == FOREVER ? nanos : Math.max(0, nanos - (System.nanoTime() - start));
                boolean _ = await(wanted, left);
                return interrupted;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    // ---- readiness

    /// From now on `listener` runs when one of [#readyOps] may have become true.
    void listen(Runnable listener) {
        seat.listen(listener);
    }

    /// Those of `interestOps` that would not wait. When there is none, the listener runs when one may have come.
    /// Without `interestOps` it runs when anything has.
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
            if (!isLed) {
                progress();
            }
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
                        | (isReadable() && stream.available() == 0 ? StreamChannel.OP_END : 0));
    }

    // ---- data

    /// Reads what there is; waits for the first bytes for `nanos`, zero for not at all.
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
            boolean found = await(readable, nanos);
            if (isClosing) {
                throw new AsynchronousCloseException();
            }
            if (isInputShut) {
                return -1;
            }
            if (stream.available() > 0) {
                return into.take(stream);
            }
            checkFailure();
            if (!found && nanos > 0) {
                throw new SocketTimeoutException("read: " + id + ": nothing has come in the time that it was given");
            }
            return found ? -1 : 0;
        } finally {
            lock.unlock();
        }
    }

    /// Writes all of it, or what there is room for when this call may not wait. What has been written when the time
    /// is over counts, and is no failure.
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
                boolean found = await(writable, nanos);
                checkWritable();
                if (!found) {
                    if (done == 0 && nanos > 0) {
                        throw new SocketTimeoutException(
                                "write: " + id + ": the peer has made no room in the time that it was given");
                    }
                    return done;
                }
                done += stream.send(from, done, bytes);
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
                inTime = await(writableDirectly, nanos);
                checkWritable();
                done += inTime ? stream.send(from, offset + done, length - done) : 0;
                hasSent = true;
            }
            if (nanos > 0) {
                if (!inTime || !await(acknowledged, nanos)) {
                    throw new SocketTimeoutException("write: " + id + ": the peer has acknowledged "
                            + (done - stream.unacknowledged()) + " of " + length
                            + " bytes in the time that it was given");
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

    /// A peer that has said its end may go as it likes: a read finds the end.
    private void checkFailure() throws IOException {
        if (failure != null && stream.available() == 0 && !stream.peerSendsNoMore()) {
            throw failure.exception(id);
        }
    }

    /// Bytes that a read would find now.
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

    /// Bytes of registered memory that the device still reads; it reads none once the stream is closed.
    long unacknowledged() {
        lock.lock();
        try {
            if (!isLed) {
                progress();
            }
            return isClosed ? 0 : stream.unacknowledged();
        } finally {
            lock.unlock();
        }
    }

    /// Looks between two writes, so that the second finds out when the peer has gone. One that answers what was
    /// read need not look: reading has.
    private void beginWrite() throws IOException {
        checkOpen();
        if (hasSent && !isLed) {
            progress();
        }
        checkWritable();
    }

    private void checkNotShut() throws AsynchronousCloseException {
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

    /// Ends reading here, and what comes is not read. A thread that reads finds the end.
    void shutdownInput() throws IOException {
        lock.lock();
        try {
            checkOpen();
            isInputShut = true;
            int what = ends.shutdown(true, false);
            if (what != StreamEnds.NOTHING) {
                say(what);
            } else if (isLed && !isOver && stream.hasControl()) {
                stream.sendControl(StreamMessage.KEEP_ALIVE); // it completes, so the thread that leads looks
            }
            changed.signalAll();
            seat.tell();
        } finally {
            lock.unlock();
        }
    }

    /// Tells the peer that nothing more is written.
    void shutdownOutput() throws IOException {
        lock.lock();
        try {
            checkOpen();
            isOutputShut = true;
            int what = ends.shutdown(false, true);
            if (what != StreamEnds.NOTHING) {
                say(what);
            }
            changed.signalAll();
            seat.tell();
        } finally {
            lock.unlock();
        }
    }

    private void say(int what) {
        boolean interrupted = awaitUninterrupted(controllable, FOREVER);
        if (!isOver && !isClosed) {
            ends.say(what, stream);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Ends the connection, after what was written has arrived, and frees all of it.
    ///
    /// @param lingerNanos how long that may take
    void close(long lingerNanos) {
        lock.lock();
        try {
            if (isClosing) {
                return;
            }
            isClosing = true;
            changed.signalAll();
            boolean interrupted = Thread.interrupted();
            if (!isLed) {
                progress();
            }
            if (!isOver && lingerNanos > 0) {
                interrupted |= sayGoodbye(lingerNanos);
            }
            isClosed = true;
            id.disconnect();
            stream.close();
            seat.close();
            changed.signalAll();
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
        boolean interrupted = awaitUninterrupted(controllable, nanos);
        if (!isSaid && !isOver && stream.hasControl()) {
            ends.say(what, stream);
        }
        interrupted |= awaitUninterrupted(sent, Math.max(1, nanos - (System.nanoTime() - start)));
        return interrupted;
    }
}

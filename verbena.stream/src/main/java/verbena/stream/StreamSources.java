package verbena.stream;

import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.verbs.InvalidStateException;
import verbena.verbs.WaitSource;
import verbena.verbs.Waitable;

/// The two directions of a [StreamChannel], each a source of a [verbena.verbs.Waiter]. Any thread may use them.
final class StreamSources {
    private final Object channel;
    private final BooleanSupplier isOpen;
    private final Supplier<@Nullable OpenStream> connected;

    final Direction reading = new Direction(SelectionKey.OP_READ);
    final Direction writing = new Direction(SelectionKey.OP_WRITE);

    /// @param channel named in messages
    /// @param isOpen whether the channel is open
    /// @param connected its stream; null until it is connected
    StreamSources(Object channel, BooleanSupplier isOpen, Supplier<@Nullable OpenStream> connected) {
        this.channel = channel;
        this.isOpen = isOpen;
        this.connected = connected;
    }

    /// One direction.
    final class Direction implements Waitable, WaitSource {
        private final int operation;
        /// The listener of the waiter, which learns of a close too; null when none has it.
        private volatile @Nullable Runnable listener;

        private Direction(int operation) {
            this.operation = operation;
        }

        @Override
        public boolean isReady() {
            OpenStream stream = connected.get();
            return hasEnded() || (stream != null && stream.readyOps(operation) != 0);
        }

        @Override
        public boolean hasEnded() {
            return !isOpen.getAsBoolean();
        }

        @Override
        public WaitSource waitSource() {
            return this;
        }

        @Override
        public synchronized void addListener(Runnable added) {
            if (listener != null) {
                throw new InvalidStateException(channel + " is a source of a waiter already");
            }
            OpenStream stream = connected.get();
            if (stream == null && !hasEnded()) {
                throw new NotYetConnectedException();
            }
            listener = added; // first: what comes from now on runs it
            if (stream != null) {
                stream.seat().listen(StreamSources.this::tell);
            }
        }

        @Override
        public synchronized void removeListener(Runnable removed) {
            if (listener == removed) {
                listener = null;
            }
        }

        @Override
        public Optional<Place> place() {
            OpenStream stream = connected.get();
            return stream == null ? Optional.empty() : stream.seat().place();
        }

        private void tell() {
            Runnable to = listener;
            if (to != null) {
                to.run();
            }
        }
    }

    /// Refuses what a waiter has already.
    void requireNoWaiter() {
        if (reading.listener != null || writing.listener != null) {
            throw new InvalidStateException(channel + " is a source of a waiter already");
        }
    }

    /// Runs the listeners of waiters.
    void tell() {
        reading.tell();
        writing.tell();
    }
}

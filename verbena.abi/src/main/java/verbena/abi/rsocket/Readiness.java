package verbena.abi.rsocket;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.abi.PollableDescriptor;
import verbena.abi.rsocket.RsocketState.Phase;

/// The readiness of an [Rsocket] in the terms of poll(2), and its file descriptor, which tells the kernel so.
/// Guarded by the lock of its state.
final class Readiness {
    private static final int POLL_READABLE = 0x41; // POLLIN, POLLRDNORM
    private static final int POLL_WRITABLE = 0x104; // POLLOUT, POLLWRNORM
    private static final int POLL_HANG_UP = 0x2010; // POLLHUP, POLLRDHUP
    private static final int POLL_ALWAYS = 0x10; // POLLHUP

    private final RsocketState state;
    private final BooleanSupplier hasAccepted;

    /// None while a connection waits to be accepted.
    private @Nullable PollableDescriptor descriptor;

    /// A call was told to come again when more can be sent.
    private boolean isWriterWaiting;

    /// @param hasAccepted whether a listener has a connection for the program
    Readiness(RsocketState state, BooleanSupplier hasAccepted) {
        this.state = state;
        this.hasAccepted = hasAccepted;
    }

    /// Makes the file descriptor.
    int open() {
        descriptor = new PollableDescriptor();
        return descriptor.fd();
    }

    void close() {
        if (descriptor != null) {
            descriptor.close();
        }
    }

    /// Records that a call waits until more can be sent.
    void writerWaits() {
        isWriterWaiting = true;
    }

    /// Handles a program that waits for the descriptor.
    ///
    /// @param events of poll(2)
    void awaitedByKernel(int events) {
        isWriterWaiting |= (events & POLL_WRITABLE) != 0 && !isWritable();
    }

    /// Returns which of these events of poll(2) there are.
    int events(int wanted) {
        int all = (isReadable() ? POLL_READABLE : 0)
                | (isWritable() ? POLL_WRITABLE : 0)
                | (isHungUp() ? POLL_HANG_UP : 0);
        return all & (wanted | POLL_ALWAYS);
    }

    /// Lets the descriptor tell what has changed. While the program waits in calls of ours, it does not ask the
    /// kernel. Only a descriptor that lies is corrected.
    ///
    /// @param isWatched whether the program may ask the kernel
    void settle(boolean isWatched) {
        PollableDescriptor told = descriptor;
        if (told == null) {
            return;
        }
        boolean isReadable = isReadable();
        boolean isAsked = isWatched || state.phase != Phase.CONNECTED;
        if (isAsked || !isReadable) {
            told.readable(isReadable);
        }
        if (isWriterWaiting && state.phase != Phase.CONNECTING && isWritable()) {
            isWriterWaiting = false;
        }
        if (isAsked || !isWriterWaiting) {
            told.writable(!isWriterWaiting);
        }
        if (isHungUp()) {
            told.hangUp(); // many a program does not read what there is from one that is hung up
        }
    }

    private boolean isReadable() {
        return hasAccepted.getAsBoolean()
                || state.phase == Phase.ENDED
                || (state.phase == Phase.CONNECTED && !state.ends.mayRead())
                || (state.stream != null && state.stream.available() > 0);
    }

    private boolean isWritable() {
        return state.phase == Phase.ENDED
                || (state.phase == Phase.CONNECTED
                        && (!state.ends.mayWrite() || (state.stream != null && state.stream.canSend())));
    }

    private boolean isHungUp() {
        return state.phase == Phase.ENDED && (state.stream == null || state.stream.available() == 0);
    }
}

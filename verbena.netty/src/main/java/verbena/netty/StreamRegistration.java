package verbena.netty;

import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/// A channel's registration with a [VerbenaIoHandler]. It is its own attachment.
final class StreamRegistration implements IoRegistration {
    private final VerbenaIoHandler handler;
    private final StreamHandle handle;
    private volatile int interestOps;
    private volatile boolean isCancelled;

    /// Whether the registration waits for the handler to look at it.
    final AtomicBoolean isNews = new AtomicBoolean();

    /// The registration to look at after this registration.
    @Nullable
    StreamRegistration nextNews;

    // By the thread of the event loop.
    /// Whether each round looks at this registration.
    boolean isHot;
    /// Whether this registration was seen with a stream.
    boolean isStream;

    StreamRegistration(VerbenaIoHandler handler, StreamHandle handle) {
        this.handler = handler;
        this.handle = handle;
    }

    StreamHandle handle() {
        return handle;
    }

    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // Netty's interface
    public <T> T attachment() {
        return (T) this;
    }

    /// Waits for these operations from now on.
    @Override
    public long submit(IoOps ops) {
        if (!(ops instanceof StreamOps wanted)) {
            throw new IllegalArgumentException("ops: those of a stream, got " + ops);
        }
        interestOps = wanted.value();
        poke();
        return 0;
    }

    int interestOps() {
        return interestOps;
    }

    /// Makes the handler look at this registration when it looks next, or now if it sleeps. Any thread; does not
    /// wait.
    void poke() {
        handler.poke(this);
    }

    @Override
    public boolean isValid() {
        return !isCancelled;
    }

    /// Cancels the registration, in the thread of the event loop.
    @Override
    public boolean cancel() {
        if (isCancelled) {
            return false;
        }
        isCancelled = true;
        handler.forget(this);
        return true;
    }
}

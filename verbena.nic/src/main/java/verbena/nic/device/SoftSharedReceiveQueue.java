package verbena.nic.device;

import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.provider.Arguments;
import verbena.transport.queue.ReceiveQueue;
import verbena.verbs.AsyncEvent;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.spi.OwnedObject;

final class SoftSharedReceiveQueue extends OwnedObject implements SharedReceiveQueue, Placement.Placed {
    private final SoftDomain domain;
    private final ReceiveQueue queue;
    private final SoftReceives receives;
    /// The number by which peers name the queue; null when queue pairs share it.
    private final @Nullable Named named;
    /// The engine of all its queue pairs; null before there is one.
    private @Nullable Engine home;

    /// The parts of a queue that peers name.
    ///
    /// @param completions where its receives complete
    /// @param onClosed called when the queue is being closed
    record Named(OwnedObject xrcDomain, int number, SoftCompletionQueue completions, Consumer<Named> onClosed) {}

    /// Creates a queue that queue pairs share.
    SoftSharedReceiveQueue(SoftDomain domain, int number, int maxWr, int maxSge) {
        this("shared receive queue " + number, domain, null, maxWr, maxSge);
        madeFrom(domain);
    }

    /// Creates a queue that peers name.
    SoftSharedReceiveQueue(SoftDomain domain, Named named, int maxWr, int maxSge) {
        this("shared receive queue 0x" + Integer.toHexString(named.number), domain, named, maxWr, maxSge);
        madeFrom(List.of(domain, named.xrcDomain, named.completions));
    }

    private SoftSharedReceiveQueue(String label, SoftDomain domain, @Nullable Named named, int maxWr, int maxSge) {
        super(label);
        this.domain = domain;
        this.named = named;
        this.queue = new ReceiveQueue(maxWr, maxSge, this::onLimit);
        this.receives = new SoftReceives(true, this, domain, queue, new SoftReceives.Owner() {
            @Override
            public void checkPostable(String verb) {
                checkOpen(verb);
            }

            @Override
            public void posted() {}
        });
    }

    ReceiveQueue queue() {
        return queue;
    }

    SoftDomain domain() {
        return domain;
    }

    /// Returns the parts of a queue that peers name.
    Named named() {
        return Objects.requireNonNull(named, "no peer names it");
    }

    @Override
    public OptionalInt number() {
        Named by = named;
        return by == null ? OptionalInt.empty() : OptionalInt.of(by.number);
    }

    @Override
    public @Nullable Engine home() {
        return home;
    }

    @Override
    public void use(Engine engine) {
        home = engine;
    }

    private void onLimit() {
        domain.core().raise(new AsyncEvent.SharedReceiveQueueEvent(AsyncEvent.Type.SRQ_LIMIT_REACHED, this));
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int maxWr() {
        return queue.capacity();
    }

    @Override
    public int maxSge() {
        return queue.maxSge();
    }

    @Override
    public ReceiveBatch receiveBatch() {
        return receives.begin();
    }

    @Override
    public void armLimit(int limit) {
        checkOpen();
        Arguments.checkLimit(this, limit);
        queue.armLimit(limit);
    }

    @Override
    public int limit() {
        return queue.limit();
    }

    @Override
    protected boolean help() {
        return domain.core().engines.help();
    }

    @Override
    protected void release() {
        Named by = named;
        if (by != null) {
            by.onClosed.accept(by);
        }
        domain.core().sharedReceiveQueues.giveBack();
    }
}

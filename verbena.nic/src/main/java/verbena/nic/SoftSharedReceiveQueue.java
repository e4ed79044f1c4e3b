package verbena.nic;

import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.transport.queue.ReceiveQueue;
import verbena.verbs.AsyncEvent;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.spi.OwnedObject;

final class SoftSharedReceiveQueue extends OwnedObject implements SharedReceiveQueue {
    private final SoftProtectionDomain domain;
    private final ReceiveQueue queue;
    private final SoftReceives receives;
    /// Where all its queue pairs live; null before there is one.
    private @Nullable Engine home;

    SoftSharedReceiveQueue(SoftProtectionDomain domain, int number, int maxWr, int maxSge) {
        super("shared receive queue " + number);
        this.domain = domain;
        this.queue = new ReceiveQueue(maxWr, maxSge, this::onLimit);
        this.receives = new SoftReceives(domain, queue, "maxWr", "maxSge", new SoftReceives.Owner() {
            @Override
            public void checkPostable(String verb) {
                checkOpen(verb);
            }

            @Override
            public void posted() {}

            @Override
            public String label() {
                return SoftSharedReceiveQueue.this.label();
            }
        });
        madeFrom(domain);
    }

    ReceiveQueue queue() {
        return queue;
    }

    SoftProtectionDomain domain() {
        return domain;
    }

    /// Under the lock of the context: see [SoftContext#place].
    @Nullable
    Engine home() {
        return home;
    }

    void home(Engine engine) {
        home = engine;
    }

    private void onLimit() {
        domain.soft().raise(new AsyncEvent.SharedReceiveQueueEvent(AsyncEvent.Type.SRQ_LIMIT_REACHED, this));
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
    public ReceiveBatch receive() {
        return receives.begin();
    }

    @Override
    public void armLimit(int limit) {
        checkOpen();
        if (limit < 0 || limit > queue.capacity()) {
            throw new IllegalArgumentException("armLimit: limit: 0 to " + queue.capacity() + ", got " + limit);
        }
        queue.armLimit(limit);
    }

    @Override
    public int limit() {
        return queue.limit();
    }

    @Override
    protected void release() {
        domain.soft().sharedReceiveQueues.giveBack();
    }
}

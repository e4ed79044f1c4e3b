package verbena.check.device;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import verbena.verbs.CompletionQueue;
import verbena.verbs.internal.DeviceWait;
import verbena.verbs.internal.WaitableChannel;

/// The layer in front of a completion channel whose caller waits by system calls of its own.
final class WaitableCheckedChannel extends CheckedChannel implements WaitableChannel {
    private final WaitableChannel waitable;

    WaitableCheckedChannel(Layer layer, WaitableChannel inner) {
        super(layer, inner);
        this.waitable = inner;
    }

    @Override
    public boolean isOpen() {
        return waitable.isOpen();
    }

    @Override
    public Optional<CompletionQueue> take() {
        return waitable.take().map(this::taken);
    }

    @Override
    public int notifications() {
        return waitable.notifications();
    }

    @Override
    public int visit(MemorySegment pollfds) {
        waiting(true);
        return waitable.visit(pollfds);
    }

    @Override
    public int goOn(MemorySegment pollfds) {
        return waitable.goOn(pollfds);
    }

    @Override
    public void wake() {
        waitable.wake();
    }

    @Override
    public void endVisit() {
        waitable.endVisit();
    }

    @Override
    public void handOver() {
        waitable.handOver();
    }

    @Override
    public DeviceWait waiter(BooleanSupplier isOver) {
        return waitable.waiter(isOver);
    }
}

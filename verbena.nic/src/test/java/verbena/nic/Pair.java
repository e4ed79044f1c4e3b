package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import verbena.nic.device.DeviceContext;
import verbena.nic.roce.LinkDevice;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.CompletionQueue;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// Two devices without threads, at the two ends of a wire in memory, in virtual time.
final class Pair implements AutoCloseable {
    static final int MEMORY_BYTES = 64 << 10;

    final Wire.Clock clock = new Wire.Clock();
    final End a = new End("10.0.0.1", 1);
    final End b = new End("10.0.0.2", 2);

    Pair() {
        a.wire.connect(b.wire);
    }

    /// A pair whose queue pairs are connected.
    static Pair connected() {
        var pair = new Pair();
        pair.a.qp.connect(pair.b.qp.endpoint());
        pair.b.qp.connect(pair.a.qp.endpoint());
        return pair;
    }

    /// One device and one object of each kind.
    final class End {
        final Wire wire;
        final DeviceContext context;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final QueuePair qp;
        final MemoryRegion memory;

        End(String address, long seed) {
            wire = new Wire(address, clock);
            context = (DeviceContext) LinkDevice.open("wire-" + address, wire, clock::nanos, new Random(seed), false);
            domain = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(1_024);
            qp = domain.createQueuePair(QueuePairOptions.rc(cq));
            memory = domain.allocate(MEMORY_BYTES, Access.remoteAll());
        }

        /// Everything in the completion queue, as text that can be compared: `wrId STATUS`.
        List<String> completions() {
            var wc = new WorkCompletion();
            var all = new ArrayList<String>();
            while (cq.poll(wc)) {
                all.add(wc.wrId() + " " + wc.status());
            }
            return all;
        }

        List<AsyncEvent.Type> events() {
            var all = new ArrayList<AsyncEvent.Type>();
            for (var event = context.pollAsyncEvent(); event.isPresent(); event = context.pollAsyncEvent()) {
                all.add(event.get().type());
            }
            return all;
        }

        void closeAll() {
            qp.close();
            memory.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    /// Drives both devices until neither has anything to do at this time.
    void settle() {
        for (int i = 0; i < 100_000; i++) {
            boolean any = a.context.drive();
            any |= b.context.drive();
            if (!any) {
                return;
            }
        }
        assertThat(false).as("the two devices come to rest").isTrue();
    }

    /// Lets time pass from deadline to deadline until no deadline is left, at most this long.
    void settleWithin(long nanos) {
        long end = clock.nanos + nanos;
        settle();
        while (true) {
            long next = Math.min(a.context.deadlineNanos(), b.context.deadlineNanos());
            if (next > end) {
                return;
            }
            clock.nanos = Math.max(clock.nanos, next);
            settle();
        }
    }

    @Override
    public void close() {
        a.context.engine().close();
        b.context.engine().close();
    }
}

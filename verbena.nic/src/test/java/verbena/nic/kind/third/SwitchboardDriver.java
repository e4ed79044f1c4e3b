package verbena.nic.kind.third;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineTask;
import verbena.nic.kind.LocalQueuePair;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.kind.QueuePairWiring;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairCore;
import verbena.transport.Receiving;
import verbena.transport.Scheduled;
import verbena.transport.SendCompletions;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendRequest;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.wire.Frame;

/// Sends by handing the bytes to the peer's engine, which returns an acknowledgement.
final class SwitchboardDriver implements QueuePairDriver, Scheduled {
    private final ProtocolParts parts;
    private final QueuePairCore core;
    private final SendCompletions completions;
    private final Receiving receive;
    private final Engine engine;
    private final EngineTask task;
    private final AtomicLong messages;
    private final ArrayDeque<MemorySegment> waiting = new ArrayDeque<>();
    private @Nullable SwitchboardDriver peer;
    private volatile boolean isStalled;
    /// The next request to hand over.
    private long next;

    SwitchboardDriver(QueuePairWiring wiring, AtomicLong messages) {
        this.parts = wiring.parts();
        this.messages = messages;
        this.core = new QueuePairCore(parts);
        this.completions = new SendCompletions(core, parts.sends(), parts.sendCompletions(), parts.signalAll());
        this.receive = new Receiving(core, parts);
        this.engine = wiring.engine();
        this.task = new EngineTask(this, parts.counters(), wiring.owner());
    }

    static void join(LocalQueuePair one, LocalQueuePair other) {
        var a = (SwitchboardDriver) one.driver();
        var b = (SwitchboardDriver) other.driver();
        a.engine.execute(() -> a.peer = b);
        b.engine.execute(() -> b.peer = a);
    }

    @Override
    public EngineTask task() {
        return task;
    }

    @Override
    public String peer() {
        return "";
    }

    @Override
    public boolean isStalled() {
        return isStalled;
    }

    // ---- departures

    @Override
    public boolean poll(Frame unused, long nowNanos) {
        SwitchboardDriver to = peer;
        deliver();
        while (to != null
                && core.parameters.state == QpState.RTS
                && next < parts.sends().published()) {
            SendRequest request = parts.sends().at(next++);
            MemorySegment message = MemorySegment.ofArray(new byte[(int) request.bytes()]);
            MemoryVerdict verdict = core.memory.gather(
                    request.scatter, core.parameters.protectionDomain, 0, message, 0, (int) request.bytes());
            assert verdict == MemoryVerdict.OK : verdict;
            messages.incrementAndGet();
            to.engine.later(() -> to.onMessage(message));
        }
        return false;
    }

    private void onDelivered() {
        long head = parts.sends().retired();
        SendRequest oldest = parts.sends().at(head);
        completions.succeed(oldest, head + 1);
    }

    // ---- arrivals

    private void onMessage(MemorySegment message) {
        waiting.add(message);
        deliver();
    }

    private void deliver() {
        SwitchboardDriver from = peer;
        isStalled = !waiting.isEmpty(); // before the look at the receives: a poster posts first, then reads isStalled
        while (from != null && !waiting.isEmpty() && receive.open()) {
            MemorySegment message = waiting.remove();
            MemoryVerdict verdict = core.memory.scatter(
                    receive.scatter(), core.parameters.receiveDomain(), 0, message, 0, (int) message.byteSize());
            assert verdict == MemoryVerdict.OK : verdict;
            receive.complete(WcOpcode.RECV, message.byteSize(), 0, 0, false);
            from.engine.later(from::onDelivered);
        }
        isStalled = !waiting.isEmpty();
    }

    // ---- life

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        if (to == QpState.ERR) {
            receive.flush();
        }
    }

    @Override
    public boolean isDraining() {
        return false;
    }

    @Override
    public void breakDown(String cause) {
        core.enter(QpState.ERR, cause);
        receive.flush();
    }

    @Override
    public String rootCause() {
        String root = core.rootCause;
        return root == null ? "" : root;
    }

    @Override
    public long deadlineNanos() {
        return NEVER;
    }

    @Override
    public void onDeadline(long nowNanos) {}
}

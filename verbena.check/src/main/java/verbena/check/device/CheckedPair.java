package verbena.check.device;

import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.TrackedPair;
import verbena.check.TrackedReceives;
import verbena.check.TrackedRequest;
import verbena.check.Watcher.Event;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Endpoint;
import verbena.verbs.EndpointOptions;
import verbena.verbs.FlowRule;
import verbena.verbs.Gid;
import verbena.verbs.PacketFlow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.internal.FaultySends;

/// The layer in front of a queue pair.
final class CheckedPair extends CheckedObject<QueuePair> implements QueuePair {
    private final @Nullable TrackedPair tracked;
    private volatile QpState last = QpState.RESET;

    private CheckedPair(Layer layer, QueuePair inner, @Nullable TrackedPair tracked) {
        super(layer, inner);
        this.tracked = tracked;
    }

    /// Returns the layer in front of a queue pair that a protection domain has made.
    ///
    /// @param options as the program has given them
    static CheckedPair made(Layer layer, QueuePair inner, QueuePairOptions options) {
        if (!(options.sendCq() instanceof CheckedQueue send)
                || !(options.receiveCq() instanceof CheckedQueue receive)) {
            return new CheckedPair(layer, inner, null);
        }
        SharedReceiveQueue shared = options.sharedReceiveQueue().orElse(null);
        TrackedReceives receives =
                shared instanceof CheckedSharedQueue checked ? checked.receives() : TrackedReceives.own();
        var queues = new TrackedPair.Queues(send.tracked(), receive.tracked(), receives);
        var tracked = new TrackedPair(layer.device(), inner, options, queues, CallPlace.here());
        tracked.report();
        layer.device().objects().add(tracked);
        layer.opened(tracked);
        layer.checker().hear(Event.OPEN, watcher -> watcher.onOpen(tracked));
        return new CheckedPair(layer, inner, tracked);
    }

    /// Returns the layer in front of a target of XRC, which posts nothing.
    static CheckedPair target(Layer layer, QueuePair inner) {
        return new CheckedPair(layer, inner, null);
    }

    /// Returns the options with the device's own queues.
    static QueuePairOptions below(QueuePairOptions options) {
        return new QueuePairOptions(
                options.type(),
                CheckedObject.below(options.sendCq()),
                CheckedObject.below(options.receiveCq()),
                options.sharedReceiveQueue().map(CheckedObject::below),
                options.sizes(),
                options.signalAll(),
                options.extensions());
    }

    private QueuePairOptions above(QueuePairOptions options) {
        return new QueuePairOptions(
                options.type(),
                layer().known(CompletionQueue.class, options.sendCq()).orElse(options.sendCq()),
                layer().known(CompletionQueue.class, options.receiveCq()).orElse(options.receiveCq()),
                options.sharedReceiveQueue()
                        .map(queue ->
                                layer().known(SharedReceiveQueue.class, queue).orElse(queue)),
                options.sizes(),
                options.signalAll(),
                options.extensions());
    }

    @Override
    public void close() {
        if (!isClosed()) {
            last = inner().state();
        }
        super.close();
    }

    @Override
    void closed() {
        TrackedPair pair = tracked;
        if (pair == null) {
            return;
        }
        QpState before = last;
        layer().closed(pair);
        layer().device().objects().remove(pair);
        pair.reportNoMore();
        List<TrackedRequest> lost = pair.dropAll();
        layer().checker().hear(Event.CLOSE, watcher -> watcher.onClose(pair, before, lost));
        layer().checker().onDrop(lost);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        ProtectionDomain domain = inner().protectionDomain();
        return layer().known(ProtectionDomain.class, domain).orElse(domain);
    }

    @Override
    public int qpn() {
        return inner().qpn();
    }

    @Override
    public QpType type() {
        return inner().type();
    }

    @Override
    public QpState state() {
        return inner().state();
    }

    @Override
    public SortedMap<String, Long> counters() {
        return inner().counters();
    }

    @Override
    public PacketFlow attachFlow(FlowRule rule) {
        return new CheckedFlow(layer(), inner().attachFlow(rule));
    }

    @Override
    public void attach(@Nullable Object attachment) {
        inner().attach(attachment);
    }

    @Override
    public @Nullable Object attachment() {
        return inner().attachment();
    }

    @Override
    public QueuePairOptions options() {
        return above(inner().options());
    }

    @Override
    public QueuePairAttributes query() {
        QueuePairAttributes below = inner().query();
        return new QueuePairAttributes(
                below.state(),
                below.isSqDraining(),
                below.port(),
                below.pkeyIndex(),
                below.qkey(),
                below.access(),
                below.peer(),
                below.sending(),
                below.receiving(),
                above(below.options()));
    }

    @Override
    public void modify(QpModification modification) {
        QpState before = inner().state();
        inner().modify(modification);
        modified(before);
    }

    @Override
    public void connect(Endpoint remote, EndpointOptions options) {
        QpState before = inner().state();
        inner().connect(remote, options);
        modified(before);
    }

    private void modified(QpState before) {
        TrackedPair pair = tracked;
        if (pair != null) {
            List<TrackedRequest> lost = pair.modified(inner().query(), CallPlace.here());
            layer().checker().hear(Event.MODIFY, watcher -> watcher.onModify(pair, before, lost));
            layer().checker().onDrop(lost);
        }
    }

    @Override
    public Endpoint endpoint(int gidIndex) {
        return inner().endpoint(gidIndex);
    }

    @Override
    public SendBatch sendBatch() {
        SendBatch batch = inner().sendBatch();
        if (tracked == null) {
            return batch;
        }
        return batch instanceof FaultySends faulty
                ? new FaultyCheckedSends(layer(), batch, faulty, tracked)
                : new CheckedSends(layer(), batch, tracked);
    }

    @Override
    public ReceiveBatch receiveBatch() {
        ReceiveBatch batch = inner().receiveBatch();
        return tracked == null
                ? batch
                : new CheckedReceives(layer(), batch, tracked, tracked.queues().receives());
    }

    @Override
    public void attachMulticast(Gid group) {
        inner().attachMulticast(group);
    }

    @Override
    public void detachMulticast(Gid group) {
        inner().detachMulticast(group);
    }
}

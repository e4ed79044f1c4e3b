package verbena.check.device;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.TrackedDevice;
import verbena.check.Watcher.Event;
import verbena.verbs.AsyncEvent;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.DeviceMemory;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.PortAttributes;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.Waitable;
import verbena.verbs.XrcDomain;
import verbena.verbs.internal.WaitableChannel;
import verbena.verbs.spi.ConnectionService;

/// The layer in front of an opened device.
final class CheckedContext extends CheckedObject<Context> implements Context, ConnectionService.Owner {
    private final Device device;
    private @Nullable ConnectionService service;

    CheckedContext(Device device, Context inner, Checker checker, CallPlace opened) {
        super(new Layer(checker, new TrackedDevice(inner, opened)), inner);
        this.device = device;
        checker.opened(layer().device());
    }

    @Override
    void closed() {
        layer().checker().closed(layer().device());
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceAttributes attributes() {
        return inner().attributes();
    }

    @Override
    public PortAttributes port(int port) {
        return inner().port(port);
    }

    @Override
    public List<GidEntry> gids(int port) {
        return inner().gids(port);
    }

    @Override
    public GidEntry gid(int port, int index) {
        return inner().gid(port, index);
    }

    @Override
    public GidEntry gidFor(int port, Gid peer) {
        return inner().gidFor(port, peer);
    }

    @Override
    public int pkey(int port, int index) {
        return inner().pkey(port, index);
    }

    @Override
    public @Nullable QueuePair queuePair(int qpn) {
        QueuePair known = inner().queuePair(qpn);
        return known == null ? null : layer().known(QueuePair.class, known).orElse(null);
    }

    @Override
    public void noteRelease(Object by) {
        layer().checker().hear(Event.HAND_OVER, watcher -> watcher.onHandOver(by, true));
    }

    @Override
    public void noteAcquire(Object by) {
        layer().checker().hear(Event.HAND_OVER, watcher -> watcher.onHandOver(by, false));
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        return new CheckedDomain(layer(), inner().allocateProtectionDomain());
    }

    @Override
    public DeviceMemory allocateDeviceMemory(long bytes) {
        return new CheckedMemory(layer(), inner().allocateDeviceMemory(bytes));
    }

    @Override
    public CompletionQueue createCompletionQueue(CompletionQueueOptions options) {
        var below = new CompletionQueueOptions(
                options.entries(), options.channel().map(CheckedObject::below), options.hasTimestamps());
        return new CheckedQueue(
                layer(),
                inner().createCompletionQueue(below),
                options.channel().orElse(null) instanceof CheckedChannel channel ? channel : null);
    }

    @Override
    public XrcDomain openXrcDomain() {
        return new CheckedXrcDomain(layer(), inner().openXrcDomain());
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        CompletionChannel channel = inner().createCompletionChannel();
        return channel instanceof WaitableChannel waitable
                ? new WaitableCheckedChannel(layer(), waitable)
                : new CheckedChannel(layer(), channel);
    }

    @Override
    public Optional<AsyncEvent> pollAsyncEvent() {
        return inner().pollAsyncEvent().map(this::outer);
    }

    @Override
    public Optional<AsyncEvent> awaitAsyncEvent(Duration timeout) throws InterruptedException {
        return inner().awaitAsyncEvent(timeout).map(this::outer);
    }

    @Override
    public AsyncEvent awaitAsyncEvent() throws InterruptedException {
        return outer(inner().awaitAsyncEvent());
    }

    @Override
    public Waitable asyncEvents() {
        return inner().asyncEvents();
    }

    /// Names the layer's object in an event. An object that was closed meanwhile is named as it was.
    private AsyncEvent outer(AsyncEvent event) {
        return switch (event) {
            case AsyncEvent.QueuePairEvent(var type, var pair) ->
                new AsyncEvent.QueuePairEvent(
                        type, layer().known(QueuePair.class, pair).orElse(pair));
            case AsyncEvent.CompletionQueueEvent(var type, var queue) ->
                new AsyncEvent.CompletionQueueEvent(
                        type, layer().known(CompletionQueue.class, queue).orElse(queue));
            case AsyncEvent.SharedReceiveQueueEvent(var type, var queue) ->
                new AsyncEvent.SharedReceiveQueueEvent(
                        type, layer().known(SharedReceiveQueue.class, queue).orElse(queue));
            case AsyncEvent.PortEvent port -> port;
            case AsyncEvent.DeviceEvent of -> of;
        };
    }

    @Override
    public SortedMap<String, Long> counters() {
        return inner().counters();
    }

    @Override
    public synchronized ConnectionService connectionService() {
        ConnectionService known = service;
        if (known == null) {
            known = new CheckedConnections(ConnectionService.of(inner()), layer());
            service = known;
        }
        return known;
    }
}

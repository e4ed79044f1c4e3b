package verbena.check.litmus;

import java.net.InetSocketAddress;
import java.time.Duration;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.QueuePair;
import verbena.verbs.Transition;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// A connection of two queue pairs by the connection manager, for devices on which programs connect in no other way.
/// It is closed before the queue pairs.
final class TrialConnection implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final EventChannel asking;
    private final EventChannel answering;
    private final ConnectionId asks;
    private final ConnectionId answers;

    TrialConnection(QueuePair one, QueuePair other) throws InterruptedException {
        Context context = other.protectionDomain().context();
        var parameters = ConnectionParameters.defaults();
        asking = EventChannel.open(one.protectionDomain().context());
        answering = EventChannel.open(context);
        asks = asking.createId(PortSpace.TCP);
        try (ConnectionId listener = answering.createId(PortSpace.TCP)) {
            listener.bind(new InetSocketAddress(context.gid(1, 0).gid().address(), 0));
            listener.listen(1);
            asks.resolveAddress(listener.localAddress().orElseThrow());
            await(asking, ConnectionEvent.AddressResolved.class);
            asks.resolveRoute();
            await(asking, ConnectionEvent.RouteResolved.class);
            use(asks, one);
            asks.connect(parameters);
            answers = await(answering, ConnectionEvent.ConnectRequest.class).id();
            use(answers, other);
            answers.accept(parameters);
            await(asking, ConnectionEvent.Established.class);
            await(answering, ConnectionEvent.Established.class);
        }
    }

    private static void use(ConnectionId id, QueuePair queuePair) {
        queuePair.modify(new Transition.ToInit(1, 0, Access.remoteAll()));
        id.useQueuePair(queuePair);
    }

    private static <T extends ConnectionEvent> T await(EventChannel from, Class<T> kind) throws InterruptedException {
        ConnectionEvent event = from.await(LIMIT)
                .orElseThrow(() -> new IllegalStateException("no " + kind.getSimpleName() + " within " + LIMIT));
        if (!kind.isInstance(event)) {
            throw new IllegalStateException("a connection of the program: " + event);
        }
        return kind.cast(event);
    }

    @Override
    public void close() {
        asks.close();
        answers.close();
        asking.close();
        answering.close();
    }
}

package verbena.nic.device;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineTask;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.kind.QueuePairWiring;
import verbena.transport.EngineCounters;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.transport.rc.XrcQueue;
import verbena.verbs.Capability;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.spi.OwnedObject;

/// The objects from which a queue pair is made.
///
/// @param srq null when the queue pair has receives of its own
/// @param target what the queue pair has of its XRC domain, if it is an XRC target; null for all others
record QueuePairParts(
        SoftDomain domain,
        QueuePairOptions options,
        SoftCompletionQueue sendCq,
        SoftCompletionQueue receiveCq,
        @Nullable SoftSharedReceiveQueue srq,
        @Nullable Target target) {
    /// An XRC domain as its targets see it.
    ///
    /// @param queues the open shared receive queues that have a number
    /// @param onClosed called with a target that is being closed
    record Target(
            OwnedObject domain, int number, Engine home, XrcQueue.Finder queues, Consumer<DeviceQueuePair> onClosed) {}

    /// Returns the parts of an XRC target.
    ///
    /// @param none a completion queue in which nothing ever completes
    static QueuePairParts target(Target target, SoftDomain domain, QueuePairOptions options, SoftCompletionQueue none) {
        return new QueuePairParts(domain, options, none, none, null, target);
    }

    DeviceCore core() {
        return domain.core();
    }

    /// Returns the engine that the queue pair will live on.
    Engine home() {
        return target != null ? target.home() : core().placement.place(sendCq, receiveCq, srq);
    }

    QueuePairParameters parameters(int qpn, Engine engine) {
        var parameters = new QueuePairParameters(qpn);
        parameters.protectionDomain = domain.number();
        parameters.sharedDomain = srq == null ? -1 : srq.domain().number();
        parameters.windows = engine.windows();
        parameters.spareFrames = engine.spareFrames();
        parameters.canMigrate = options.type() != QpType.UD
                && core().kind.profile().capabilities().contains(Capability.PATH_MIGRATION);
        return parameters;
    }

    SendQueue sendQueue(InlineMemory inline) {
        return new SendQueue(options.maxSendWr(), options.maxSendSge(), options.maxInlineBytes(), inline);
    }

    ReceiveQueue receiveQueue() {
        if (srq != null) {
            return srq.queue();
        }
        return options.type().isXrc()
                ? new ReceiveQueue(0, DeviceLimits.SGE_MAX, () -> {})
                : new ReceiveQueue(options.maxReceiveWr(), options.maxReceiveSge(), () -> {});
    }

    QueuePairWiring wiring(
            Engine engine,
            QueuePairParameters parameters,
            SendQueue sends,
            ReceiveQueue receives,
            EngineCounters counters,
            QueuePairEvents events,
            EngineTask.Owner owner) {
        parameters.pkeys = core().kind.pkeys();
        var parts = new ProtocolParts(
                parameters,
                sends,
                receives,
                srq != null || target != null,
                options.signalAll(),
                sendCq.ring(),
                receiveCq.ring(),
                core().engines.memory(engine),
                counters,
                events);
        return new QueuePairWiring(
                options.type(),
                engine,
                parts,
                target == null ? null : new QueuePairWiring.XrcDomain(target.number(), target.queues()),
                owner);
    }

    /// Returns the objects that cannot be closed before the queue pair.
    List<OwnedObject> all() {
        List<OwnedObject> all = new ArrayList<>(List.of(domain, sendCq, receiveCq));
        if (srq != null) {
            all.add(srq);
        }
        if (target != null) {
            all.add(target.domain());
        }
        return all;
    }

    void attach(DeviceQueuePair queuePair) {
        sendCq.attach(queuePair);
        receiveCq.attach(queuePair);
    }

    void detach(DeviceQueuePair queuePair) {
        sendCq.detach(queuePair);
        receiveCq.detach(queuePair);
        if (target != null) {
            target.onClosed().accept(queuePair);
        }
    }

    /// Returns the completions that wait in both queues.
    int completionsWaiting() {
        return sendCq.ring().size()
                + (sendCq == receiveCq ? 0 : receiveCq.ring().size());
    }

    /// Returns the capacity of both queues together.
    int completionCapacity() {
        return sendCq.capacity() + (sendCq == receiveCq ? 0 : receiveCq.capacity());
    }
}

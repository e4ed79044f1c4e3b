package verbena.nic.device;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineTask;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.kind.QueuePairWiring;
import verbena.transport.Counters;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.verbs.Capability;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.spi.OwnedObject;

/// The objects from which a queue pair is made.
///
/// @param srq null when the queue pair has receives of its own
/// @param xrcDomain the domain of an XRC target; null for all others
record QueuePairParts(
        SoftProtectionDomain domain,
        QueuePairOptions options,
        SoftCompletionQueue sendCq,
        SoftCompletionQueue receiveCq,
        @Nullable SoftSharedReceiveQueue srq,
        @Nullable SoftXrcDomain xrcDomain) {
    /// The parts of an XRC target.
    ///
    /// @param none a completion queue in which nothing ever completes
    static QueuePairParts target(
            SoftXrcDomain xrcDomain, SoftProtectionDomain domain, QueuePairOptions options, SoftCompletionQueue none) {
        return new QueuePairParts(domain, options, none, none, null, xrcDomain);
    }

    DeviceContext context() {
        return domain.soft();
    }

    /// The engine that the queue pair will live on.
    Engine home() {
        return xrcDomain != null ? xrcDomain.home() : context().placement.place(sendCq, receiveCq, srq);
    }

    QueuePairParameters parameters(int qpn, Engine engine) {
        var parameters = new QueuePairParameters(qpn);
        parameters.protectionDomain = domain.number();
        parameters.sharedDomain = srq == null ? -1 : srq.domain().number();
        parameters.windows = engine.windows();
        parameters.spareFrames = engine.spareFrames();
        parameters.canMigrate = options.type() != QpType.UD
                && context().kind().profile().capabilities().contains(Capability.PATH_MIGRATION);
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
            Counters counters,
            QueuePairEvents events,
            EngineTask.Owner owner) {
        parameters.pkeys = context().kind().pkeys();
        var parts = new ProtocolParts(
                parameters,
                sends,
                receives,
                srq != null || xrcDomain != null,
                options.signalAll(),
                sendCq.ring(),
                receiveCq.ring(),
                context().engines().memory(engine),
                counters,
                events);
        return new QueuePairWiring(
                options.type(),
                engine,
                parts,
                xrcDomain == null ? null : new QueuePairWiring.XrcDomain(xrcDomain.number(), xrcDomain.queues()),
                owner);
    }

    /// The objects that cannot be closed before the queue pair.
    List<OwnedObject> all() {
        List<OwnedObject> all = new ArrayList<>(List.of(domain, sendCq, receiveCq));
        if (srq != null) {
            all.add(srq);
        }
        if (xrcDomain != null) {
            all.add(xrcDomain);
        }
        return all;
    }

    void attach(SoftQueuePair queuePair) {
        sendCq.attach(queuePair);
        receiveCq.attach(queuePair);
    }

    void detach(SoftQueuePair queuePair) {
        sendCq.detach(queuePair);
        receiveCq.detach(queuePair);
        if (xrcDomain != null) {
            xrcDomain.forget(queuePair);
        }
    }

    /// The completions that wait in both queues.
    int completionsWaiting() {
        return sendCq.ring().size()
                + (sendCq == receiveCq ? 0 : receiveCq.ring().size());
    }

    /// The capacity of both queues together.
    int completionCapacity() {
        return sendCq.capacity() + (sendCq == receiveCq ? 0 : receiveCq.capacity());
    }
}

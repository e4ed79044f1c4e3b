package verbena.nic.device;

import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineTask;
import verbena.nic.kind.DeviceKind;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.kind.LocalQueuePair;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.kind.QueuePairWiring;
import verbena.nic.link.LinkException;
import verbena.nic.observe.JfrEvents;
import verbena.nic.observe.ObservedQueuePair;
import verbena.provider.Arguments;
import verbena.provider.PeerConnector;
import verbena.transport.Counter;
import verbena.transport.Counters;
import verbena.transport.Path;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.Retransmission;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.verbs.AddressVector;
import verbena.verbs.AsyncEvent;
import verbena.verbs.ConnectOptions;
import verbena.verbs.DeviceException;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpAttributes;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SendBatch;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.OwnedObject;

/// A queue pair: the posting sides, which belong to the application's threads, and the protocol, which belongs to
/// the engine. Modifying it is a command to the engine.
public final class SoftQueuePair extends OwnedObject implements LocalQueuePair, ObservedQueuePair, QueuePairEvents {

    private final SoftProtectionDomain domain;
    private final DeviceContext context;
    private final Engine engine;
    private final QueuePairOptions options;
    private final SoftCompletionQueue sendCq;
    private final SoftCompletionQueue receiveCq;
    private final QueuePairParameters parameters;
    private final QueuePairSettings settings;
    private final QueuePairDriver driver;
    private final EngineTask station;
    private final Counters counters;
    private final InlineMemory inlineMemory;
    /// Null of an XRC target, which sends nothing.
    private final @Nullable SoftSends sends;
    private final ReceiveQueue receiveQueue;
    private final @Nullable SoftReceives receives;
    /// Of an XRC target; null of all others.
    private final @Nullable SoftXrcDomain xrcDomain;

    /// The engine's state, for posters. Written before anything is flushed and read after anything is published,
    /// so that what is posted while the queue pair breaks down is flushed by one or the other.
    private volatile QpState state = QpState.RESET;

    private final PeerConnector connector;
    private @Nullable Consumer<String> failureListener;
    private @Nullable FirstPacketListener firstPacketListener;
    private @Nullable Runnable accessErrorListener;
    /// Engine: QP_FATAL is raised once in a life of the queue pair.
    private boolean fatalTold;
    /// It is closed, and the engine has let go.
    private volatile boolean ended;

    static SoftQueuePair create(
            SoftProtectionDomain domain,
            QueuePairOptions options,
            SoftCompletionQueue sendCq,
            SoftCompletionQueue receiveCq,
            @Nullable SoftSharedReceiveQueue srq) {
        Engine engine = domain.soft().placement.place(sendCq, receiveCq, srq);
        return create(engine, domain, options, sendCq, receiveCq, srq, null);
    }

    /// A target of an XRC domain.
    ///
    /// @param none in which nothing ever completes
    static SoftQueuePair createTarget(
            SoftXrcDomain xrcDomain, SoftProtectionDomain domain, QueuePairOptions options, SoftCompletionQueue none) {
        return create(xrcDomain.home(), domain, options, none, none, null, xrcDomain);
    }

    private static SoftQueuePair create(
            Engine engine,
            SoftProtectionDomain domain,
            QueuePairOptions options,
            SoftCompletionQueue sendCq,
            SoftCompletionQueue receiveCq,
            @Nullable SoftSharedReceiveQueue srq,
            @Nullable SoftXrcDomain xrcDomain) {
        var made = new SoftQueuePair[1];
        int qpn = engine.add(number -> {
            made[0] = new SoftQueuePair(number, engine, domain, options, sendCq, receiveCq, srq, xrcDomain);
            return made[0].station;
        });
        if (qpn < 0) {
            throw new ResourceLimitException(
                    "createQueuePair", "maxQp", domain.soft().engines().queuePairsMax(), "all are in use; close some");
        }
        JfrEvents.created(made[0]);
        return made[0];
    }

    private SoftQueuePair(
            int qpn,
            Engine engine,
            SoftProtectionDomain domain,
            QueuePairOptions options,
            SoftCompletionQueue sendCq,
            SoftCompletionQueue receiveCq,
            @Nullable SoftSharedReceiveQueue srq,
            @Nullable SoftXrcDomain xrcDomain) {
        super("queue pair 0x" + Integer.toHexString(qpn));
        this.domain = domain;
        this.xrcDomain = xrcDomain;
        this.context = domain.soft();
        this.engine = engine;
        this.options = options;
        this.sendCq = sendCq;
        this.receiveCq = receiveCq;
        this.parameters = new QueuePairParameters(qpn);
        parameters.protectionDomain = domain.number();
        parameters.sharedDomain = srq == null ? -1 : srq.domain().number();
        parameters.windows = engine.windows();
        this.settings = new QueuePairSettings(parameters, type(), context.mtu());
        var inline = new InlineMemory(context.slabs);
        this.inlineMemory = inline;
        var sendQueue = new SendQueue(options.maxSendWr(), options.maxSendSge(), options.maxInlineBytes(), inline);
        this.receiveQueue = srq != null
                ? srq.queue()
                : type().isXrc()
                        ? new ReceiveQueue(0, DeviceLimits.SGE_MAX, () -> {})
                        : new ReceiveQueue(options.maxReceiveWr(), options.maxReceiveSge(), () -> {});
        this.counters = engine.counters().part();
        var wiring = new QueuePairWiring(
                type(),
                engine,
                parameters,
                sendQueue,
                receiveQueue,
                srq != null,
                options.signalAll(),
                sendCq.ring(),
                receiveCq.ring(),
                context.engines().memory(engine),
                xrcDomain == null ? null : new QueuePairWiring.XrcDomain(xrcDomain.number(), xrcDomain.queues()),
                counters,
                this,
                this::breakDown);
        this.driver = context.kind().queuePair(wiring);
        this.station = driver.station();
        this.sends = xrcDomain != null ? null : new SoftSends(this, domain, sendQueue, options);
        this.receives = srq != null || type().isXrc()
                ? null
                : new SoftReceives(false, this, domain, receiveQueue, new ReceiveOwner());
        this.connector = new PeerConnector(this, context, context.random()::nextInt);
        boolean made = false;
        try {
            madeFrom(List.of(domain, sendCq, receiveCq));
            if (srq != null) {
                madeFrom(srq);
            }
            if (xrcDomain != null) {
                madeFrom(xrcDomain);
            }
            made = true;
        } finally {
            if (!made) {
                abandon(); // one of them was closed this moment
                inline.free();
            }
        }
        sendCq.attach(this);
        receiveCq.attach(this);
        context.add(this);
    }

    @Override
    public QueuePairDriver driver() {
        return driver;
    }

    // ---- for those who look from outside, on any thread: what they see may be a moment old

    @Override
    public SortedMap<String, Long> counters() {
        return counters.snapshot();
    }

    @Override
    public long count(Counter counter) {
        return counters.get(counter);
    }

    @Override
    public QueuePairOptions options() {
        return options;
    }

    @Override
    public String deviceName() {
        return context.device().name();
    }

    @Override
    public String rootCause() {
        return driver.rootCause();
    }

    @Override
    public String peer() {
        return driver.peer();
    }

    @Override
    public int peerQpn() {
        return parameters.destinationQpn;
    }

    @Override
    public long sendsOutstanding() {
        return sends == null ? 0 : sends.outstanding();
    }

    @Override
    public long receivesPosted() {
        return receiveQueue.available();
    }

    @Override
    public int receiveCapacity() {
        return receiveQueue.capacity();
    }

    @Override
    public boolean isReceiveShared() {
        return receives == null;
    }

    @Override
    public int completionsWaiting() {
        return sendCq.ring().size()
                + (sendCq == receiveCq ? 0 : receiveCq.ring().size());
    }

    @Override
    public int completionCapacity() {
        return sendCq.capacity() + (sendCq == receiveCq ? 0 : receiveCq.capacity());
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int qpn() {
        return parameters.qpn;
    }

    @Override
    public QpType type() {
        return options.type();
    }

    @Override
    public QpState state() {
        return state;
    }

    // ---- posting

    @Override
    public SendBatch send() {
        if (sends == null) {
            throw new InvalidStateException("send: " + label() + " is an XRC target, which sends nothing");
        }
        return sends.begin();
    }

    void checkSendable(String verb) {
        checkOpen(verb);
        switch (state) {
            case RESET, INIT, RTR ->
                throw new InvalidStateException(verb + ": " + label() + " is in " + state
                        + "; sends can be posted from RTS on (connect, or modify to INIT, RTR and RTS)");
            case RTS, SQD, SQE, ERR -> {}
        }
    }

    @Override
    public Engine engine() {
        return engine;
    }

    /// Sends were posted: so many, and bytes of their messages.
    void ring(int requests, long bytes) {
        engine.ring(station, requests, bytes);
    }

    /// A poster has closed its batch.
    void onBatchClosed() {
        if (ended) {
            freeInlineMemory();
        }
    }

    /// The engine has let go of the inline memory. If somebody has a batch open in which inline data may still be
    /// written, it is freed when that is closed: `ended` is written before the lock is tried, and read after it is
    /// given back.
    private void freeInlineMemory() {
        if (sends == null) {
            inlineMemory.free();
        } else if (sends.tryLock()) {
            try {
                inlineMemory.free();
            } finally {
                sends.unlock();
            }
        }
    }

    @Override
    public ReceiveBatch receive() {
        if (receives == null) {
            throw new InvalidStateException("receive: " + label()
                    + switch (type()) {
                        case XRC_INITIATOR -> " is an XRC initiator, which receives nothing";
                        case XRC_TARGET -> " takes receives from the shared receive queues that its peer names";
                        case RC, UC, UD -> " takes receives from its shared receive queue; post them there";
                    });
        }
        return receives.begin();
    }

    private final class ReceiveOwner implements SoftReceives.Owner {
        @Override
        public void checkPostable(String verb) {
            checkOpen(verb);
            if (state == QpState.RESET) {
                throw new InvalidStateException(
                        verb + ": " + label() + " is in RESET; receives can be posted from INIT on");
            }
        }

        /// Receives need no doorbell, because a packet finds them; but nothing arrives any more in ERR, and a
        /// stream may have stopped for want of one.
        @Override
        public void posted() {
            if (state == QpState.ERR || driver.isStalled()) {
                ring(0, 0); // no send
            }
        }
    }

    // ---- modifying

    @Override
    public void modify(QpModification modification) {
        checkOpen("modify");
        if (sends == null || modification.get(QpAttribute.STATE, QpState.class, state) != QpState.RESET) {
            change(modification);
            return;
        }
        // RESET forgets what is posted: nobody is to publish something from before afterwards.
        sends.checkNotMine("modify");
        if (receives != null) {
            receives.checkNotMine("modify");
        }
        sends.lock();
        try {
            if (receives != null) {
                receives.lock();
            }
            try {
                change(modification);
            } finally {
                if (receives != null) {
                    receives.unlock();
                }
            }
        } finally {
            sends.unlock();
        }
    }

    private void change(QpModification modification) {
        DeviceKind kind = context.kind();
        QueuePairSettings.checkNoMigration(modification);
        QpState _ = kind.check(type(), state, modification);
        settings.checkValues(modification);
        var to = modification.get(QpAttribute.AV, AddressVector.class, QueuePairSettings.NO_PATH);
        Path way = modification.has(QpAttribute.AV) ? context.path("modify: AV", to) : Path.NONE;
        engine.call(() -> {
            // Again, on the engine: it may have broken down or been closed meanwhile.
            checkOpen("modify");
            QpState from = parameters.state;
            QpState next = kind.check(type(), from, modification);
            if (next == QpState.RESET) {
                forget();
            } else {
                settings.apply(modification, to, way);
            }
            parameters.state = next;
            state = next;
            driver.onModified(from, next, engine.nowNanos());
            engine.makeReady(station);
            JfrEvents.modified(this, from, next, false, "");
            return next;
        });
    }

    /// RESET: as freshly made, with another first PSN.
    private void forget() {
        fatalTold = false;
        settings.reset();
        connector.reset();
    }

    @Override
    public QpAttributes query() {
        checkOpen("query");
        return engine.call(() -> settings.attributes(driver.isDraining(), options));
    }

    // ---- connecting

    @Override
    public Endpoint endpoint(int gidIndex) {
        checkOpen("endpoint");
        return connector.endpoint(gidIndex);
    }

    @Override
    public void connect(Endpoint remote, ConnectOptions choices) {
        checkOpen("connect");
        connector.connect(remote, choices);
    }

    @Override
    public void attachMulticast(Gid group) {
        checkMulticast("attachMulticast", group);
        try {
            engine.call(() -> {
                checkOpen("attachMulticast"); // again, on the engine
                engine.attach(station, group);
                return true;
            });
        } catch (LinkException e) {
            throw new DeviceException("attachMulticast: " + e.getMessage(), e);
        }
    }

    @Override
    public void detachMulticast(Gid group) {
        checkMulticast("detachMulticast", group);
        if (!engine.call(() -> engine.detach(station, group))) {
            throw new InvalidStateException("detachMulticast: " + label() + " is not attached to " + group);
        }
    }

    private void checkMulticast(String verb, Gid group) {
        checkOpen(verb);
        Arguments.checkMulticast(verb, context, this, group);
    }

    // ---- by the engine

    @Override
    public void onState(QpState to) {
        JfrEvents.modified(this, state, to, true, driver.rootCause());
        state = to;
        Consumer<String> listener = failureListener;
        if (to == QpState.ERR && listener != null) {
            listener.accept(driver.rootCause());
        }
    }

    @Override
    public void onAsyncEvent(AsyncEvent.Type type) {
        if (type == AsyncEvent.Type.QP_FATAL) {
            if (fatalTold) {
                return;
            }
            fatalTold = true;
        }
        context.raise(new AsyncEvent.QueuePairEvent(type, this));
    }

    @Override
    public void onAccessError() {
        Runnable listener = accessErrorListener;
        if (listener != null) {
            listener.run();
        }
    }

    @Override
    public void onError(long wrId, WcStatus status, WcOpcode opcode, int vendorError, String cause) {
        JfrEvents.error(this, wrId, status, opcode, vendorError, cause);
    }

    @Override
    public void onRetransmission(Retransmission why, int psn, int retriesLeft) {
        JfrEvents.retransmission(this, why, psn, retriesLeft);
    }

    @Override
    public void onRnrNak(int psn, long waitNanos, int retriesLeft) {
        JfrEvents.rnrNak(this, psn, waitNanos, retriesLeft);
    }

    @Override
    public void onReady() {
        engine.makeReady(station);
    }

    @Override
    public void onFirstPacket(boolean isAnswer) {
        FirstPacketListener listener = firstPacketListener;
        if (listener != null) {
            listener.onFirstPacket(isAnswer);
        }
    }

    @Override
    public void firstPacketListener(@Nullable FirstPacketListener listener) {
        firstPacketListener = listener;
    }

    @Override
    public void failureListener(@Nullable Consumer<String> listener) {
        failureListener = listener;
    }

    @Override
    public void accessErrorListener(@Nullable Runnable listener) {
        accessErrorListener = listener;
    }

    @Override
    public void keepAlive(Duration silence) {
        parameters.keepAliveNanos = silence.toNanos();
        if (parameters.state == QpState.RTS && type() == QpType.RC) {
            driver.onModified(QpState.RTS, QpState.RTS, engine.nowNanos());
            engine.makeReady(station);
        }
    }

    @Override
    public void disconnected(String why) {
        if (parameters.state != QpState.RESET) {
            driver.breakDown(why);
            engine.makeReady(station);
        }
    }

    /// Engine: to ERR, for a reason that no completion can tell.
    void breakDown(String cause) {
        QpState from = parameters.state;
        driver.breakDown(cause);
        if (parameters.state != from) {
            onAsyncEvent(AsyncEvent.Type.QP_FATAL);
        }
        engine.makeReady(station);
    }

    @Override
    protected boolean help() {
        return context.engines().help();
    }

    @Override
    protected void release() {
        context.remove(this);
        sendCq.detach(this);
        receiveCq.detach(this);
        if (xrcDomain != null) {
            xrcDomain.forget(this);
        }
        engine.call(() -> {
            parameters.state = QpState.RESET;
            state = QpState.RESET;
            driver.onModified(parameters.state, QpState.RESET, engine.nowNanos());
            engine.remove(qpn(), station);
            return true;
        });
        ended = true;
        freeInlineMemory();
        JfrEvents.closed(this, count(Counter.SENT_PACKETS), count(Counter.RECEIVED_PACKETS));
    }
}

package verbena.nic.device;

import java.time.Duration;
import java.util.SortedMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineTask;
import verbena.nic.kind.FlowTarget;
import verbena.nic.kind.QueuePairDriver;
import verbena.nic.link.LinkException;
import verbena.nic.observe.JfrEvents;
import verbena.provider.Arguments;
import verbena.provider.PeerConnector;
import verbena.provider.Timeouts;
import verbena.transport.Counter;
import verbena.transport.EngineCounters;
import verbena.transport.QueuePairParameters;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.verbs.AsyncEvent;
import verbena.verbs.DeviceException;
import verbena.verbs.Endpoint;
import verbena.verbs.EndpointOptions;
import verbena.verbs.FlowRule;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.PacketFlow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.SendBatch;
import verbena.verbs.spi.OwnedObject;

/// A queue pair: the posting sides, which belong to the application's threads, and the protocol, which belongs to
/// the engine. A modification is a command to the engine.
public final class SoftQueuePair extends OwnedObject implements DeviceQueuePair {
    private final QueuePairParts parts;
    private final DeviceCore core;
    private final Engine engine;
    private final QueuePairParameters parameters;
    private final QueuePairSettings settings;
    private final QueuePairModifier modifier;
    private final QueuePairDriver driver;
    private final EngineTask task;
    private final EngineCounters counters;
    private final InlineMemory inlineMemory;
    /// The sends; null for an XRC target, which sends nothing.
    private final @Nullable SoftSends sends;
    private final ReceiveQueue receiveQueue;
    private final @Nullable SoftReceives receives;

    /// The engine's state, for posters. The engine writes it before it flushes, and a poster reads it after it
    /// publishes. So one of the two flushes a request that is posted while the queue pair breaks down.
    private volatile QpState state = QpState.RESET;

    private final PeerConnector connector;
    private final QueuePairNews news;
    /// Whether the queue pair is closed and the engine no longer uses it.
    private volatile boolean ended;

    static SoftQueuePair create(QueuePairParts parts) {
        Engine engine = parts.home();
        engine.claim("createQueuePair");
        var made = new SoftQueuePair[1];
        int qpn = engine.add(number -> {
            made[0] = new SoftQueuePair(number, engine, parts);
            return made[0].task;
        });
        if (qpn < 0) {
            int max = parts.core().engines.queuePairsMax();
            throw new ResourceLimitException("createQueuePair", "maxQp", max, "all are in use; close some");
        }
        JfrEvents.created(made[0]);
        return made[0];
    }

    private SoftQueuePair(int qpn, Engine engine, QueuePairParts parts) {
        super("queue pair 0x" + Integer.toHexString(qpn));
        this.parts = parts;
        this.core = parts.core();
        this.engine = engine;
        this.parameters = parts.parameters(qpn, engine);
        this.settings = new QueuePairSettings(parameters, type(), core.context.mtu());
        this.modifier = new QueuePairModifier(this, core, parameters, settings);
        this.inlineMemory = new InlineMemory(core.regionMemory);
        SendQueue sendQueue = parts.sendQueue(inlineMemory);
        this.receiveQueue = parts.receiveQueue();
        this.counters = engine.counters().part();
        this.news = new QueuePairNews(this);
        this.driver = core.kind.queuePair(
                parts.wiring(engine, parameters, sendQueue, receiveQueue, counters, news, this::breakDown));
        this.task = driver.task();
        this.sends = parts.target() != null ? null : new SoftSends(this, this, parts.domain(), sendQueue);
        this.receives = parts.srq() != null || type().isXrc()
                ? null
                : new SoftReceives(false, this, parts.domain(), receiveQueue, new ReceiveOwner());
        this.connector = new PeerConnector(this, core.context, core.random::nextInt);
        boolean made = false;
        try {
            madeFrom(parts.all());
            made = true;
        } finally {
            if (!made) {
                abandon(); // one of the parts was closed at this moment
                inlineMemory.free();
            }
        }
        parts.attach(this);
        core.queuePairs.add(this);
    }

    @Override
    public QueuePairDriver driver() {
        return driver;
    }

    // ---- observed from outside, on any thread: the values may be a moment old

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
        return parts.options();
    }

    @Override
    public String deviceName() {
        return core.name();
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
        return parts.completionsWaiting();
    }

    @Override
    public int completionCapacity() {
        return parts.completionCapacity();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return parts.domain();
    }

    @Override
    public int qpn() {
        return parameters.qpn;
    }

    @Override
    public QpType type() {
        return parts.options().type();
    }

    @Override
    public QpState state() {
        return state;
    }

    // ---- posting

    @Override
    public SendBatch sendBatch() {
        if (sends == null) {
            throw new InvalidStateException("send: " + label() + " is an XRC target, which sends nothing");
        }
        return sends.begin();
    }

    @Override
    public void checkSendable(String verb) {
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

    @Override
    public void ring(int requests, long bytes, boolean needNoPackets) {
        engine.ring(task, requests, bytes, needNoPackets);
    }

    @Override
    public void onBatchClosed() {
        if (ended) {
            freeInlineMemory();
        }
    }

    /// Frees the inline memory, which the engine no longer uses. If a thread has a batch open and may still write
    /// inline data, the memory is freed when that batch is closed. `ended` is written before the lock is tried, and
    /// read after it is given back.
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
    public ReceiveBatch receiveBatch() {
        if (receives == null) {
            throw new InvalidStateException("receive: " + label()
                    + switch (type()) {
                        case XRC_INITIATOR -> " is an XRC initiator, which receives nothing";
                        case XRC_TARGET -> " takes receives from the shared receive queues that its peer names";
                        case RC, UC, UD, RAW_PACKET -> " takes receives from its shared receive queue; post them there";
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

        /// Receives need no doorbell, because a packet finds them. There are two exceptions: in ERR nothing
        /// arrives any more, and a stream may have stopped because it had no receive.
        @Override
        public void posted() {
            if (state == QpState.ERR || driver.isStalled()) {
                ring(0, 0, false); // no send
            }
        }
    }

    // ---- modifying

    @Override
    public void modify(QpModification modification) {
        checkOpen("modify");
        if (sends == null || modification.get(QpAttribute.STATE, state) != QpState.RESET) {
            modifier.modify(modification, state);
            return;
        }
        // RESET drops what is posted, so no thread may publish an older request afterwards.
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
                modifier.modify(modification, state);
            } finally {
                if (receives != null) {
                    receives.unlock();
                }
            }
        } finally {
            sends.unlock();
        }
    }

    @Override
    public void forget() {
        news.reset();
        connector.reset();
    }

    @Override
    public void onModified(QpState from, QpState to) {
        state = to;
        driver.onModified(from, to, engine.nowNanos());
        makeReady();
        JfrEvents.modified(this, from, to, false, "");
    }

    @Override
    public QueuePairAttributes query() {
        checkOpen("query");
        return engine.call(() -> settings.attributes(driver.isDraining(), options()));
    }

    // ---- connecting

    @Override
    public Endpoint endpoint(int gidIndex) {
        checkOpen("endpoint");
        return connector.endpoint(gidIndex);
    }

    @Override
    public void connect(Endpoint remote, EndpointOptions choices) {
        checkOpen("connect");
        connector.connect(remote, choices);
    }

    @Override
    public void attachMulticast(Gid group) {
        checkMulticast("attachMulticast", group);
        try {
            engine.call(() -> {
                checkOpen("attachMulticast"); // again, on the engine
                engine.attach(task, group);
                return true;
            });
            awaitGroup(group);
        } catch (LinkException e) {
            throw new DeviceException("attachMulticast: " + e.getMessage(), e);
        }
    }

    @Override
    public PacketFlow attachFlow(FlowRule rule) {
        checkOpen("attachFlow");
        if (!(driver instanceof FlowTarget target)) {
            throw new InvalidStateException("attachFlow: " + label() + " is of type " + type()
                    + "; frames come to queue pairs of type RAW_PACKET");
        }
        return new SoftFlow(this, target, rule);
    }

    private void awaitGroup(Gid group) {
        boolean isMember = false;
        try {
            core.kind.awaitGroup(group);
            isMember = true;
        } finally {
            if (!isMember) {
                engine.call(() -> engine.detach(task, group));
            }
        }
    }

    @Override
    public void detachMulticast(Gid group) {
        checkMulticast("detachMulticast", group);
        if (!engine.call(() -> engine.detach(task, group))) {
            throw new InvalidStateException("detachMulticast: " + label() + " is not attached to " + group);
        }
    }

    private void checkMulticast(String verb, Gid group) {
        checkOpen(verb);
        Arguments.checkMulticast(verb, core.context, this, group);
    }

    // ---- by the engine

    @Override
    public void onMigrated() {
        settings.onMigrated();
    }

    @Override
    public void onState(QpState to) {
        JfrEvents.modified(this, state, to, true, driver.rootCause());
        state = to;
    }

    @Override
    public void raise(AsyncEvent.Type type) {
        core.raise(new AsyncEvent.QueuePairEvent(type, this));
    }

    @Override
    public void makeReady() {
        engine.makeReady(task);
    }

    @Override
    public void migrationListener(@Nullable Runnable listener) {
        news.migrationListener = listener;
    }

    @Override
    public void firstPacketListener(@Nullable FirstPacketListener listener) {
        news.firstPacketListener = listener;
    }

    @Override
    public void failureListener(@Nullable Consumer<String> listener) {
        news.failureListener = listener;
    }

    @Override
    public void accessErrorListener(@Nullable Runnable listener) {
        news.accessErrorListener = listener;
    }

    @Override
    public void keepAlive(Duration silence) {
        parameters.keepAliveNanos = Timeouts.nanos(silence);
        if (parameters.state == QpState.RTS && type() == QpType.RC) {
            driver.onModified(QpState.RTS, QpState.RTS, engine.nowNanos());
            makeReady();
        }
    }

    @Override
    public void disconnected(String why) {
        if (parameters.state != QpState.RESET) {
            driver.breakDown(why);
            makeReady();
        }
    }

    @Override
    public void peerGone(String why) {
        driver.peerGone(why);
        makeReady();
    }

    @Override
    public void breakDown(String cause) {
        QpState from = parameters.state;
        driver.breakDown(cause);
        if (parameters.state != from) {
            news.onAsyncEvent(AsyncEvent.Type.QP_FATAL);
        }
        makeReady();
    }

    @Override
    protected boolean help() {
        return core.engines.help();
    }

    @Override
    protected void release() {
        core.queuePairs.remove(this);
        parts.detach(this);
        engine.call(() -> {
            parameters.state = QpState.RESET;
            state = QpState.RESET;
            driver.onModified(parameters.state, QpState.RESET, engine.nowNanos());
            engine.remove(qpn(), task);
            return true;
        });
        ended = true;
        freeInlineMemory();
        JfrEvents.closed(this, count(Counter.SENT_PACKETS), count(Counter.RECEIVED_PACKETS));
    }
}

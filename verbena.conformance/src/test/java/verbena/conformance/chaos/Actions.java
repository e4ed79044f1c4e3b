package verbena.conformance.chaos;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import verbena.conformance.fixture.DeviceAddress;
import verbena.conformance.fixture.TestEnd;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Advice;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Context;
import verbena.verbs.EndpointOptions;
import verbena.verbs.Gid;
import verbena.verbs.InUseException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.Transition;
import verbena.verbs.VerbsObject;
import verbena.verbs.XrcDomain;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionId.State;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;

/// Everything that a program can do with the verbs, as actions that an actor draws: on objects that all actors
/// share, and that any of them may have closed.
final class Actions {
    private static final int QKEY = 0x0BAD_CAFE;
    /// Of this process on loopback.
    static final String OWN_ADDRESS = "127.%d.%d.%d"
            .formatted(
                    100 + (ProcessHandle.current().pid() >> 16) % 100,
                    ProcessHandle.current().pid() >> 8 & 0xFF,
                    1 + ProcessHandle.current().pid() % 254);
    private static final Duration CONNECT = Duration.ofMillis(500);
    private static final EndpointOptions CONNECTED =
            EndpointOptions.defaults().withRetries(new AckTimeout(12), 2, 2).withMinRnrTimer(new RnrTimer(1));
    private static final List<Set<Access>> RIGHTS = List.of(
            Access.local(),
            Access.remoteAll(),
            Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.MW_BIND),
            Set.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE));

    /// What an action does. Whatever a verb may throw may be thrown.
    @FunctionalInterface
    interface Body {
        void act(Actor by) throws Exception;
    }

    /// @param mayWait a verb that waits until something else happens: ended by an interrupt
    record Action(String name, int weight, boolean isMaking, boolean mayWait, Body body, LongAdder succeeded) {}

    private final Storm storm;
    private final Rights rights;
    private final List<Action> all = new ArrayList<>();
    private int weights;
    private final LongAdder accepted = new LongAdder();
    private final LongAdder rejected = new LongAdder();

    private final Pool<Context> contexts;
    private final Pool<ProtectionDomain> domains = new Pool<>(4);
    private final Pool<CompletionChannel> channels = new Pool<>(2);
    private final Pool<CompletionQueue> queues = new Pool<>(5);
    private final Pool<SharedReceiveQueue> shared = new Pool<>(2);
    private final Pool<MemoryRegion> regions = new Pool<>(8);
    /// Memory that goes while regions on demand name it.
    private final Pool<Memory> arenas = new Pool<>(3);
    private final Pool<MemoryWindow> windows = new Pool<>(3);
    private final Pool<AddressHandle> handles = new Pool<>(2);
    private final Pool<QueuePair> pairs = new Pool<>(6);
    private final Pool<XrcDomain> extendedDomains = new Pool<>(2);
    private final Pool<SharedReceiveQueue> named = new Pool<>(3);
    private final Pool<QueuePair> initiators = new Pool<>(3);
    private final Pool<QueuePair> targets = new Pool<>(3);
    private final Pool<EventChannel> events = new Pool<>(3);
    private final Pool<ConnectionId> ids = new Pool<>(6);
    private final Pool<ConnectionListener> listeners = new Pool<>(2);
    private final Pool<Connection> connections = new Pool<>(5);

    /// An arena that can be closed at any moment.
    private record Memory(Arena arena) implements AutoCloseable {
        MemorySegment allocate() {
            try {
                return arena.allocate(4096, 64);
            } catch (IllegalStateException e) {
                throw new InUseException("allocate", "arena", List.of("closed"));
            }
        }

        @Override
        public void close() {
            try {
                arena.close();
            } catch (IllegalStateException e) {
                if (arena.scope().isAlive()) {
                    throw new InUseException("close", "arena", List.of(String.valueOf(e.getMessage())));
                }
            }
        }
    }

    /// What the device can.
    private record Rights(Set<Capability> of) {
        boolean has(Capability... needed) {
            return of.containsAll(List.of(needed));
        }
    }

    Actions(Storm storm, List<Context> open) {
        this.storm = storm;
        this.contexts = new Pool<>(open.size());
        open.forEach(contexts::add);
        this.rights = new Rights(open.getFirst().attributes().capabilities());
        contexts();
        memory();
        queues();
        queuePairs();
        if (rights.has(Capability.XRC, Capability.ENDPOINTS)) {
            extendedConnections();
        }
        if (rights.has(Capability.CONNECTION_MANAGER)) {
            connections();
            identifiers();
        }
        add("interrupt another", 4, by -> storm.anyActor(by.random).thread.interrupt());
    }

    Action draw(SplittableRandom random) {
        while (true) {
            int at = random.nextInt(weights);
            for (Action each : all) {
                at -= each.weight;
                if (at < 0) {
                    if (each.isMaking && storm.isClosing()) {
                        break;
                    }
                    return each;
                }
            }
        }
    }

    /// How often each has come to its end without an exception.
    Map<String, Long> successes() {
        var counts = new TreeMap<String, Long>();
        all.forEach(each -> counts.put(each.name, each.succeeded.sum()));
        if (rights.has(Capability.CONNECTION_MANAGER)) {
            counts.put("accept a request", accepted.sum());
            counts.put("reject a request", rejected.sum());
        }
        return counts;
    }

    private void add(String name, int weight, Body body) {
        add(name, weight, false, false, body);
    }

    private void add(String name, int weight, boolean isMaking, boolean mayWait, Body body) {
        all.add(new Action(name, weight, isMaking, mayWait, body, new LongAdder()));
        weights += weight;
    }

    /// Makes one into a pool; what it takes the place of is closed, if it is not in use.
    private <T extends AutoCloseable> void make(String name, int weight, Pool<T> into, Maker<T> maker) {
        add(name, weight, true, false, by -> {
            T made = storm.own(maker.make(by));
            Optional<T> before = into.put(by.random, made);
            if (before.isPresent()) {
                before.get().close();
            }
        });
        add("close one: " + name, Math.max(1, weight / 3), by -> {
            T found = any(by, into);
            found.close();
        });
    }

    @FunctionalInterface
    private interface Maker<T> {
        T make(Actor by) throws Exception;
    }

    /// There is nothing to work with yet.
    private static InUseException none() {
        return new InUseException("take", "pool", List.of("nothing yet"));
    }

    private static <T> T any(Actor by, Pool<T> pool) {
        return any(by, pool, _ -> true);
    }

    private static <T> T any(Actor by, Pool<T> pool, Predicate<? super T> fits) {
        return pool.any(by.random, each -> isOpen(each) && fits.test(each)).orElseThrow(Actions::none);
    }

    private static boolean isOpen(Object object) {
        return switch (object) {
            case VerbsObject verbs -> !verbs.isClosed();
            case Connection connection -> !connection.queuePair().isClosed();
            default -> true;
        };
    }

    /// A region of the domain that requests of `qp` may name.
    private MemoryRegion regionFor(Actor by, QueuePair qp) {
        return any(by, regions, each -> each.protectionDomain() == qp.protectionDomain());
    }

    private QueuePair pair(Actor by, QpType... types) {
        return any(by, pairs, each -> List.of(types).contains(each.type()));
    }

    private QueuePair pairInRts(Actor by) {
        return any(by, pairs, each -> each.state() == QpState.RTS && each.type() != QpType.UD);
    }

    private static Duration soon(Actor by) {
        return Duration.ofNanos(by.random.nextInt(5_000_000));
    }

    // ---- contexts, domains, memory

    private void contexts() {
        add("look at a device", 3, by -> {
            Context context = any(by, contexts);
            context.counters();
            context.gids(1);
            context.port(1);
            context.attributes();
        });
        add(
                "poll events of a device",
                2,
                by -> any(by, contexts).pollAsyncEvent().ifPresent(this::look));
        add(
                "await an event of a device",
                2,
                by -> any(by, contexts).awaitAsyncEvent(soon(by)).ifPresent(this::look));
        make("protection domain", 4, domains, by -> any(by, contexts).allocateProtectionDomain());
        add("close anything", 6, by -> storm.anyOwned(by.random).close());
        add("close a device", 1, by -> {
            if (storm.isClosing()) {
                any(by, contexts).close();
            }
        });
    }

    private void look(AsyncEvent event) {
        if (event.type() == AsyncEvent.Type.DEVICE_FATAL) {
            storm.fail("the device has failed", new AssertionError(event.toString()));
        }
    }

    private void memory() {
        make("region", 10, regions, by -> {
            long bytes = by.random.nextInt(4) == 0 ? 128 << 10 : 4096;
            return any(by, domains).allocate(bytes, RIGHTS.get(by.random.nextInt(RIGHTS.size())));
        });
        if (rights.has(Capability.ON_DEMAND_PAGING)) {
            make("arena", 3, arenas, _ -> new Memory(Arena.ofShared()));
            make("region on demand", 4, regions, by -> {
                var access = EnumSet.of(Access.ON_DEMAND);
                access.addAll(RIGHTS.get(by.random.nextInt(RIGHTS.size())));
                return any(by, domains).register(any(by, arenas).allocate(), access);
            });
            add("advise", 2, by -> {
                MemoryRegion region = any(by, regions, each -> each.access().contains(Access.ON_DEMAND));
                Advice advice = Advice.values()[by.random.nextInt(Advice.values().length)];
                if (by.random.nextBoolean()) {
                    region.protectionDomain().advise(advice, region);
                } else {
                    region.protectionDomain().adviseLater(advice, region);
                }
            });
        }
        if (rights.has(Capability.NULL_REGION)) {
            make("null region", 2, regions, by -> any(by, domains).allocateNull());
        }
        if (rights.has(Capability.REREGISTER)) {
            add(
                    "reregister",
                    8,
                    by -> any(by, regions).reregister(any(by, domains), RIGHTS.get(by.random.nextInt(RIGHTS.size()))));
        }
        for (int type = 1; type <= 2; type++) {
            int its = type;
            if (rights.has(type == 1 ? Capability.MEMORY_WINDOW_TYPE_1 : Capability.MEMORY_WINDOW_TYPE_2)) {
                make(
                        "window of type " + type,
                        2,
                        windows,
                        by -> any(by, domains).allocateWindow(MemoryWindow.Type.ofCode(its)));
            }
        }
        if (rights.has(Capability.UD)) {
            make("address handle", 2, handles, by -> {
                Context context = any(by, contexts);
                return any(by, domains)
                        .createAddressHandle(
                                AddressVector.to(Gid.of(DeviceAddress.of(context)), TestEnd.gidIndex(context)));
            });
        }
    }

    // ---- completion queues

    private void queues() {
        make("channel", 2, channels, by -> any(by, contexts).createCompletionChannel());
        make("completion queue", 5, queues, by -> {
            Optional<CompletionChannel> channel =
                    by.random.nextBoolean() ? channels.any(by.random, Actions::isOpen) : Optional.empty();
            Context context = channel.isPresent() ? channel.get().context() : any(by, contexts);
            return context.createCompletionQueue(
                    new CompletionQueueOptions(1 + by.random.nextInt(256), channel, false));
        });
        add("poll", 12, by -> any(by, queues).poll(by.wc));
        add("poll several", 6, by -> any(by, queues).poll(by.several));
        add("await a completion", 12, by -> any(by, queues).await(by.wc, soon(by)));
        add("arm", 6, by -> {
            CompletionQueue queue = any(by, queues);
            if (by.random.nextBoolean()) {
                queue.armSolicited();
            } else {
                queue.arm();
            }
        });
        add("await a channel", 5, by -> any(by, channels).await(soon(by)));
        add("poll a channel", 3, by -> any(by, channels).poll());
        if (rights.has(Capability.RESIZE_CQ)) {
            add("resize", 8, by -> any(by, queues).resize(1 + by.random.nextInt(512)));
        }
        if (rights.has(Capability.SRQ)) {
            make("shared queue", 3, shared, by -> any(by, domains).createSharedReceiveQueue(32, 2));
            add("post to a shared queue", 6, by -> {
                SharedReceiveQueue queue = any(by, shared);
                queue.postReceive(
                        1,
                        any(by, regions, each -> each.protectionDomain() == queue.protectionDomain())
                                .slice(0, 64));
            });
            add("arm a limit", 2, by -> any(by, shared).armLimit(by.random.nextInt(4)));
        }
    }

    // ---- queue pairs

    private QueuePairOptions options(Actor by, QpType type, ProtectionDomain domain) {
        Predicate<CompletionQueue> fits = each -> each.context() == domain.context();
        var options = QueuePairOptions.of(type, any(by, queues, fits))
                .withReceiveCq(any(by, queues, fits))
                .withDepth(16, 16)
                .withSignalAll(by.random.nextBoolean());
        return rights.has(Capability.SRQ) && by.random.nextInt(4) == 0
                ? options.withSharedReceiveQueue(any(by, shared, each -> each.protectionDomain() == domain))
                : options;
    }

    /// Requests that name the shared receive queue of the peer that they are for; some name one of another domain.
    private void extendedConnections() {
        make("extended domain", 2, extendedDomains, by -> any(by, contexts).openXrcDomain());
        make("extended queue", 4, named, by -> {
            XrcDomain domain = any(by, extendedDomains);
            return domain.createSharedReceiveQueue(
                    any(by, domains, each -> each.context() == domain.context()),
                    any(by, queues, each -> each.context() == domain.context()),
                    32,
                    2);
        });
        make("target", 4, targets, by -> any(by, extendedDomains).createTarget());
        make("initiator", 4, initiators, by -> {
            ProtectionDomain domain = any(by, domains);
            return domain.createQueuePair(
                    QueuePairOptions.xrcInitiator(any(by, queues, each -> each.context() == domain.context()))
                            .withDepth(16, 0));
        });
        add("connect an initiator to a target", 10, by -> {
            QueuePair one = any(by, initiators, each -> each.state() == QpState.RESET);
            QueuePair other = any(by, targets, each -> each.state() == QpState.RESET);
            int gid = TestEnd.gidIndex(one.protectionDomain().context());
            one.connect(other.endpoint(gid), CONNECTED);
            other.connect(one.endpoint(gid), CONNECTED);
        });
        add("post to an extended queue", 8, by -> {
            SharedReceiveQueue queue = any(by, named);
            queue.postReceive(
                    1,
                    any(by, regions, each -> each.protectionDomain() == queue.protectionDomain())
                            .slice(0, 64));
        });
        add("send to an extended queue", 20, by -> {
            QueuePair qp = any(by, initiators, each -> each.state() == QpState.RTS);
            MemoryRegion region = regionFor(by, qp);
            MemoryRegion to = any(by, regions);
            int queue = any(by, named).number().orElseThrow();
            try (var batch = qp.sendBatch()) {
                batch.send(3).sge(region, 0, 64).to(queue).signaled();
                batch.write(4, to.address(), to.rkey())
                        .sge(region, 0, 4096)
                        .to(queue)
                        .signaled();
                batch.submit();
            }
        });
        add(
                "reset an end",
                6,
                by -> any(by, by.random.nextBoolean() ? initiators : targets)
                        .modify(new QpModification().withState(QpState.RESET)));
        add(
                "break an end down",
                3,
                by -> any(by, by.random.nextBoolean() ? initiators : targets).modify(new Transition.ToError()));
    }

    private void queuePairs() {
        for (QpType type : QpType.values()) {
            if (!type.isXrc() && type != QpType.RAW_PACKET && rights.has(type.capability())) {
                make("queue pair of type " + type, type == QpType.RC ? 6 : 2, pairs, by -> {
                    ProtectionDomain domain = any(by, domains);
                    return domain.createQueuePair(options(by, type, domain));
                });
            }
        }
        if (rights.has(Capability.ENDPOINTS)) {
            add("connect two", 14, by -> {
                QueuePair one = any(by, pairs, each -> each.type() != QpType.UD && each.state() == QpState.RESET);
                QueuePair other = any(by, pairs, each -> each.type() == one.type() && each.state() == QpState.RESET);
                int gid = TestEnd.gidIndex(one.protectionDomain().context());
                one.connect(other.endpoint(gid), CONNECTED);
                other.connect(one.endpoint(gid), CONNECTED);
            });
        }
        if (rights.has(Capability.UD)) {
            add("datagrams to RTS", 4, by -> {
                QueuePair qp = pair(by, QpType.UD);
                qp.modify(new Transition.ToInitUd(1, 0, QKEY));
                qp.modify(new Transition.ToRtrUd());
                qp.modify(new Transition.ToRtsUnreliable(0));
            });
            add("send a datagram", 6, by -> {
                QueuePair qp = pair(by, QpType.UD);
                int to = pair(by, QpType.UD).qpn();
                AddressHandle way = any(by, handles, each -> each.protectionDomain() == qp.protectionDomain());
                MemoryRegion region = regionFor(by, qp);
                try (var batch = qp.sendBatch()) {
                    batch.send(1).to(way, to, QKEY).sge(region, 0, 32).signaled();
                    batch.submit();
                }
            });
        }
        if (rights.has(Capability.MULTICAST)) {
            Gid group = Gid.of(new InetSocketAddress("239.192.7.7", 0).getAddress());
            add("join a group", 1, by -> pair(by, QpType.UD).attachMulticast(group));
            add("leave a group", 1, by -> pair(by, QpType.UD).detachMulticast(group));
        }
        add("reset", 6, by -> any(by, pairs).modify(new QpModification().withState(QpState.RESET)));
        add("break down", 3, by -> any(by, pairs).modify(new Transition.ToError()));
        if (rights.has(Capability.SQ_DRAIN)) {
            add("drain", 2, by -> {
                QueuePair qp = any(by, pairs);
                qp.modify(new QpModification().withState(QpState.SQD));
                qp.modify(new QpModification().withState(QpState.RTS));
            });
        }
        add("ask a queue pair", 5, by -> {
            QueuePair qp = any(by, pairs);
            qp.query();
            qp.state();
            qp.counters();
        });
        add("post a receive", 14, by -> {
            QueuePair qp = any(by, pairs);
            qp.postReceive(2, regionFor(by, qp).slice(64, 64));
        });
        add("post a SEND", 12, by -> {
            QueuePair qp = pairInRts(by);
            qp.postSend(3, regionFor(by, qp).slice(0, 64));
        });
        add("post a WRITE", 12, by -> {
            QueuePair qp = pairInRts(by);
            MemoryRegion to = any(by, regions);
            qp.postWrite(4, regionFor(by, qp).slice(0, 4096), to.remote());
        });
        if (rights.has(Capability.RDMA_READ)) {
            add("post a READ", 10, by -> {
                QueuePair qp = pairInRts(by);
                MemoryRegion from = any(by, regions);
                qp.postRead(5, from.remote().slice(0, 4096), regionFor(by, qp).slice(0, 4096));
            });
        }
        if (rights.has(Capability.ATOMICS)) {
            add("post an atomic", 5, by -> {
                QueuePair qp = pairInRts(by);
                MemoryRegion of = any(by, regions);
                qp.postFetchAdd(6, of.remote(), 1, regionFor(by, qp).slice(8, 8));
            });
        }
        if (rights.has(Capability.MEMORY_WINDOW_TYPE_1) || rights.has(Capability.MEMORY_WINDOW_TYPE_2)) {
            add("bind a window", 5, by -> {
                QueuePair qp = pairInRts(by);
                MemoryRegion region = regionFor(by, qp);
                MemoryWindow window = any(by, windows, each -> each.protectionDomain() == qp.protectionDomain());
                try (var batch = qp.sendBatch()) {
                    batch.bindWindow(
                                    7,
                                    window,
                                    window.nextRkey(),
                                    region,
                                    region.address(),
                                    by.random.nextInt(64),
                                    Set.of(Access.REMOTE_READ))
                            .signaled()
                            .submit();
                }
            });
        }
        add("hold a batch open", 6, by -> {
            QueuePair qp = pairInRts(by);
            MemoryRegion region = regionFor(by, qp);
            try (var batch = qp.sendBatch()) {
                batch.send(8).sge(region, 0, 8).signaled();
                switch (by.random.nextInt(5)) {
                    case 0 -> any(by, queues).await(by.wc, Duration.ofMillis(1));
                    case 1 -> qp.query();
                    case 2 -> qp.modify(new Transition.ToError());
                    case 3 -> any(by, regions).close();
                    default -> qp.close();
                }
                batch.submit();
            }
        });
    }

    // ---- connections

    private static final ConnectionOptions OPTIONS = ConnectionOptions.defaults()
            .withConnectTimeout(CONNECT)
            .withSizes(new QueuePairOptions.Sizes(8, 8, 1, 1, 0));

    /// Whether the library is to open a device by itself, which it closes soon after the last connection.
    private boolean isByAddress(Actor by) {
        return storm.opensByAddress() && by.random.nextInt(5) == 0;
    }

    private void connections() {
        make("listener", 2, listeners, by -> {
            if (isByAddress(by)) {
                return ConnectionListener.bind(new InetSocketAddress(OWN_ADDRESS, 0), OPTIONS);
            }
            Context context = any(by, contexts);
            return ConnectionListener.bind(
                    new InetSocketAddress(DeviceAddress.of(context), 0), OPTIONS.withDevice(context));
        });
        make(
                "connection",
                6,
                connections,
                by -> Connection.connect(
                        any(by, listeners).localAddress(),
                        isByAddress(by) ? OPTIONS : OPTIONS.withDevice(any(by, contexts))));
        add("accept", 12, true, false, by -> {
            Optional<Connection> accepted = any(by, listeners).accept(soon(by));
            if (accepted.isPresent()) {
                storm.own(accepted.get());
                Optional<Connection> before = connections.put(by.random, accepted.get());
                if (before.isPresent()) {
                    before.get().close();
                }
            }
        });
        add("receive on a connection", 2, false, true, by -> {
            Connection connection = any(by, connections);
            connection.receive(connection.allocate(64).slice(0, 64));
        });
        add("send on a connection", 2, false, true, by -> {
            Connection connection = any(by, connections);
            connection.send(connection.allocate(64).slice(0, 64));
        });
        add("write on a connection", 6, false, true, by -> {
            Connection connection = any(by, connections);
            MemoryRegion to = any(by, connections).allocate(4096, Access.remoteAll());
            connection.write(connection.allocate(4096).slice(0, 4096), to.remote());
        });
        add("post on a connection", 6, by -> {
            Connection connection = any(by, connections);
            connection.queuePair().postReceive(1, connection.allocate(64).slice(0, 64));
            connection.queuePair().postSend(1, connection.allocate(64).slice(0, 64));
            connection.queuePair().options().sendCq().poll(by.wc);
        });
    }

    // ---- identifiers

    private ConnectionId idIn(Actor by, State state) {
        return any(by, ids, each -> each.state() == state);
    }

    private void identifiers() {
        make("event channel", 2, events, by -> EventChannel.open(any(by, contexts)));
        make(
                "identifier",
                6,
                ids,
                by -> any(by, events)
                        .createId(
                                by.random.nextInt(4) == 0 && rights.has(Capability.UD)
                                        ? PortSpace.UDP
                                        : PortSpace.TCP));
        add("bind", 3, by -> idIn(by, State.IDLE).bind(new InetSocketAddress(DeviceAddress.of(any(by, contexts)), 0)));
        add("listen", 3, by -> idIn(by, State.BOUND).listen(1 + by.random.nextInt(4)));
        add("resolve an address", 5, by -> {
            InetSocketAddress to = idIn(by, State.LISTENING).localAddress().orElseThrow(Actions::none);
            idIn(by, State.IDLE)
                    .resolveAddress(
                            new InetSocketAddress(DeviceAddress.of(any(by, contexts)), Math.max(1, to.getPort())));
        });
        add("resolve a route", 5, by -> idIn(by, State.ADDRESS_RESOLVED).resolveRoute());
        add("make a queue pair of an identifier", 5, true, false, by -> {
            ConnectionId id =
                    any(by, ids, each -> each.state() == State.ROUTE_RESOLVED || each.state() == State.REQUESTED);
            makeQueuePair(by, id);
        });
        add("ask", 10, true, false, this::ask);
        add("disconnect", 2, by -> idIn(by, State.CONNECTED).disconnect());
        add("migrate", 2, by -> any(by, ids).migrate(any(by, events)));
        add("poll events", 6, by -> any(by, events).poll().ifPresent(event -> hear(by, event)));
        add("await events", 10, by -> any(by, events).await(soon(by)).ifPresent(event -> hear(by, event)));
    }

    /// From an address to a request, while others may do with the identifier what they like.
    private void ask(Actor by) {
        EventChannel channel = any(by, events);
        ConnectionId listener = any(by, ids, each -> each.state() == State.LISTENING);
        InetSocketAddress to = listener.localAddress().orElseThrow(Actions::none);
        ConnectionId id = storm.own(channel.createId(listener.space()));
        ids.put(by.random, id).ifPresent(ConnectionId::close);
        id.resolveAddress(new InetSocketAddress(DeviceAddress.of(listener.context()), Math.max(1, to.getPort())));
        id.resolveRoute();
        makeQueuePair(by, id);
        id.connect(ConnectionParameters.defaults());
    }

    /// A request is accepted, rejected, or left to others.
    private void hear(Actor by, ConnectionEvent event) {
        if (!(event instanceof ConnectionEvent.ConnectRequest request)) {
            return;
        }
        ConnectionId id = storm.own(request.id());
        ids.put(by.random, id).ifPresent(ConnectionId::close);
        int what = by.random.nextInt(6);
        if (what < 2) {
            id.reject(PrivateData.NONE);
            rejected.increment();
        } else if (what != 2) {
            makeQueuePair(by, id);
            id.accept(ConnectionParameters.defaults());
            accepted.increment();
        }
    }

    private void makeQueuePair(Actor by, ConnectionId id) {
        QpType type = id.space().isDatagram() ? QpType.UD : QpType.RC;
        Context at = id.context();
        ProtectionDomain domain = any(by, domains, each -> each.context() == at);
        storm.own(id.createQueuePair(domain, options(by, type, domain)));
    }
}

package verbena.nic.observe;

import java.lang.management.ManagementFactory;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.jspecify.annotations.Nullable;
import verbena.nic.capture.Capture;
import verbena.nic.link.psp.PspStatus;
import verbena.nic.management.CaptureChunk;
import verbena.nic.management.DeviceMXBean;
import verbena.nic.management.PeerStatus;
import verbena.nic.management.QueuePairStatus;
import verbena.transport.Counter;

/// The MXBeans of the devices that this process has open. The first is registered some seconds after its device was
/// opened, on a thread that then ends. Creating the platform's MBean server loads 300 classes, a few tenths of a
/// second of a processor. A short program should not pay for that, and no program at its start, beside its first
/// connections ([decision 40](../../../../../../../docs/decisions/40-seeing.md)).
public final class Management {
    private static final long DELAY_NANOS = 5_000_000_000L;

    /// The open devices. Guarded by itself, like all fields here.
    private static final Map<ObservedDevice, Opened> OPEN = new LinkedHashMap<>();

    private record Opened(int id, long millis) {}

    private static @Nullable MBeanServer server;
    private static boolean isComing;
    private static int lastId;

    private Management() {}

    public static void opened(ObservedDevice context) {
        synchronized (OPEN) {
            var opened = new Opened(++lastId, System.currentTimeMillis());
            OPEN.put(context, opened);
            if (server != null) {
                register(server, context, opened);
            } else if (!isComing) {
                isComing = true;
                Thread.ofPlatform().daemon().name("verbena-management").start(() -> {
                    LockSupport.parkNanos(DELAY_NANOS);
                    try {
                        begin();
                    } catch (Error e) {
                        // no memory or descriptor is left for it: the devices work, but are not
                        // visible by JMX
                    }
                });
            }
        }
    }

    public static void closed(ObservedDevice context) {
        synchronized (OPEN) {
            Opened opened = OPEN.remove(context);
            if (server == null || opened == null) {
                return;
            }
            try {
                server.unregisterMBean(name(context, opened));
            } catch (JMException e) {
                log(context, e); // the program has removed it itself
            }
        }
    }

    /// Registers the open devices, and from now on each new device at once.
    public static void begin() {
        MBeanServer made = ManagementFactory.getPlatformMBeanServer();
        synchronized (OPEN) {
            if (server == null) {
                server = made;
                OPEN.forEach((context, opened) -> register(made, context, opened));
            }
        }
    }

    private static void register(MBeanServer with, ObservedDevice context, Opened opened) {
        try {
            with.registerMBean(
                    new StandardMBean(new Bean(context, opened.millis), DeviceMXBean.class, true),
                    name(context, opened));
        } catch (JMException e) {
            log(context, e); // the device works, but is not visible by JMX
        }
    }

    private static ObjectName name(ObservedDevice context, Opened opened) throws JMException {
        return new ObjectName(DeviceMXBean.DOMAIN + ":type=Device,name="
                + quoted(context.device().name()) + ",id=" + opened.id);
    }

    private static String quoted(String name) {
        return name.matches("[\\w.@%-]+") ? name : ObjectName.quote(name);
    }

    private static void log(ObservedDevice context, JMException why) {
        System.getLogger("verbena.nic")
                .log(
                        System.Logger.Level.WARNING,
                        "device {0} cannot be seen by JMX: {1}",
                        context.device().name(),
                        why);
    }

    /// A bean that reads device state without the engine. Any thread may read counters and positions of queues;
    /// single values that belong to the engine may be a moment old.
    private static final class Bean implements DeviceMXBean {
        private static final int CHUNK_BYTES_MAX = 8 << 20;

        private final ObservedDevice context;
        private final long openedMillis;
        private final Map<Long, Capture> captures = new ConcurrentHashMap<>();
        private final AtomicLong lastCapture = new AtomicLong();

        Bean(ObservedDevice context, long openedMillis) {
            this.context = context;
            this.openedMillis = openedMillis;
        }

        @Override
        public String getName() {
            return context.device().name();
        }

        @Override
        public long getPid() {
            return ProcessHandle.current().pid();
        }

        @Override
        public long getOpenedMillis() {
            return openedMillis;
        }

        @Override
        public String getTransport() {
            return context.device().transportType().name();
        }

        @Override
        public String getNodeGuid() {
            return "%016x".formatted(context.device().nodeGuid());
        }

        @Override
        public String getState() {
            Throwable failure = context.failure();
            return failure == null ? context.port(1).state().name() : "has failed: " + failure;
        }

        @Override
        public int getActiveMtu() {
            return context.mtu().bytes();
        }

        @Override
        public List<String> getGids() {
            return context.gids(1).stream().map(entry -> entry.gid().toString()).toList();
        }

        @Override
        public Map<String, Long> getCounters() {
            return context.counters();
        }

        @Override
        public List<QueuePairStatus> getQueuePairs() {
            return context.queuePairs().stream()
                    .sorted(Comparator.comparingInt(ObservedQueuePair::qpn))
                    .map(Bean::status)
                    .toList();
        }

        @Override
        public List<PeerStatus> getPeers() {
            return context.peers().stream().map(Bean::status).toList();
        }

        private static PeerStatus status(PspStatus peer) {
            return new PeerStatus(
                    peer.peer().toString(),
                    peer.policy().toString(),
                    peer.isPlain() ? "in the clear" : peer.spi() == 0 ? "agreeing" : "encrypted",
                    peer.cipher(),
                    peer.spi(),
                    TimeUnit.NANOSECONDS.toMillis(peer.ageNanos()),
                    peer.agreements(),
                    peer.sealed(),
                    peer.opened(),
                    peer.dropped());
        }

        @Override
        public long startCapture(int bufferBytes, int packetBytesMax) {
            long id = lastCapture.incrementAndGet();
            captures.values().removeIf(Capture::isClosed);
            captures.put(id, Capture.start(context, bufferBytes, packetBytesMax));
            return id;
        }

        @Override
        public CaptureChunk readCapture(long id, int enough) {
            Capture capture = captures.get(id);
            if (capture == null) {
                throw new IllegalArgumentException("id: there is no capture " + id + " of this device");
            }
            boolean ended = capture.isClosed();
            byte[] blocks = capture.take(Math.clamp(enough, 1, CHUNK_BYTES_MAX));
            return new CaptureChunk(blocks, capture.captured(), capture.lost(), ended && blocks.length == 0);
        }

        @Override
        public void stopCapture(long id) {
            Capture capture = captures.remove(id);
            if (capture != null) {
                capture.close();
            }
        }

        @Override
        public long getNanoTime() {
            return System.nanoTime();
        }

        private static QueuePairStatus status(ObservedQueuePair qp) {
            return new QueuePairStatus(
                    qp.qpn(),
                    qp.type().name(),
                    qp.state().name(),
                    qp.peer(),
                    qp.peerQpn(),
                    qp.count(Counter.SENT_PACKETS),
                    qp.count(Counter.SENT_BYTES),
                    qp.count(Counter.RECEIVED_PACKETS),
                    qp.count(Counter.RECEIVED_BYTES),
                    qp.count(Counter.RETRANSMITTED_PACKETS),
                    qp.count(Counter.ACK_TIMEOUTS),
                    qp.count(Counter.RECEIVED_NAK_SEQUENCE),
                    qp.count(Counter.RECEIVED_NAK_RNR),
                    qp.count(Counter.COMPLETIONS),
                    qp.count(Counter.COMPLETION_ERRORS),
                    qp.sendsOutstanding(),
                    qp.options().maxSendWr(),
                    qp.receivesPosted(),
                    qp.receiveCapacity(),
                    qp.isReceiveShared(),
                    qp.completionsWaiting(),
                    qp.completionCapacity(),
                    qp.rootCause());
        }
    }
}

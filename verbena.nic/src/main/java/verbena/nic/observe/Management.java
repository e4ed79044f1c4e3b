package verbena.nic.observe;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import verbena.nic.capture.Capture;
import verbena.nic.link.psp.PspStatus;
import verbena.nic.management.CaptureChunk;
import verbena.nic.management.DeviceMXBean;
import verbena.nic.management.PeerStatus;
import verbena.nic.management.QueuePairStatus;
import verbena.transport.Counter;
import verbena.verbs.counting.LateBeans;
import verbena.verbs.counting.ProcessCounters;

/// The MXBeans of the devices that this process has open, and their parts of the process's counters
/// ([ProcessCounters]).
public final class Management {
    private static final Map<ObservedDevice, Shown> OPEN = new ConcurrentHashMap<>();
    private static final AtomicInteger LAST_ID = new AtomicInteger();

    private record Shown(String bean, ProcessCounters sums, DeviceFigures figures) {}

    private Management() {}

    /// Shows a device that was opened.
    public static void opened(ObservedDevice context) {
        String name = context.device().name();
        String bean = DeviceMXBean.DOMAIN + ":type=Device,name=" + quoted(name) + ",id=" + LAST_ID.incrementAndGet();
        long millis = System.currentTimeMillis();
        var shown = new Shown(bean, ProcessCounters.of("Device", name.split(",", 2)[0]), new DeviceFigures(context));
        OPEN.put(context, shown);
        LateBeans.show(bean, () -> new StandardMBean(new Bean(context, millis), DeviceMXBean.class, true));
        shown.sums.add(shown.figures);
        LateBeans.beginSoon();
    }

    /// Ends the showing of a device that closes. Its counters stay in those of the process.
    public static void closed(ObservedDevice context) {
        Shown shown = OPEN.remove(context);
        if (shown != null) {
            shown.sums.remove(shown.figures);
            LateBeans.hide(shown.bean);
        }
    }

    private static String quoted(String name) {
        return name.matches("[\\w.@%-]+") ? name : ObjectName.quote(name);
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
                    peer.port(),
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

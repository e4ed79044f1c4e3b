package verbena.nic.observe;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;
import verbena.transport.Retransmission;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.News;

/// The events for the JDK's Flight Recorder: the control path, and failures. A packet without failures causes no
/// event.
///
/// The event classes are not loaded before the first recording, because loading them takes a tenth of a second
/// ([decision 40](../../../../../../../docs/decisions/40-seeing.md)). A caller asks [#isOn()] first
/// where an argument is costly.
@SuppressWarnings("UnusedVariable") // the recorder reads the fields of events
public final class JfrEvents {
    private JfrEvents() {}

    /// Returns whether there is, or has been, a recording; an event itself knows whether it is recorded.
    public static boolean isOn() {
        return FlightRecorder.isInitialized();
    }

    // --- common fields

    private abstract static class OfDevice extends Event {
        @Label("Device")
        @Nullable
        String device;
    }

    private abstract static class OfQueuePair extends OfDevice {
        @Label("Queue Pair Number")
        int qpn;

        final void of(ObservedQueuePair queuePair) {
            device = queuePair.deviceName();
            qpn = queuePair.qpn();
        }
    }

    private abstract static class OfConnection extends OfDevice {
        @Label("Local")
        @Nullable
        String local;

        @Label("Peer")
        @Nullable
        String peer;

        @Label("Queue Pair Number")
        @Description("0 when the program provides the queue pair")
        int qpn;

        final void of(String device, Exchange exchange, int qpn) {
            this.device = device;
            this.local = exchange.local() + " port " + exchange.localPort();
            this.peer = exchange.remote() + " port " + exchange.remotePort();
            this.qpn = qpn;
        }
    }

    // ---- devices

    @Name("verbena.DeviceOpened")
    @Label("Device Opened")
    @Description("A device was opened")
    @Category({"Verbena", "Device"})
    private static final class DeviceOpened extends OfDevice {
        @Label("Transport")
        @Nullable
        String transport;

        @Label("Addresses")
        @Nullable
        String addresses;

        @Label("Engines")
        int engines;
    }

    @Name("verbena.DeviceClosed")
    @Label("Device Closed")
    @Description("A device was closed")
    @Category({"Verbena", "Device"})
    private static final class DeviceClosed extends OfDevice {}

    @Name("verbena.AsyncEvent")
    @Label("Asynchronous Event")
    @Description("An event that belongs to no request (ibv_get_async_event)")
    @Category({"Verbena", "Device"})
    @StackTrace(false)
    private static final class Asynchronous extends OfDevice {
        @Label("Type")
        @Nullable
        String type;

        @Label("Subject")
        @Description("The object of the event")
        @Nullable
        String subject;

        @Label("Reason")
        @Nullable
        String reason;
    }

    public static void opened(String device, String transport, String addresses, int engines) {
        if (isOn()) {
            var event = new DeviceOpened();
            if (event.shouldCommit()) {
                event.device = device;
                event.transport = transport;
                event.addresses = addresses;
                event.engines = engines;
                event.commit();
            }
        }
    }

    public static void closed(String device) {
        if (isOn()) {
            var event = new DeviceClosed();
            event.device = device;
            event.commit();
        }
    }

    public static void async(String device, AsyncEvent.Type type, String subject, String reason) {
        if (isOn()) {
            var event = new Asynchronous();
            if (event.shouldCommit()) {
                event.device = device;
                event.type = type.name();
                event.subject = subject;
                event.reason = reason;
                event.commit();
            }
        }
    }

    // ---- queue pairs

    @Name("verbena.QueuePairCreated")
    @Label("Queue Pair Created")
    @Category({"Verbena", "Queue Pair"})
    private static final class QueuePairCreated extends OfQueuePair {
        @Label("Type")
        @Nullable
        String type;

        @Label("Send Queue Depth")
        int maxSendWr;

        @Label("Receive Queue Depth")
        int maxReceiveWr;
    }

    @Name("verbena.QueuePairModified")
    @Label("Queue Pair Modified")
    @Description("A queue pair was modified, or has changed its state by itself")
    @Category({"Verbena", "Queue Pair"})
    private static final class QueuePairModified extends OfQueuePair {
        @Label("From")
        @Nullable
        String from;

        @Label("To")
        @Nullable
        String to;

        @Label("Peer")
        @Nullable
        String peer;

        @Label("By Itself")
        @Description("The change was made by the protocol or the connection, not by a call")
        boolean byItself;

        @Label("Reason")
        @Nullable
        String reason;
    }

    @Name("verbena.QueuePairClosed")
    @Label("Queue Pair Closed")
    @Category({"Verbena", "Queue Pair"})
    private static final class QueuePairClosed extends OfQueuePair {
        @Label("Packets Sent")
        long packetsSent;

        @Label("Packets Received")
        long packetsReceived;
    }

    public static void created(ObservedQueuePair queuePair) {
        if (isOn()) {
            var event = new QueuePairCreated();
            if (event.shouldCommit()) {
                event.of(queuePair);
                event.type = queuePair.type().name();
                event.maxSendWr = queuePair.options().maxSendWr();
                event.maxReceiveWr = queuePair.options().maxReceiveWr();
                event.commit();
            }
        }
    }

    public static void modified(
            ObservedQueuePair queuePair, QpState from, QpState to, boolean byItself, String reason) {
        if (isOn()) {
            var event = new QueuePairModified();
            if (event.shouldCommit()) {
                event.of(queuePair);
                event.from = from.name();
                event.to = to.name();
                event.peer = queuePair.peer();
                event.byItself = byItself;
                event.reason = reason;
                event.commit();
            }
        }
    }

    public static void closed(ObservedQueuePair queuePair, long packetsSent, long packetsReceived) {
        if (isOn()) {
            var event = new QueuePairClosed();
            if (event.shouldCommit()) {
                event.of(queuePair);
                event.packetsSent = packetsSent;
                event.packetsReceived = packetsReceived;
                event.commit();
            }
        }
    }

    // --- failures

    @Name("verbena.Retransmission")
    @Label("Retransmission")
    @Description("A reliable connection retransmits packets without a response")
    @Category({"Verbena", "Errors"})
    @StackTrace(false)
    private static final class Repeated extends OfQueuePair {
        @Label("Peer")
        @Nullable
        String peer;

        @Label("Reason")
        @Nullable
        String reason;

        @Label("From PSN")
        @Description("The oldest packet without a response")
        int psn;

        @Label("Retries Left")
        int retriesLeft;
    }

    @Name("verbena.RnrNak")
    @Label("RNR NAK Received")
    @Description("The peer had no receive posted, and has asked to wait")
    @Category({"Verbena", "Errors"})
    @StackTrace(false)
    private static final class NotReady extends OfQueuePair {
        @Label("Peer")
        @Nullable
        String peer;

        @Label("PSN")
        int psn;

        @Label("Wait")
        @Timespan(Timespan.NANOSECONDS)
        long waitTime;

        @Label("Retries Left")
        @Description("2147483647 means no limit")
        int retriesLeft;
    }

    @Name("verbena.ErrorCompletion")
    @Label("Error Completion")
    @Description("A request has failed; those that are only flushed do not count")
    @Category({"Verbena", "Errors"})
    @StackTrace(false)
    private static final class Failed extends OfQueuePair {
        @Label("Peer")
        @Nullable
        String peer;

        @Label("Work Request")
        @Description("The number with which it was posted")
        long wrId;

        @Label("Operation")
        @Nullable
        String operation;

        @Label("Status")
        @Nullable
        String status;

        @Label("Vendor Error")
        int vendorError;

        @Label("Reason")
        @Nullable
        String reason;
    }

    /// The kinds of events that packets cause. A caller asks the kind before it makes an event. So a repair
    /// allocates nothing while there is no recording.
    private static final class Kinds {
        private static final EventType REPEATED = EventType.getEventType(Repeated.class);
        private static final EventType NOT_READY = EventType.getEventType(NotReady.class);
        private static final EventType FAILED = EventType.getEventType(Failed.class);
    }

    public static void retransmission(ObservedQueuePair queuePair, Retransmission why, int psn, int retriesLeft) {
        if (isOn() && Kinds.REPEATED.isEnabled()) {
            var event = new Repeated();
            if (event.shouldCommit()) {
                event.of(queuePair);
                event.peer = queuePair.peer();
                event.reason = why.name();
                event.psn = psn;
                event.retriesLeft = retriesLeft;
                event.commit();
            }
        }
    }

    public static void rnrNak(ObservedQueuePair queuePair, int psn, long waitNanos, int retriesLeft) {
        if (isOn() && Kinds.NOT_READY.isEnabled()) {
            var event = new NotReady();
            if (event.shouldCommit()) {
                event.of(queuePair);
                event.peer = queuePair.peer();
                event.psn = psn;
                event.waitTime = waitNanos;
                event.retriesLeft = retriesLeft;
                event.commit();
            }
        }
    }

    public static void error(
            ObservedQueuePair queuePair, long wrId, WcStatus status, WcOpcode opcode, int vendorError, String cause) {
        if (isOn() && Kinds.FAILED.isEnabled()) {
            var event = new Failed();
            if (event.shouldCommit()) {
                event.of(queuePair);
                event.peer = queuePair.peer();
                event.wrId = wrId;
                event.operation = opcode.name();
                event.status = status.name();
                event.vendorError = vendorError;
                event.reason = cause;
                event.commit();
            }
        }
    }

    // ---- memory

    @Name("verbena.MemoryRegistered")
    @Label("Memory Registered")
    @Category({"Verbena", "Memory"})
    private static final class MemoryRegistered extends OfDevice {
        @Label("Key")
        @Description("lkey and rkey")
        int key;

        @Label("Bytes")
        @DataAmount
        long bytes;

        @Label("Address")
        long address;

        @Label("Access")
        @Nullable
        String access;
    }

    @Name("verbena.MemoryClosed")
    @Label("Memory Closed")
    @Description("A memory region was deregistered")
    @Category({"Verbena", "Memory"})
    private static final class MemoryClosed extends OfDevice {
        @Label("Key")
        int key;

        @Label("Bytes")
        @DataAmount
        long bytes;
    }

    public static void registered(String device, MemoryRegion region) {
        if (isOn()) {
            var event = new MemoryRegistered();
            if (event.shouldCommit()) {
                event.device = device;
                event.key = region.rkey();
                event.bytes = region.length();
                event.address = region.address();
                event.access = region.access().toString();
                event.commit();
            }
        }
    }

    public static void closed(String device, MemoryRegion region) {
        if (isOn()) {
            var event = new MemoryClosed();
            if (event.shouldCommit()) {
                event.device = device;
                event.key = region.rkey();
                event.bytes = region.length();
                event.commit();
            }
        }
    }

    // ---- connections

    @Name("verbena.ConnectionMade")
    @Label("Connection Made")
    @Description("The peer has agreed, or is ready")
    @Category({"Verbena", "Connection"})
    @StackTrace(false)
    private static final class ConnectionMade extends OfConnection {}

    @Name("verbena.ConnectionRejected")
    @Label("Connection Rejected")
    @Description("A connection failed: the peer has refused it or cannot be reached, or this side has refused it")
    @Category({"Verbena", "Connection"})
    @StackTrace(false)
    private static final class ConnectionRejected extends OfConnection {
        @Label("Reason")
        @Nullable
        String reason;
    }

    @Name("verbena.ConnectionEnded")
    @Label("Connection Ended")
    @Category({"Verbena", "Connection"})
    @StackTrace(false)
    private static final class ConnectionEnded extends OfConnection {
        @Label("By")
        @Nullable
        String by;

        @Label("Reason")
        @Nullable
        String reason;
    }

    public static void news(String device, Exchange exchange, int qpn, News news) {
        if (!isOn()) {
            return;
        }
        switch (news) {
            case News.Accepted _, News.Established _ -> {
                var event = new ConnectionMade();
                if (event.shouldCommit()) {
                    event.of(device, exchange, qpn);
                    event.commit();
                }
            }
            case News.Rejected rejected -> rejected(device, exchange, qpn, rejected.why());
            case News.Unreachable unreachable -> rejected(device, exchange, qpn, unreachable.why());
            case News.Disconnected(EndedBy by, String why) -> {
                var event = new ConnectionEnded();
                if (event.shouldCommit()) {
                    event.of(device, exchange, qpn);
                    event.by = by.name();
                    event.reason = why;
                    event.commit();
                }
            }
            case News.TimewaitExit _ -> {}
        }
    }

    @Name("verbena.PeerBlocked")
    @Label("Peer Blocked")
    @Description(
            "A peer gets no connections for a while: its earlier ones have asked for memory to which they have no right")
    @Category({"Verbena", "Connection"})
    @StackTrace(false)
    private static final class PeerBlocked extends OfDevice {
        @Label("Peer")
        @Nullable
        String peer;
    }

    public static void blocked(String device, Gid peer) {
        if (isOn()) {
            var event = new PeerBlocked();
            if (event.shouldCommit()) {
                event.device = device;
                event.peer = peer.toString();
                event.commit();
            }
        }
    }

    public static void rejected(String device, Exchange exchange, int qpn, String why) {
        if (isOn()) {
            var event = new ConnectionRejected();
            if (event.shouldCommit()) {
                event.of(device, exchange, qpn);
                event.reason = why;
                event.commit();
            }
        }
    }
}

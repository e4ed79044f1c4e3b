package verbena.tools.observe;

import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import verbena.nic.management.PeerStatus;
import verbena.nic.management.QueuePairStatus;
import verbena.tools.observe.Look.DeviceLook;
import verbena.tools.observe.Look.ProcessLook;

/// Two looks as a table: rates are what has changed between them. Text in, text out.
public final class TopTable {
    /// The order of queue pairs, the greatest first.
    public enum Order {
        RATE,
        RETRIES,
        QUEUE,
        ERRORS,
        NUMBER;

        public Order next() {
            return values()[(ordinal() + 1) % values().length];
        }

        /// Returns its name in options.
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final String DEVICES =
            "    PID DEVICE                STATE    QPS  TX pkt/s  RX pkt/s   TX B/s   RX B/s  RETRANS  DROPPED   ERRORS  PROGRAM";
    private static final String QUEUE_PAIRS =
            "    PID QP       TYPE STATE PEER                      TX pkt/s  RX pkt/s   TX B/s   RX B/s  RETRANS  RNR        SQ"
                    + "          RQ      CQ   ERRORS";
    private static final int PEER_CHARS = 24;
    private static final int PEERS_MAX = 8;
    private static final double NANOS_PER_SECOND = 1e9;

    private TopTable() {}

    /// A queue pair and how fast it is.
    private record Line(
            long pid,
            QueuePairStatus is,
            double sentPackets,
            double receivedPackets,
            double sentBytes,
            double receivedBytes,
            long retries) {}

    /// Returns the lines of the table.
    ///
    /// @param before null for the first look: no rates yet
    public static List<String> lines(@Nullable Look before, Look now, Order order) {
        var lines = new ArrayList<String>();
        var queuePairs = new ArrayList<Line>();
        int devices = 0;
        var body = new ArrayList<String>();
        for (ProcessLook process : now.processes()) {
            if (process.trouble() != null) {
                body.add(String.format(Locale.ROOT, "%7d %s", process.pid(), process.trouble()));
            } else if (process.devices().isEmpty()) {
                body.add(String.format(
                        Locale.ROOT, "%7d %-100s  %s", process.pid(), "(no device yet)", process.program()));
            }
            for (DeviceLook device : process.devices()) {
                devices++;
                DeviceLook was = before == null ? null : before.device(process.pid(), device.id());
                body.add(line(process, was, device));
                if (device.count("direct.requests") > 0) {
                    body.add(oneSided(was, device));
                }
                if (device.count("direct.messages") > 0) {
                    body.add(messages(was, device));
                }
                body.addAll(peers(device));
                add(queuePairs, process.pid(), was, device);
            }
        }
        lines.add(String.format(
                Locale.ROOT,
                "verbena top  %s  %s, %s, %s; by %s",
                LocalTime.ofInstant(Instant.ofEpochMilli(now.timeMillis()), ZoneId.systemDefault())
                        .truncatedTo(ChronoUnit.SECONDS),
                count(now.processes().size(), "process", "processes"),
                count(devices, "device", "devices"),
                count(queuePairs.size(), "queue pair", "queue pairs"),
                order.label()));
        lines.add("");
        lines.add(DEVICES);
        lines.addAll(body);
        lines.add("");
        lines.add(QUEUE_PAIRS);
        queuePairs.sort(comparator(order));
        for (Line each : queuePairs) {
            lines.add(line(each));
            if (!each.is.cause().isEmpty()) {
                lines.add("                 ^ " + each.is.cause());
            }
        }
        return lines;
    }

    private static String count(int n, String one, String many) {
        return n + " " + (n == 1 ? one : many);
    }

    private static Comparator<Line> comparator(Order order) {
        Comparator<Line> byNumber = Comparator.comparingLong(Line::pid).thenComparingInt(line -> line.is.qpn());
        Comparator<Line> most = switch (order) {
            case RATE -> Comparator.comparingDouble(line -> -line.sentPackets - line.receivedPackets);
            case RETRIES -> Comparator.comparingLong(line -> -line.retries);
            case QUEUE -> Comparator.comparingLong(line -> -line.is.sendsOutstanding());
            case ERRORS -> Comparator.comparingLong(line -> -line.is.errors());
            case NUMBER -> byNumber;
        };
        return most.thenComparing(byNumber);
    }

    private static String line(ProcessLook process, @Nullable DeviceLook was, DeviceLook is) {
        return String.format(
                        Locale.ROOT,
                        "%7d %-20s  %-7s %4d %9s %9s %8s %8s %8d %8d %8d  %s",
                        process.pid(),
                        shortened(is.name(), 20),
                        shortened(is.state(), 7),
                        is.queuePairs().size(),
                        rate(was, is, "sent.packets"),
                        rate(was, is, "received.packets"),
                        rate(was, is, "sent.bytes"),
                        rate(was, is, "received.bytes"),
                        is.count("retransmitted.packets"),
                        is.dropped(),
                        is.count("completion.errors"),
                        process.program())
                .stripTrailing();
    }

    /// Returns the path of one-sided requests where some need no packet.
    private static String oneSided(@Nullable DeviceLook was, DeviceLook is) {
        return String.format(
                Locale.ROOT,
                "        ^ one-sided requests/s: %s without packets (%s of them by the kernel), %s by the peer's engine",
                rate(was, is, "direct.requests"),
                rate(was, is, "direct.system.requests"),
                rate(was, is, "direct.declined.requests"));
    }

    /// Returns a line for each of the first peers of a device that encrypts packets.
    private static List<String> peers(DeviceLook device) {
        var lines = new ArrayList<String>();
        for (PeerStatus peer : device.peers()) {
            if (lines.size() == PEERS_MAX) {
                lines.add("        ^ and " + (device.peers().size() - PEERS_MAX) + " more");
                break;
            }
            lines.add("        ^ psp %s: %s, %s%s%s"
                    .formatted(
                            peer.peer(),
                            peer.policy(),
                            peer.state(),
                            peer.spi() == 0
                                    ? ""
                                    : " by %s at UDP port %d, SPI 0x%08x, for %d s, keys no. %d"
                                            .formatted(
                                                    peer.cipher(),
                                                    peer.port(),
                                                    peer.spi(),
                                                    peer.keyAgeMillis() / 1_000,
                                                    peer.agreements()),
                            peer.dropped().isEmpty() ? "" : ", dropped " + new TreeMap<>(peer.dropped())));
        }
        return lines;
    }

    private static String messages(@Nullable DeviceLook was, DeviceLook is) {
        return String.format(
                Locale.ROOT,
                "        ^ messages/s without packets: %s, with %s bytes",
                rate(was, is, "direct.messages"),
                rate(was, is, "direct.message.bytes"));
    }

    private static String rate(@Nullable DeviceLook was, DeviceLook is, String counter) {
        if (was == null || is.nanoTime() <= was.nanoTime()) {
            return "-";
        }
        return number((is.count(counter) - was.count(counter)) * NANOS_PER_SECOND / (is.nanoTime() - was.nanoTime()));
    }

    private static void add(List<Line> lines, long pid, @Nullable DeviceLook was, DeviceLook is) {
        Map<Integer, QueuePairStatus> before = new HashMap<>();
        double seconds = 0;
        if (was != null) {
            was.queuePairs().forEach(each -> before.put(each.qpn(), each));
            seconds = (is.nanoTime() - was.nanoTime()) / NANOS_PER_SECOND;
        }
        for (QueuePairStatus qp : is.queuePairs()) {
            QueuePairStatus b = before.get(qp.qpn());
            boolean known = b != null && seconds > 0;
            double per = known ? seconds : Double.NaN;
            QueuePairStatus from = b == null ? qp : b;
            lines.add(new Line(
                    pid,
                    qp,
                    (qp.sentPackets() - from.sentPackets()) / per,
                    (qp.receivedPackets() - from.receivedPackets()) / per,
                    (qp.sentBytes() - from.sentBytes()) / per,
                    (qp.receivedBytes() - from.receivedBytes()) / per,
                    qp.retransmittedPackets() + qp.rnrNaks()));
        }
    }

    private static String line(Line line) {
        QueuePairStatus qp = line.is;
        String peer = qp.peer().isEmpty()
                ? "-"
                : qp.peer() + (qp.peerQpn() == 0 ? "" : " 0x" + Integer.toHexString(qp.peerQpn()));
        return String.format(
                Locale.ROOT,
                "%7d 0x%06x %-4s %-5s %-24s  %8s  %8s %8s %8s %8d %4d %9s %11s %7s %8d",
                line.pid,
                qp.qpn(),
                qp.type(),
                qp.state(),
                shortened(peer, PEER_CHARS),
                number(line.sentPackets),
                number(line.receivedPackets),
                number(line.sentBytes),
                number(line.receivedBytes),
                qp.retransmittedPackets(),
                qp.rnrNaks(),
                qp.sendsOutstanding() + "/" + qp.sendCapacity(),
                qp.receivesPosted() + "/" + qp.receiveCapacity() + (qp.sharedReceives() ? "s" : ""),
                qp.completionsWaiting(),
                qp.errors());
    }

    private static String shortened(String text, int chars) {
        return text.length() <= chars ? text : text.substring(0, chars - 2) + "..";
    }

    /// Returns a number in at most six characters: 999, 12.3k, 4.56M.
    static String number(double value) {
        if (Double.isNaN(value)) {
            return "-";
        }
        String units = " kMGT";
        double left = Math.max(0, value);
        int unit = 0;
        while (left >= 999.5 && unit < units.length() - 1) {
            left /= 1_000;
            unit++;
        }
        int digits = unit == 0 || left >= 99.95 ? 0 : left >= 9.995 ? 1 : 2;
        return String.format(Locale.ROOT, "%." + digits + "f", left) + (unit == 0 ? "" : units.charAt(unit));
    }
}

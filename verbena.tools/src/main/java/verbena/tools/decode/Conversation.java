package verbena.tools.decode;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.Legible;
import verbena.verbs.Gid;
import verbena.verbs.RnrTimer;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Operation;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.Transport;

/// The packets between one queue pair and its peer. A capture is read twice: first to find the peer ([#look],
/// [#settle()]), then to find the part of each packet in the conversation ([#tell]).
///
/// No packet of a connection names the queue pair that it comes from. The peer is the one between the same
/// addresses whose answers fit the requests: their PSNs do.
public final class Conversation {
    private static final long SILENCE_NANOS = 10_000_000;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_MICRO = 1e3;

    /// Packets from one address to one queue pair.
    private record Way(Gid source, Gid destination, int qpn) {}

    private static final class Flow {
        final Way way;
        final Set<Integer> requests = new HashSet<>();
        final Set<Integer> answers = new HashSet<>();
        final Set<Integer> senders = new HashSet<>();
        int packets;

        Flow(Way way) {
            this.way = way;
        }
    }

    /// A packet of a request when it was seen first, and last.
    private static final class Sent {
        final long number;
        final long firstNanos;
        long lastNanos;

        Sent(long number, long nanos) {
            this.number = number;
            firstNanos = nanos;
            lastNanos = nanos;
        }
    }

    /// One end's requests.
    private static final class Requests {
        final Map<Integer, Sent> sent = new HashMap<>();
        int expected = -1;
        int acknowledged = -1;
        long packets;
        long direct;
        long again;
        long gaps;
        long acks;
        long acknowledgedPackets;
        long naks;
        long answered;
        double latencySum;
        long latencyMin = Long.MAX_VALUE;
        long latencyMax;

        /// Computes the PSN that follows a packet. The number of PSNs that a READ takes is known from its
        /// answers.
        void expect(Opcode opcode, int psn) {
            if (opcode.isRead()) {
                expected = -1;
            } else {
                expected = expected < 0 ? Psn.next(psn) : Psn.max(expected, Psn.next(psn));
            }
        }

        /// Returns the number of packets that an ACK is for; the first ACK is for all before it that were seen.
        int acknowledge(int psn) {
            int packets = 0;
            if (acknowledged >= 0) {
                packets = Psn.distance(acknowledged, psn);
            } else {
                for (int each = psn; sent.containsKey(each); each = Psn.previous(each)) {
                    packets++;
                }
            }
            acknowledged = acknowledged < 0 ? psn : Psn.max(acknowledged, psn);
            return packets;
        }
    }

    private final int qpn;
    private final Map<Way, Flow> flows = new HashMap<>();
    private @Nullable Way toOwn;
    private @Nullable Way toPeer;
    /// The requests of the queue pair that is followed, and of its peer.
    private final Requests[] requests = {new Requests(), new Requests()};
    private long lastNanos = Long.MIN_VALUE;

    /// @param qpn the queue pair to follow
    public Conversation(int qpn) {
        this.qpn = qpn;
    }

    // ---- first pass

    /// Takes note of a packet.
    public void look(Frame frame, Opcode opcode) {
        Way way = way(frame);
        Flow flow = flows.computeIfAbsent(way, Flow::new);
        flow.packets++;
        (opcode.isResponse() ? flow.answers : flow.requests).add(Bth.psn(frame.slot, frame.start));
        if (opcode.dethOffset() >= 0) {
            flow.senders.add(Deth.sourceQp(frame.slot, frame.start + opcode.dethOffset()));
        }
    }

    private static Way way(Frame frame) {
        return new Way(
                new Gid(frame.sourceHigh, frame.sourceLow),
                new Gid(frame.destinationHigh, frame.destinationLow),
                Bth.destinationQp(frame.slot, frame.start));
    }

    /// Ends the first pass. Returns false when there is no packet to or from the queue pair.
    public boolean settle() {
        Flow own = null;
        for (Flow flow : flows.values()) {
            if (flow.way.qpn == qpn && (own == null || flow.packets > own.packets)) {
                own = flow;
            }
        }
        if (own == null) {
            return flows.values().stream().anyMatch(flow -> flow.senders.contains(qpn));
        }
        toOwn = own.way;
        Flow peer = null;
        long best = -1;
        int candidates = 0;
        for (Flow flow : flows.values()) {
            if (flow != own
                    && flow.way.source.equals(own.way.destination)
                    && flow.way.destination.equals(own.way.source)
                    && flow.senders.isEmpty()) {
                candidates++;
                long fit = common(own.answers, flow.requests) + common(flow.answers, own.requests);
                if (fit > best) {
                    best = fit;
                    peer = flow;
                }
            }
        }
        if (peer != null && (best > 0 || candidates == 1) && own.senders.isEmpty()) {
            toPeer = peer.way;
        }
        return true;
    }

    private static long common(Set<Integer> some, Set<Integer> others) {
        return some.stream().filter(others::contains).count();
    }

    /// Returns the two ends of the conversation.
    public String heading() {
        Way own = toOwn;
        Way peer = toPeer;
        String here = "queue pair 0x%06x".formatted(qpn) + (own == null ? "" : " at " + own.destination);
        return peer != null
                ? here + " and queue pair 0x%06x".formatted(peer.qpn) + " at " + peer.destination
                : here
                        + (own == null
                                ? ""
                                : ", which " + own.source + " sends to; its own packets are not in the capture");
    }

    // ---- second pass

    /// The part of a packet in the conversation: an arrow, `->` from the queue pair that is followed, and remarks.
    ///
    /// @param arrow `->` or `<-`
    /// @param remarks in words; empty when there is nothing to remark on
    public record Told(String arrow, String remarks) {}

    /// Returns the part of a packet in the conversation; null when it does not belong there. Packets come in the
    /// order of the capture.
    ///
    /// @param number of the packet in the capture
    /// @param isDirect whether it stands for direct access and was never sent: it has no place in the sequence
    public @Nullable Told tell(Frame frame, Opcode opcode, long number, long nanos, boolean isDirect) {
        Way way = way(frame);
        boolean isOut = way.equals(toPeer)
                || (opcode.dethOffset() >= 0 && Deth.sourceQp(frame.slot, frame.start + opcode.dethOffset()) == qpn);
        if (!isOut && !way.equals(toOwn)) {
            return null;
        }
        var remarks = new ArrayList<String>();
        if (lastNanos != Long.MIN_VALUE && nanos - lastNanos >= SILENCE_NANOS) {
            remarks.add("after %.3f ms of silence".formatted((nanos - lastNanos) / NANOS_PER_MILLI));
        }
        lastNanos = nanos;
        int from = isOut ? 0 : 1;
        if (isDirect) {
            requests[from].direct++;
            return new Told(isOut ? "->" : "<-", String.join(", ", remarks));
        }
        requests[from].packets++;
        if (isConnected(opcode.transport())) {
            int psn = Bth.psn(frame.slot, frame.start);
            if (opcode.isResponse()) {
                onAnswer(requests[1 - from], frame, opcode, psn, nanos, remarks);
            } else {
                onRequest(requests[from], opcode, psn, number, nanos, remarks);
            }
        }
        return new Told(isOut ? "->" : "<-", String.join(", ", remarks));
    }

    private static boolean isConnected(Transport transport) {
        return transport == Transport.RC || transport == Transport.UC || transport == Transport.XRC;
    }

    private static void onRequest(Requests of, Opcode opcode, int psn, long number, long nanos, List<String> remarks) {
        Sent before = of.sent.get(psn);
        if (before != null) {
            of.again++;
            remarks.add("sent again: first as " + before.number + ", "
                    + Legible.figure("%.3f ms before", (nanos - before.firstNanos) / NANOS_PER_MILLI));
            before.lastNanos = nanos;
            of.expect(opcode, psn);
            return;
        }
        if (of.expected >= 0 && Psn.isAfter(psn, of.expected)) {
            of.gaps++;
            int missing = Psn.distance(of.expected, psn);
            remarks.add("gap: "
                    + (missing == 1 ? "PSN " + of.expected + " is" : missing + " PSNs from " + of.expected + " on are")
                    + " not in the capture");
        } else if (of.expected >= 0 && Psn.isBefore(psn, of.expected)) {
            remarks.add("was missing before");
        }
        of.sent.put(psn, new Sent(number, nanos));
        of.expect(opcode, psn);
    }

    private static void onAnswer(Requests to, Frame frame, Opcode opcode, int psn, long nanos, List<String> remarks) {
        Sent sent = to.sent.get(psn);
        String after = "";
        if (sent != null) {
            long latency = nanos - sent.lastNanos;
            after = Legible.figure(" after %.1f us", latency / NANOS_PER_MICRO);
            to.answered++;
            to.latencySum += latency;
            to.latencyMin = Math.min(to.latencyMin, latency);
            to.latencyMax = Math.max(to.latencyMax, latency);
        }
        int syndrome =
                opcode.aethOffset() < 0 ? Syndrome.ACK : Aeth.syndrome(frame.slot, frame.start + opcode.aethOffset());
        switch (Syndrome.kind(syndrome)) {
            case ACK -> onAck(to, opcode, psn, after, remarks);
            case RNR_NAK -> {
                to.naks++;
                remarks.add("has no receive%s: wait %.2f ms"
                        .formatted(after, new RnrTimer(Syndrome.value(syndrome)).nanos() / NANOS_PER_MILLI));
            }
            case NAK -> {
                to.naks++;
                remarks.add((syndrome == Syndrome.NAK_SEQUENCE ? "misses PSN " + psn : "refuses PSN " + psn) + after);
            }
            case RESERVED -> remarks.add("a syndrome that means nothing");
        }
    }

    private static void onAck(Requests to, Opcode opcode, int psn, String after, List<String> remarks) {
        if (opcode.operation() != Operation.ACKNOWLEDGE) {
            if (!after.isEmpty()) {
                remarks.add("answers" + after);
            }
            int _ = to.acknowledge(psn);
            return;
        }
        int packets = to.acknowledge(psn);
        to.acks++;
        if (packets <= 0) {
            remarks.add("acknowledged before");
            return;
        }
        to.acknowledgedPackets += packets;
        remarks.add((packets == 1 ? "acknowledges" : "acknowledges " + packets + " packets") + after);
    }

    /// Returns a summary, one line for each direction that has requests.
    public List<String> summary() {
        var lines = new ArrayList<String>();
        for (int i = 0; i < requests.length; i++) {
            Requests of = requests[i];
            String line = String.format(
                    Locale.ROOT,
                    "%s %d packets, %d of requests: %d sent again, %d gaps",
                    i == 0 ? "->" : "<-",
                    of.packets,
                    of.sent.size() + of.again,
                    of.again,
                    of.gaps);
            if (of.acks > 0) {
                line += String.format(
                        Locale.ROOT,
                        "; %d ACKs, each for %.1f packets",
                        of.acks,
                        (double) of.acknowledgedPackets / of.acks);
            }
            line += of.naks == 0 ? "" : "; " + of.naks + " NAKs";
            line += of.direct == 0 ? "" : "; " + of.direct + " more by direct access";
            if (of.answered > 0) {
                line += Legible.figure("; answered in %.1f us (min)", of.latencyMin / NANOS_PER_MICRO)
                        + Legible.figure(" %.1f us (average)", of.latencySum / of.answered / NANOS_PER_MICRO)
                        + Legible.figure(" %.1f us (max)", of.latencyMax / NANOS_PER_MICRO);
            }
            lines.add(line);
        }
        return lines;
    }
}

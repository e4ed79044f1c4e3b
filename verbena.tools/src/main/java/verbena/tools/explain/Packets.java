package verbena.tools.explain;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.tools.explain.Event.Kind;
import verbena.transport.PacketFate;
import verbena.verbs.Access;
import verbena.wire.Frame;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Reth;
import verbena.wire.notation.CmText;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketText;

/// The events of the packets that two taps have seen: which packet sent here is which packet received there, the
/// losses, and the decisions of the receiver.
final class Packets {
    private final List<Seen> seen;
    private final List<Key> keys;
    private final Names names = new Names() {
        @Override
        public Names.@Nullable Region region(int rkey) {
            Key key = Key.of(rkey, keys);
            return key == null ? null : key.region();
        }

        @Override
        public @Nullable String queuePair(int qpn) {
            return null;
        }
    };

    Packets(List<Seen> seen, List<Key> keys) {
        this.seen = seen.stream().sorted(Comparator.comparingLong(Seen::nanos)).toList();
        this.keys = keys;
    }

    /// Returns the number of packets that were sent and have not arrived, or that have arrived before the sender
    /// noted them as sent.
    long underWay() {
        Map<Seen, Seen> arrivals = new HashMap<>();
        List<Seen> unexpected = match(arrivals);
        return seen.stream().filter(Seen::sent).count() - arrivals.size() + unexpected.size();
    }

    // Finds out what has arrived of what was sent; the answer is the packets that neither end has sent.
    private List<Seen> match(Map<Seen, Seen> arrivals) {
        var unexpected = new ArrayList<Seen>();
        for (Seen received : seen) {
            if (!received.sent()) {
                Seen sent = latestLike(received, arrivals);
                if (sent == null) {
                    unexpected.add(received);
                } else {
                    arrivals.put(sent, received);
                }
            }
        }
        return unexpected;
    }

    List<Event> events() {
        Map<Seen, Seen> arrivals = new HashMap<>();
        var events = new ArrayList<Event>();
        match(arrivals).forEach(received -> events.addAll(unexpected(received)));
        Set<String> known = new HashSet<>();
        for (Seen sent : seen) {
            if (sent.sent()) {
                events.addAll(events(sent, arrivals.get(sent), !known.add(identity(sent))));
            }
        }
        return events;
    }

    // What has arrived was sent before; of several that are alike the last, because one before it may be lost.
    private @Nullable Seen latestLike(Seen received, Map<Seen, Seen> taken) {
        Seen latest = null;
        for (Seen sent : seen) {
            if (sent.sent()
                    && sent.device() != received.device()
                    && sent.nanos() <= received.nanos()
                    && !taken.containsKey(sent)
                    && sent.isSame(received)) {
                latest = sent;
            }
        }
        return latest;
    }

    // A copy that neither end has sent: its own multicast, or one that was doubled on the way.
    private List<Event> unexpected(Seen received) {
        boolean own = seen.stream()
                .anyMatch(sent -> sent.sent() && sent.device() == received.device() && sent.isSame(received));
        Place at = received.device();
        return List.of(Event.of(
                received.nanos(),
                Kind.STEP,
                at,
                at,
                own ? "its own copy arrives, too" : "the same packet arrives once more",
                own
                        ? "A member of a multicast group gets what it sends itself as well."
                        : "The network has doubled it. " + Wording.of(Objects.requireNonNull(received.fate()))));
    }

    // What makes two packets of a device the same packet, sent again: for an answer all of it.
    private static String identity(Seen packet) {
        Frame frame = packet.frame();
        Opcode opcode = Opcode.of(Bth.opcode(frame.slot, frame.start));
        return packet.device() + " " + opcode + " " + Bth.destinationQp(frame.slot, frame.start) + " "
                + (opcode == null || opcode.isResponse() || CmText.format(frame) != null
                        ? HexFormat.of().formatHex(packet.bytes())
                        : Bth.psn(frame.slot, frame.start));
    }

    private List<Event> events(Seen sent, @Nullable Seen received, boolean again) {
        Frame frame = (received == null ? sent : received).frame();
        Place to = sent.device().opposite();
        var events = new ArrayList<Event>();
        String text = (again ? "Once more, the same as before. " : "")
                + Wording.of(frame)
                + (received == null
                        ? " It was sent, and never arrived: lost on the way."
                        : " It was " + verdict(received));
        events.add(new Event(
                sent.nanos(),
                received == null ? -1 : received.nanos() - sent.nanos(),
                received == null ? Kind.LOST : Kind.PACKET,
                sent.device(),
                to,
                label(frame) + (again ? " (again)" : ""),
                text,
                new Event.Contents(sent.way(), (received == null ? sent : received).bytes(), Anatomy.of(frame))));
        PacketFate fate = received == null ? null : received.fate();
        if (received != null && fate != null) {
            Event check = check(frame, received, fate);
            if (check != null) {
                events.add(check);
            } else if (fate != PacketFate.ACCEPTED) {
                events.add(Event.of(received.nanos(), Kind.STEP, to, to, Wording.label(fate), Wording.of(fate)));
            }
        }
        return events;
    }

    private static String verdict(Seen received) {
        PacketFate fate = received.fate();
        return fate == null ? "not judged." : Wording.judged(fate);
    }

    private String label(Frame frame) {
        String message = CmText.format(frame);
        return (message == null ? PacketText.format(frame, names) : "CM " + Anatomy.readable(message))
                .replaceAll(" {2,}", " ");
    }

    // The receiver's look at key and bounds: its verdict is in what became of the packet, the reason is worked out
    // from what is registered.
    private @Nullable Event check(Frame frame, Seen received, PacketFate fate) {
        if (Packet.check(frame) != Malformed.OK || (fate != PacketFate.ACCEPTED && fate != PacketFate.REFUSED)) {
            return null;
        }
        Opcode opcode = Packet.opcode(frame);
        int rkey;
        long address;
        long bytes;
        if (opcode.rethOffset() >= 0) {
            long at = (long) frame.start + opcode.rethOffset();
            rkey = Reth.rkey(frame.slot, at);
            address = Reth.virtualAddress(frame.slot, at);
            bytes = Reth.dmaLength(frame.slot, at);
        } else if (opcode.atomicEthOffset() >= 0) {
            long at = (long) frame.start + opcode.atomicEthOffset();
            rkey = AtomicEth.rkey(frame.slot, at);
            address = AtomicEth.virtualAddress(frame.slot, at);
            bytes = Long.BYTES;
        } else {
            return null;
        }
        Access right =
                opcode.isAtomic() ? Access.REMOTE_ATOMIC : opcode.isRead() ? Access.REMOTE_READ : Access.REMOTE_WRITE;
        return Wording.check(
                received.device(),
                received.nanos(),
                fate == PacketFate.ACCEPTED,
                Key.of(rkey, keys),
                rkey,
                address,
                bytes,
                right);
    }
}

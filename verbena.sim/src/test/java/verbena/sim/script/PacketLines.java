package verbena.sim.script;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import verbena.transport.PacketFate;
import verbena.transport.Protocol;
import verbena.transport.congestion.CongestionRule;
import verbena.transport.queue.Path;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.notation.PacketPattern;
import verbena.wire.notation.PacketText;
import verbena.wire.roce.RoceV2;

/// The lines of packets: an end sends one, or a peer makes one up; then its arrow decides what happens to it.
final class PacketLines {
    private static final Pattern HEADERS = Pattern.compile("\\s+((?:from|to|tos|ttl|port)\\s.*)$");
    private static final Pattern FATE = Pattern.compile("\\s+=>\\s+(\\S+)$");
    private static final Pattern REMARK = Pattern.compile("\\s+(lost|late|twice|flipped)$");

    private final Ends ends;
    private final Timeline time;
    private final Supplier<Frame> newFrame;
    private final List<String> happened;
    private final RoceV2 roce = new RoceV2();
    private final Frame frame;
    private final Frame arriving;
    /// How far the message that a peer makes up has come in its data.
    private long peerPosition;

    PacketLines(Ends ends, Timeline time, Supplier<Frame> newFrame, List<String> happened) {
        this.ends = ends;
        this.time = time;
        this.newFrame = newFrame;
        this.happened = happened;
        frame = newFrame.get();
        arriving = newFrame.get();
    }

    void run(String who, Arrow arrow, List<String> to, String packetText, Words words) {
        String text = packetText;
        Matcher remark = REMARK.matcher(text);
        if (remark.find()) {
            text = text.substring(0, remark.start());
        }
        PacketFate fate = null;
        Matcher fateMatcher = FATE.matcher(text);
        if (fateMatcher.find()) {
            fate = fate(fateMatcher.group(1), words);
            text = text.substring(0, fateMatcher.start());
        }
        var headers = new NetworkHeaders();
        Matcher ip = HEADERS.matcher(text);
        if (ip.find()) {
            headers = NetworkHeaders.parse(ip.group(1));
            text = text.substring(0, ip.start());
        }
        PacketPattern pattern = PacketPattern.parse(text, ends);
        List<End> receivers = to.equals(List.of("peer"))
                ? List.of()
                : to.stream().map(name -> ends.get(name, words)).toList();
        if (who.equals("peer")) {
            if (receivers.isEmpty()) {
                throw words.wrong("the peer does not send to itself");
            }
            build(pattern, receivers.getFirst());
            headers.write(frame);
            seal(pattern);
        } else {
            take(ends.get(who, words), pattern, headers);
        }
        happened.add("%-14s %s %s %-5s %s"
                .formatted(
                        VirtualTime.text(time.now()),
                        who,
                        arrow.copiesNow() > 0 ? "->" : arrow.lateNanos() < 0 ? "-x" : "->>",
                        String.join(", ", to),
                        PacketText.format(frame, ends)));
        for (End receiver : receivers) {
            carry(arrow, receiver, fate);
        }
    }

    private void take(End sender, PacketPattern pattern, NetworkHeaders headers) {
        if (!sender.poll(frame, time.now())) {
            throw new Mismatch(
                    sender.name + " has nothing to send at " + VirtualTime.text(time.now()) + "; its next deadline is "
                            + (sender.protocol.deadlineNanos() == Protocol.NEVER
                                    ? "never"
                                    : "in " + VirtualTime.text(sender.protocol.deadlineNanos() - time.now()))
                            + ", its state " + sender.parameters.state);
        }
        var differences = new ArrayList<String>(pattern.differences(frame));
        differences.addAll(headers.differences(frame));
        if (!differences.isEmpty()) {
            throw new Mismatch(sender.name + " -> " + sender.peer.name + "  " + PacketText.format(frame, ends) + "\n"
                    + String.join("\n", differences));
        }
    }

    private void build(PacketPattern pattern, End receiver) {
        End impersonated = receiver.peer;
        Opcode opcode = pattern.opcode();
        if (opcode == null || opcode.startsMessage()) {
            peerPosition = 0;
        }
        byte[] data = impersonated.out().pattern();
        pattern.build(frame, MemorySegment.ofArray(data).asSlice(peerPosition));
        peerPosition += pattern.payloadBytes().orElse(0);
        Path path = Ends.path(impersonated, receiver);
        frame.sourceHigh = path.sourceHigh();
        frame.sourceLow = path.sourceLow();
        frame.destinationHigh = path.destinationHigh();
        frame.destinationLow = path.destinationLow();
        frame.sourcePort = path.sourcePort();
        frame.trafficClass = path.trafficClass();
        frame.hopLimit = path.hopLimit();
        if (frame.length >= Packet.BYTES_MIN && pattern.value("qp").isEmpty()) {
            Bth.setDestinationQp(frame.slot, frame.start, receiver.parameters.qpn);
        }
    }

    private void seal(PacketPattern pattern) {
        if (frame.length >= Packet.BYTES_MIN) {
            roce.seal(frame, 0);
            if (pattern.badIcrc()) {
                flipBit(frame);
            }
        }
    }

    private void carry(Arrow arrow, End receiver, @Nullable PacketFate expected) {
        if (arrow.marks()) {
            mark();
        }
        if (arrow.flips()) {
            flipBit(frame);
        }
        if (arrow.lateNanos() >= 0) {
            Frame copy = newFrame.get();
            copy.copyFrom(frame);
            time.deliverLate(copy, receiver, arrow.lateNanos());
        }
        Gid destination = new Gid(frame.destinationHigh, frame.destinationLow);
        if (!destination.isMulticast()
                && !destination.equals(receiver.host.address)
                && !destination.equals(receiver.host.other)) {
            throw new Mismatch("is sent to " + destination + ", not to " + receiver.host.address);
        }
        for (int i = 0; i < arrow.copiesNow(); i++) {
            arriving.copyFrom(frame); // the receiver may write into what it is given
            PacketFate fate = time.deliver(arriving, receiver);
            if (expected != null && fate != expected) {
                throw new Mismatch("=> " + fate.label());
            }
        }
    }

    /// A switch marks only what says that it may be marked.
    private void mark() {
        if ((frame.trafficClass & CongestionRule.MARKED) == 0) {
            throw new Mismatch("says that no switch may mark it: tos " + frame.trafficClass);
        }
        frame.trafficClass |= CongestionRule.MARKED;
    }

    private static void flipBit(Frame frame) {
        int at = frame.start + frame.length / 2;
        BigEndian.put8(frame.slot, at, BigEndian.u8(frame.slot, at) ^ 0x04);
    }

    private static PacketFate fate(String label, Words words) {
        for (PacketFate fate : PacketFate.values()) {
            if (fate.label().equals(label)) {
                return fate;
            }
        }
        throw words.wrong("there is no fate called " + label);
    }
}

package verbena.sim.script;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import verbena.transport.PacketFate;
import verbena.transport.Path;
import verbena.transport.Protocol;
import verbena.transport.congestion.PeerWindow;
import verbena.transport.congestion.PeerWindows;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.WorkCompletion;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketPattern;
import verbena.wire.notation.PacketText;
import verbena.wire.roce.RoceV2;

/// Runs a script of two or more queue pairs, its ends, in virtual time. The package description has the grammar.
///
///     rc().mtu(1024).psn(100).run("""
///         a         post  write 10 -> r1+0  wr 7 signaled
///         a -> b    WRITE_ONLY  psn 100  r1+0 len 10  | 10
///         b -> a    ACK         psn 100  msn 1
///         a         completion  wr 7 success
///         b         memory      r1+0 len 10 as sent
///         """);
///
/// The script is the scheduler: an end is asked for a packet when a line says that it sends one, and time passes
/// only where a line says so. So acknowledgements merge exactly when the lines between leave them the time. At the
/// end no device may have anything more to send, to complete or to report. One run is like any other: keys, addresses
/// and times are the same each time.
public final class PacketScript implements Names {
    static final int AREA_BYTES = 1 << 16;
    private static final int TURNS_MAX = 10_000;
    private static final int QPN_OF_A = 0x11;
    private static final int HOP_LIMIT = 64;
    private static final Pattern STAMP = Pattern.compile("\\+([0-9.]+[a-z]+)\\s+(.*)");
    private static final Pattern ENVELOPE = Pattern.compile("\\s+((?:from|to|tos|ttl|port)\\s.*)$");
    private static final Pattern FATE = Pattern.compile("\\s+=>\\s+(\\S+)$");
    private static final Pattern REMARK = Pattern.compile("\\s+(lost|late|twice|flipped)$");
    static final int REMOTE_ALL = Access.bits(Access.remoteAll());

    /// The Q_Key of datagrams, where a script names no other.
    public static final int QKEY = 0x11111111;

    private record Late(long time, long order, Frame frame, End to) {}

    record Place(Area area, long offset) {}

    private final QpType type;
    private int mtu = 1024;
    private int psn = 100;
    private int psnBack = 7000;
    private int window = 128;
    private int timeoutCode = 14;
    private int retryCount = 7;
    private int rnrRetry = 7;
    private int rnrTimerCode = 12;
    private int reads = 4;
    private boolean shared;
    private boolean signalAll;
    private int connections = 1;
    private final Map<String, String> guests = new LinkedHashMap<>();
    private Gid addressA = Gid.parse("10.0.0.1");
    private Gid addressB = Gid.parse("10.0.0.2");

    private final Arena arena = Arena.ofConfined();
    private final RoceV2 roce = new RoceV2();
    private final Frame frame = newFrame();
    private final Frame arriving = newFrame();
    private final WorkCompletion completion = new WorkCompletion();
    private final PriorityQueue<Late> late =
            new PriorityQueue<>(Comparator.comparingLong(Late::time).thenComparingLong(Late::order));
    private final List<String> happened = new ArrayList<>();
    private final Map<String, End> ends = new LinkedHashMap<>();
    private long now;
    private long lateCount;
    private long peerPosition;

    private PacketScript(QpType type) {
        this.type = type;
    }

    /// Two ends of a reliable connection with MTU 1024, first PSN 100 from a to b and 7000 back, ACK timeout code
    /// 14 (67.108864 ms), 7 retries, RNR timer code 12 (0.64 ms), RNR retry 7 (for ever), 4 READs, a window of 128
    /// packets.
    public static PacketScript rc() {
        return new PacketScript(QpType.RC);
    }

    /// Two ends of an unreliable connection with MTU 1024, first PSN 100 from a to b and 7000 back.
    public static PacketScript uc() {
        return new PacketScript(QpType.UC);
    }

    /// An initiator `a` and a target `b` of an extended reliable connection with what [#rc] gives. The host of `b`
    /// has the shared receive queue 77.
    public static PacketScript xrc() {
        return new PacketScript(QpType.XRC_INITIATOR);
    }

    /// Two ends that exchange datagrams, with MTU 1024, the Q_Key [#QKEY] and first PSN 100 of a, 7000 of all
    /// others.
    public static PacketScript ud() {
        return new PacketScript(QpType.UD);
    }

    public PacketScript mtu(int bytes) {
        mtu = bytes;
        return this;
    }

    /// First PSN from a to b.
    public PacketScript psn(int first) {
        psn = first;
        return this;
    }

    /// First PSN from b to a.
    public PacketScript psnBack(int first) {
        psnBack = first;
        return this;
    }

    /// PSNs that all connections from one end's address to one peer may have unacknowledged together.
    public PacketScript window(int packets) {
        window = packets;
        return this;
    }

    /// Code of the local ACK timeout of both ends; 0 is never.
    public PacketScript timeout(int code) {
        timeoutCode = code;
        return this;
    }

    public PacketScript retries(int count) {
        retryCount = count;
        return this;
    }

    /// 7 is for ever.
    public PacketScript rnrRetries(int count) {
        rnrRetry = count;
        return this;
    }

    /// Code of what both ends ask a peer to wait.
    public PacketScript rnrTimer(int code) {
        rnrTimerCode = code;
        return this;
    }

    /// READs and atomics that both ends may have outstanding and serve.
    public PacketScript reads(int max) {
        reads = max;
        return this;
    }

    /// Receives are posted to shared receive queues.
    public PacketScript srq() {
        shared = true;
        return this;
    }

    /// A second connection, from `c` beside `a` to `d` beside `b`, with the same first PSNs.
    public PacketScript twoConnections() {
        connections = 2;
        return this;
    }

    /// One more end for datagrams, beside another one, or at an address of its own, which is 10.0.0.3 or fd00::3
    /// for the first of them.
    ///
    /// @param beside the other one's name; empty for an address of its own
    public PacketScript with(String name, String beside) {
        guests.put(name, beside);
        return this;
    }

    /// All send requests of both ends complete visibly.
    public PacketScript signalAll() {
        signalAll = true;
        return this;
    }

    public PacketScript ipv6() {
        addressA = Gid.parse("fd00::1");
        addressB = Gid.parse("fd00::2");
        return this;
    }

    /// Runs a script from start to end.
    ///
    /// @throws ScriptFailure at the first line that does not happen
    /// @throws IllegalArgumentException when a line cannot be understood
    public void run(String text) {
        List<String> script = text.lines().toList();
        connect();
        for (int i = 0; i < script.size(); i++) {
            String line = script.get(i).replaceFirst("(^|\\s)#.*", "").strip();
            if (!line.isEmpty()) {
                runLine(script, i, line);
            }
        }
        runLine(script, script.size() - 1, "nothing left");
    }

    private void runLine(List<String> script, int i, String line) {
        try {
            step(line);
        } catch (Mismatch mismatch) {
            throw new ScriptFailure(script, i, mismatch.actual, happened);
        } catch (RuntimeException | Error e) {
            if (e instanceof IllegalArgumentException) {
                throw e;
            }
            happened.add(e.toString());
            var failure = new ScriptFailure(script, i, e.toString(), happened);
            failure.initCause(e);
            throw failure;
        }
    }

    // ---- before the first line

    private void connect() {
        Host hostOfA = new Host(addressA, peerWindows(), new SplittableRandom(1), arena);
        Host hostOfB = new Host(addressB, peerWindows(), new SplittableRandom(2), arena);
        pair(add("a", hostOfA), add("b", hostOfB));
        hostOfB.addArea("r1", AREA_BYTES, hostOfB.nextIova(), End.DOMAIN, REMOTE_ALL | Access.MW_BIND.bit());
        hostOfA.addArea("r2", AREA_BYTES, hostOfA.nextIova(), End.DOMAIN, REMOTE_ALL | Access.MW_BIND.bit());
        if (connections == 2) {
            pair(add("c", hostOfA), add("d", hostOfB));
        }
        guests.forEach(this::seat);
    }

    private PeerWindows peerWindows() {
        return new PeerWindows(window, PeerWindow.PROBE_NANOS_MIN);
    }

    private void seat(String name, String beside) {
        int number = ends.size() + 1;
        End a = end("a", new Words(name));
        Gid address = Gid.parse((addressA.isIpv4() ? "10.0.0." : "fd00::") + number);
        Host host = beside.isEmpty()
                ? new Host(address, peerWindows(), new SplittableRandom(number), arena)
                : end(beside, new Words(beside)).host;
        start(add(name, host), a, psnBack, psn);
    }

    private End add(String name, Host host) {
        QpType half = type.isXrc() && (name.equals("b") || name.equals("d")) ? QpType.XRC_TARGET : type;
        var end = new End(name, half, QPN_OF_A + ends.size(), host, shared, signalAll, arena);
        ends.put(name, end);
        int local = Access.LOCAL_WRITE.bit();
        host.addArea(name + ".out", AREA_BYTES, host.nextIova(), End.DOMAIN, local);
        host.addArea(name + ".in", AREA_BYTES, host.nextIova(), End.DOMAIN, local);
        return end;
    }

    private void pair(End first, End second) {
        start(first, second, psn, psnBack);
        start(second, first, psnBack, psn);
    }

    private void start(End end, End peer, int sqPsn, int rqPsn) {
        end.peer = peer;
        var p = end.parameters;
        p.pathMtu = mtu;
        p.qkey = QKEY;
        p.access = REMOTE_ALL;
        p.destinationQpn = peer.parameters.qpn;
        p.sqPsn = sqPsn;
        p.rqPsn = rqPsn;
        p.readsOutstandingMax = reads;
        p.readsServedMax = reads;
        p.minRnrTimerCode = rnrTimerCode;
        p.ackTimeoutNanos = AckTimeout.nanos(timeoutCode);
        p.retryCount = retryCount;
        p.rnrRetry = rnrRetry;
        p.windows = end.host.peerWindows;
        p.path = path(end, peer);
        end.modify(QpState.INIT, now);
        end.modify(QpState.RTR, now);
        end.modify(QpState.RTS, now);
    }

    // ---- lines

    private void step(String line) {
        Matcher stamp = STAMP.matcher(line);
        if (stamp.matches()) {
            advance(now + VirtualTime.nanos(stamp.group(1)), true);
            step(stamp.group(2));
            return;
        }
        var words = new Words(line);
        if (words.accept("nothing")) {
            nothing(words);
            return;
        }
        if (words.accept("nobody")) {
            words.expect("moves");
            words.expect("until");
            advance(now + VirtualTime.nanos(words.next("time").substring(1)), false);
            words.end();
            return;
        }
        String who = words.next("who");
        Arrow arrow = Arrow.parse(words.peek());
        if (arrow != null) {
            words.next("arrow");
            var to = new ArrayList<String>();
            do {
                to.add(words.next("receiver"));
            } while (words.accept(","));
            packet(who, arrow, to, words.rest(), words);
            return;
        }
        End end = end(who, words);
        String verb = words.next("what it does");
        switch (verb) {
            case "post" -> post(end, words);
            case "silent" -> silent(end, "silence");
            case "completion" -> {
                String seen = Reports.completion(this, end, words, now);
                if (seen != null) {
                    happened.add("%-14s %s".formatted(VirtualTime.text(now), seen));
                }
            }
            case "event" -> Reports.event(end, words);
            case "state" -> Reports.state(end, words);
            case "counter" -> Reports.counter(end, words);
            case "memory" -> Reports.memory(this, end, words);
            case "word" -> Reports.word(this, end, words);
            case "notified" -> Reports.notified(end, words);
            case "set" -> Setup.set(this, end, words);
            case "modify" -> Setup.modify(end, words, now);
            case "region" -> Setup.region(end, words);
            case "window" -> Setup.window(end, words);
            case "srq" -> Setup.srq(end, words);
            case "close" -> Setup.close(end, words);
            case "arm" -> Setup.arm(end, words);
            case "handle" -> Setup.handle(this, end, words);
            case "attach" -> Setup.attach(end, words);
            case "detach" -> Setup.detach(end, words);
            default -> throw words.wrong("nobody can \"" + verb + "\"");
        }
        words.end();
    }

    private End end(String who, Words words) {
        End end = ends.get(who);
        if (end == null) {
            throw words.wrong("there is no end called " + who);
        }
        return end;
    }

    private void nothing(Words words) {
        if (words.accept("until")) {
            String span = words.next("time");
            advance(now + VirtualTime.nanos(span.substring(1)), true);
        } else if (words.accept("ever")) {
            advance(Protocol.NEVER, true);
        } else if (words.accept("left")) {
            silent("the end of the script");
            for (End end : ends.values()) {
                if (end.takeCompletion(completion, now)) {
                    throw new Mismatch("left over: " + end.name + " completion " + Reports.text(completion));
                }
                AsyncEvent.Type event = end.takeEvent();
                if (event != null) {
                    throw new Mismatch("left over: " + end.name + " event " + event);
                }
            }
        } else {
            silent("nothing");
        }
        words.end();
    }

    // ---- time

    private void advance(long target, boolean isSilent) {
        for (int turn = 0; turn < TURNS_MAX; turn++) {
            Late next = late.peek();
            long at = next == null ? Protocol.NEVER : next.time();
            for (End end : ends.values()) {
                at = Math.min(at, end.protocol.deadlineNanos());
            }
            if (at > target || at == Protocol.NEVER) {
                if (target != Protocol.NEVER && target > now) {
                    pass(target, isSilent);
                }
                return;
            }
            if (at > now) {
                pass(at, isSilent);
            }
            while (!late.isEmpty() && late.peek().time() <= now) {
                Late arrival = late.remove();
                deliver(arrival.frame(), arrival.to());
            }
            for (End end : ends.values()) {
                if (end.protocol.deadlineNanos() <= now) {
                    end.protocol.onDeadline(now);
                }
            }
        }
        throw new Mismatch("time does not pass: a deadline stays at " + VirtualTime.text(now));
    }

    private void pass(long to, boolean isSilent) {
        if (isSilent) {
            silent("silence until then");
        }
        now = to;
    }

    private void silent(String expected) {
        ends.values().forEach(end -> silent(end, expected));
    }

    private void silent(End end, String expected) {
        if (end.poll(frame, now)) {
            throw new Mismatch("expected " + expected + ", but at " + VirtualTime.text(now) + "\n" + end.name + " -> "
                    + end.peer.name + "  " + PacketText.format(frame, this));
        }
    }

    // ---- packets

    private void packet(String who, Arrow arrow, List<String> to, String packetText, Words words) {
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
        var envelope = new Envelope();
        Matcher ip = ENVELOPE.matcher(text);
        if (ip.find()) {
            envelope = Envelope.parse(ip.group(1));
            text = text.substring(0, ip.start());
        }
        PacketPattern pattern = PacketPattern.parse(text, this);
        List<End> receivers = to.equals(List.of("peer"))
                ? List.of()
                : to.stream().map(name -> end(name, words)).toList();
        if (who.equals("peer")) {
            if (receivers.isEmpty()) {
                throw words.wrong("the peer does not send to itself");
            }
            build(pattern, receivers.getFirst());
            envelope.write(frame);
            seal(pattern);
        } else {
            take(end(who, words), pattern, envelope);
        }
        happened.add("%-14s %s %s %-5s %s"
                .formatted(
                        VirtualTime.text(now),
                        who,
                        arrow.copiesNow() > 0 ? "->" : arrow.lateNanos() < 0 ? "-x" : "->>",
                        String.join(", ", to),
                        PacketText.format(frame, this)));
        for (End receiver : receivers) {
            carry(arrow, receiver, fate);
        }
    }

    private void take(End sender, PacketPattern pattern, Envelope envelope) {
        if (!sender.poll(frame, now)) {
            throw new Mismatch(
                    sender.name + " has nothing to send at " + VirtualTime.text(now) + "; its next deadline is "
                            + (sender.protocol.deadlineNanos() == Protocol.NEVER
                                    ? "never"
                                    : "in " + VirtualTime.text(sender.protocol.deadlineNanos() - now))
                            + ", its state " + sender.parameters.state);
        }
        var differences = new ArrayList<String>(pattern.differences(frame));
        differences.addAll(envelope.differences(frame));
        if (!differences.isEmpty()) {
            throw new Mismatch(sender.name + " -> " + sender.peer.name + "  " + PacketText.format(frame, this) + "\n"
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
        Path path = path(impersonated, receiver);
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

    /// The way from one end to another.
    static Path path(End from, End to) {
        Gid source = from.host.address;
        Gid destination = to.host.address;
        int port = RoceV2.udpSourcePort(from.parameters.qpn, to.parameters.qpn);
        return new Path(source.high(), source.low(), destination.high(), destination.low(), 0, HOP_LIMIT, port);
    }

    private void carry(Arrow arrow, End receiver, @Nullable PacketFate expected) {
        if (arrow.flips()) {
            flipBit(frame);
        }
        if (arrow.lateNanos() >= 0) {
            Frame copy = newFrame();
            copy.copyFrom(frame);
            late.add(new Late(now + arrow.lateNanos(), lateCount++, copy, receiver));
        }
        Gid destination = new Gid(frame.destinationHigh, frame.destinationLow);
        if (!destination.isMulticast() && !destination.equals(receiver.host.address)) {
            throw new Mismatch("is sent to " + destination + ", not to " + receiver.host.address);
        }
        for (int i = 0; i < arrow.copiesNow(); i++) {
            arriving.copyFrom(frame); // the receiver may write into what it is given
            PacketFate fate = deliver(arriving, receiver);
            if (expected != null && fate != expected) {
                throw new Mismatch("=> " + fate.label());
            }
        }
    }

    private PacketFate deliver(Frame packet, End receiver) {
        PacketFate fate = receiver.host.receive(packet, now);
        happened.add("%-14s   => %s".formatted("", fate.label()));
        return fate;
    }

    private static void flipBit(Frame frame) {
        int at = frame.start + frame.length / 2;
        BigEndian.put8(frame.slot, at, BigEndian.u8(frame.slot, at) ^ 0x04);
    }

    private Frame newFrame() {
        return Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
    }

    private static PacketFate fate(String label, Words words) {
        for (PacketFate fate : PacketFate.values()) {
            if (fate.label().equals(label)) {
                return fate;
            }
        }
        throw words.wrong("there is no fate called " + label);
    }

    /// Whose data `as` compares with: the peer's, or that of the end that is named.
    End sender(End receiver, Words words) {
        return ends.containsKey(words.peek()) ? end(words.next("end"), words) : receiver.peer;
    }

    /// The way from an end to another one or, by address, to a multicast group.
    Path pathTo(End from, String name) {
        End to = ends.get(name);
        if (to != null) {
            return path(from, to);
        }
        return Path.of(from.host.address, Gid.parse(name), 0, HOP_LIMIT);
    }

    /// The queue pair number of an end; that of all multicasts for an address.
    int qpnOf(String name) {
        End to = ends.get(name);
        return to == null ? Host.MULTICAST_QPN : to.parameters.qpn;
    }

    // ---- requests

    private void post(End end, Words words) {
        if (words.accept("recv")) {
            Posts.receive(this, end, words);
        } else {
            Posts.send(this, end, words);
        }
    }

    /// `region+offset` of one end's own.
    long address(End end, Words words, AreaUser user) {
        String word = words.next("region+offset");
        int plus = word.indexOf('+');
        Area area = plus < 0 ? null : end.area(word.substring(0, plus));
        if (area == null) {
            throw words.wrong(end.name + " has no region for \"" + word + "\"");
        }
        long offset = new Words(word.substring(plus + 1)).number("offset");
        user.use(area, offset);
        return area.region.iova() + offset;
    }

    /// What is done with a place in memory.
    interface AreaUser {
        void use(Area area, long offset);
    }

    Place place(End end, Words words) {
        var found = new Place[1];
        address(end, words, (area, offset) -> found[0] = new Place(area, offset));
        return found[0];
    }

    // ---- names

    int key(String word, Words words) {
        Names.Region region = region(word);
        return region == null ? new Words(word).integer("key") : region.rkey();
    }

    @Override
    public Names.@Nullable Region region(String name) {
        for (End end : ends.values()) {
            Area area = end.host.areas.get(name);
            if (area != null) {
                return new Names.Region(name, area.region.key(), area.region.iova());
            }
            int dot = name.indexOf('.');
            BoundWindow window = end.host.windows.get(dot < 0 ? name : name.substring(0, dot));
            if (window != null) {
                int key = dot < 0 ? window.window.key() : window.keys.get(Integer.parseInt(name.substring(dot + 1)));
                return new Names.Region(name, key, window.virtualAddress);
            }
        }
        return null;
    }

    @Override
    public Names.@Nullable Region region(int rkey) {
        for (End end : ends.values()) {
            for (Area area : end.host.areas.values()) {
                if (area.region.key() == rkey) {
                    return new Names.Region(area.name, rkey, area.region.iova());
                }
            }
            for (BoundWindow window : end.host.windows.values()) {
                int which = window.keys.indexOf(rkey);
                if (which >= 0) {
                    String name = rkey == window.window.key() ? window.name : window.name + "." + which;
                    return new Names.Region(name, rkey, window.virtualAddress);
                }
            }
        }
        return null;
    }

    @Override
    public @Nullable String queuePair(int qpn) {
        boolean isKnown = ends.values().stream().anyMatch(end -> end.parameters.qpn == qpn);
        return isKnown ? null : "0x%06x".formatted(qpn);
    }

    @Override
    public OptionalInt queuePair(String name) {
        End end = ends.get(name);
        return end == null ? OptionalInt.empty() : OptionalInt.of(end.parameters.qpn);
    }
}

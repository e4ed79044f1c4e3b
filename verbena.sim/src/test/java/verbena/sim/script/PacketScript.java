package verbena.sim.script;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.transport.Protocol;
import verbena.transport.congestion.CongestionRule;
import verbena.transport.congestion.PeerWindow;
import verbena.transport.congestion.PeerWindows;
import verbena.transport.queue.SpareFrames;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;

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
/// end no device may have anything more to send, to complete or to report. One run is like any other: keys,
/// addresses and times are the same each time.
public final class PacketScript {
    static final int AREA_BYTES = 1 << 16;
    private static final int QPN_OF_A = 0x11;
    private static final Pattern STAMP = Pattern.compile("\\+([0-9.]+[a-z]+)\\s+(.*)");
    static final int REMOTE_ALL = Access.bits(Access.remoteAll());

    /// The Q_Key of datagrams, where a script names no other.
    public static final int QKEY = 0x11111111;

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
    private CongestionRule congestion = CongestionRule.NONE;
    private long rate;
    private boolean shared;
    private boolean signalAll;
    private boolean canMigrate;
    private boolean repeatsSelectively;
    private int spareFrames = SpareFrames.FRAMES_MAX;
    private int connections = 1;
    private final Map<String, String> others = new LinkedHashMap<>();
    private Gid addressA = Gid.parse("10.0.0.1");
    private Gid addressB = Gid.parse("10.0.0.2");

    private final Arena arena = Arena.ofConfined();
    private final WorkCompletion completion = new WorkCompletion();
    private final List<String> happened = new ArrayList<>();
    private final Ends ends = new Ends();
    private final Timeline time = new Timeline(ends, newFrame(), happened);
    private final PacketLines packets = new PacketLines(ends, time, this::newFrame, happened);

    private PacketScript(QpType type) {
        this.type = type;
    }

    /// Two ends of a reliable connection. The MTU is 1024, the first PSN 100 from a to b and 7000 back. The ACK
    /// timeout has code 14 (67.108864 ms), with 7 retries. The RNR timer has code 12 (0.64 ms), with RNR retry 7
    /// (for ever). 4 READs may be outstanding, and 128 packets under way.
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
        others.put(name, beside);
        return this;
    }

    /// What connections of both hosts do about congestion.
    ///
    /// @param option as [CongestionRule#parse] reads it
    public PacketScript congestion(String option) {
        congestion = CongestionRule.parse(option);
        return this;
    }

    /// Packets leave no faster by the paths between both hosts, as a static rate has it. Alternate paths have none.
    public PacketScript rate(long bitsPerSecond) {
        rate = bitsPerSecond;
        return this;
    }

    /// Both ends send again only what is missing, where they can.
    public PacketScript selectiveRepeat() {
        repeatsSelectively = true;
        return this;
    }

    /// Each end keeps no more packets of requests that come early.
    public PacketScript spareFrames(int max) {
        spareFrames = max;
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

    /// The wire has path migration, as InfiniBand: each host has a second address, 10.0.1.1 of a and 10.0.1.2 of b,
    /// from which alternate paths go.
    public PacketScript migration() {
        canMigrate = true;
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
        if (canMigrate) {
            hostOfA.other = Gid.parse("10.0.1.1");
            hostOfB.other = Gid.parse("10.0.1.2");
        }
        hostOfA.congestion = congestion;
        hostOfB.congestion = congestion;
        hostOfA.bitsPerSecond = rate;
        hostOfB.bitsPerSecond = rate;
        pair(add("a", hostOfA), add("b", hostOfB));
        hostOfB.addArea("r1", AREA_BYTES, hostOfB.nextIova(), End.DOMAIN, REMOTE_ALL | Access.MW_BIND.bit());
        hostOfA.addArea("r2", AREA_BYTES, hostOfA.nextIova(), End.DOMAIN, REMOTE_ALL | Access.MW_BIND.bit());
        if (connections == 2) {
            pair(add("c", hostOfA), add("d", hostOfB));
        }
        others.forEach(this::addOther);
    }

    private PeerWindows peerWindows() {
        return new PeerWindows(window, PeerWindow.PROBE_NANOS_MIN);
    }

    private void addOther(String name, String beside) {
        int number = ends.all().size() + 1;
        End a = ends.get("a", new Words(name));
        Gid address = Gid.parse((addressA.isIpv4() ? "10.0.0." : "fd00::") + number);
        Host host = beside.isEmpty()
                ? new Host(address, peerWindows(), new SplittableRandom(number), arena)
                : ends.get(beside, new Words(beside)).host;
        start(add(name, host), a, psnBack, psn);
    }

    private End add(String name, Host host) {
        QpType half = type.isXrc() && (name.equals("b") || name.equals("d")) ? QpType.XRC_TARGET : type;
        var end = new End(name, half, QPN_OF_A + ends.all().size(), host, shared, signalAll, arena);
        ends.add(end);
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
        p.canMigrate = canMigrate;
        p.repeatsAnswers = repeatsSelectively;
        p.repeatsRequests = repeatsSelectively;
        p.spareFrames = new SpareFrames(spareFrames);
        p.qkey = QKEY;
        p.access = REMOTE_ALL;
        p.destinationQpn = peer.parameters.qpn;
        p.sqPsn = sqPsn;
        p.rqPsn = rqPsn;
        p.readsOutstandingMax = reads;
        p.readsServedMax = reads;
        p.minRnrTimerCode = rnrTimerCode;
        p.ackTimeoutNanos = new AckTimeout(timeoutCode).duration().toNanos();
        p.retryCount = retryCount;
        p.rnrRetry = rnrRetry;
        p.windows = end.host.peerWindows;
        p.path = Ends.path(end, peer);
        end.modify(QpState.INIT, time.now());
        end.modify(QpState.RTR, time.now());
        end.modify(QpState.RTS, time.now());
    }

    // ---- lines

    private void step(String line) {
        Matcher stamp = STAMP.matcher(line);
        if (stamp.matches()) {
            time.pass(time.now() + VirtualTime.nanos(stamp.group(1)), true);
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
            time.pass(time.now() + VirtualTime.nanos(words.next("time").substring(1)), false);
            words.end();
            return;
        }
        String who = words.next("end");
        Arrow arrow = Arrow.parse(words.peek());
        if (arrow != null) {
            words.next("arrow");
            var to = new ArrayList<String>();
            do {
                to.add(words.next("receiver"));
            } while (words.accept(","));
            packets.run(who, arrow, to, words.rest(), words);
            return;
        }
        if (words.accept("=>")) {
            End to = ends.get(words.next("receiver"), words);
            if (who.equals("peer")) {
                MessageWay.forge(ends, to, words, time.now());
                return;
            }
            End end = ends.get(who, words);
            String seen = MessageWay.arrive(end, to, words, time.now());
            happened.add("%-14s %s => %s  %s".formatted(VirtualTime.text(time.now()), who, to.name, seen));
            return;
        }
        End end = ends.get(who, words);
        String verb = words.next("what it does");
        switch (verb) {
            case "post" -> {
                if (words.accept("recv")) {
                    Posts.receive(ends, end, words);
                } else {
                    Posts.send(ends, end, words);
                }
            }
            case "silent" -> time.silent(end, "silence");
            case "completion" -> {
                String seen = Reports.completion(ends, end, words, time.now());
                if (seen != null) {
                    happened.add("%-14s %s".formatted(VirtualTime.text(time.now()), seen));
                }
            }
            case "event" -> Reports.event(end, words);
            case "state" -> Reports.state(end, words);
            case "migration" -> Reports.migration(end, words);
            case "counter" -> Reports.counter(end, words);
            case "memory" -> Reports.memory(ends, end, words);
            case "word" -> Reports.word(ends, end, words);
            case "notified" -> Reports.notified(end, words);
            case "set" -> Setup.set(ends, end, words);
            case "modify" -> Setup.modify(ends, end, words, time.now());
            case "region" -> Setup.region(end, words);
            case "window" -> Setup.window(end, words);
            case "srq" -> Setup.srq(end, words);
            case "close" -> Setup.close(end, words);
            case "arm" -> Setup.arm(end, words);
            case "handle" -> Setup.handle(ends, end, words);
            case "attach" -> Setup.attach(end, words);
            case "detach" -> Setup.detach(end, words);
            case "direct" -> Setup.direct(end, words);
            case "messages" -> MessageWay.run(end, words);
            case "at-once" -> Reports.atOnce(end, words);
            case "shown" -> Reports.shown(ends, end, words);
            default -> throw words.wrong("no end can \"" + verb + "\"");
        }
        words.end();
    }

    private void nothing(Words words) {
        if (words.accept("until")) {
            String span = words.next("time");
            time.pass(time.now() + VirtualTime.nanos(span.substring(1)), true);
        } else if (words.accept("ever")) {
            time.pass(Protocol.NEVER, true);
        } else if (words.accept("left")) {
            time.silent("the end of the script");
            for (End end : ends.all()) {
                if (end.takeCompletion(completion, time.now())) {
                    throw new Mismatch("left over: " + end.name + " completion " + Reports.text(completion));
                }
                AsyncEvent.Type event = end.takeEvent();
                if (event != null) {
                    throw new Mismatch("left over: " + end.name + " event " + event);
                }
            }
        } else {
            time.silent("nothing");
        }
        words.end();
    }

    private Frame newFrame() {
        return Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
    }
}

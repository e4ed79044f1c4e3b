package verbena.tools.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;
import verbena.tools.perf.Exchange.Agreement;
import verbena.tools.report.Machine;
import verbena.tools.report.Report;
import verbena.tools.report.Result;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.verbs.QpType;
import verbena.verbs.TransportType;

/// One measurement, from one end: a command such as `verbena perf write-bw`. What is said to the peer, and when,
/// is what the C programs say.
final class PerfTest extends ToolCommand {
    private static final long PARENT_LINGER_MILLIS = 3_000;

    @Mixin
    private final Options options;

    private final Verb verb;

    PerfTest(Verb verb, boolean isLatency) {
        this.verb = verb;
        options = new Options(verb, isLatency);
    }

    Options options() {
        return options;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        options.settle();
        if (options.withParent) {
            Thread.ofPlatform().daemon().start(PerfTest::endWithParent);
        }
        if (!options.loopback) {
            return measure();
        }
        try (var peer =
                new LoopbackPeer(spec().name(), spec().commandLine().getParseResult(), options.listensAtItsDevice())) {
            InetSocketAddress at = peer.address();
            options.connectTo(at.getHostString(), at.getPort());
            return measure();
        }
    }

    // The process that started this one is gone when its end of the pipe is: nothing is left to do, wherever we are.
    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                // Nothing is said this way.
            }
        } catch (IOException _) {
            // The same as its end.
        }
        try {
            Thread.sleep(PARENT_LINGER_MILLIS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(1);
    }

    private int measure() throws IOException, InterruptedException {
        var printer = new Printer(out(), options);
        // A wrong device is told before anyone is bothered.
        @Nullable Device device = options.device == null ? null : Device.named(options.device);
        try (Exchange exchange = open(printer)) {
            Optional<Context> own = exchange.context();
            if (own.isPresent()) {
                return measure(exchange, own.get(), printer);
            }
            try (Context context = (device != null ? device : deviceAt(exchange.localAddress())).open()) {
                return measure(exchange, context, printer);
            }
        }
    }

    private Exchange open(Printer printer) throws IOException, InterruptedException {
        if (options.exchangesByConnectionManager()) {
            if (!options.isClient()) {
                printer.waiting();
            }
            return CmExchange.open(options, this::listening);
        }
        String host = options.host;
        if (host != null) {
            return TcpExchange.connect(host, options.port, options.timeout());
        }
        printer.waiting();
        InetAddress own = address(options.sourceIp);
        return TcpExchange.accept(
                own, options.port, options.timeout(), port -> listening(new InetSocketAddress(own, port)));
    }

    private void listening(InetSocketAddress at) {
        boolean isAny = at.getAddress().isAnyLocalAddress();
        String own = options.sourceIp == null ? Addresses.ip(at.getAddress()) : options.sourceIp;
        note("waits for a client on " + (isAny ? "every address" : own) + " port " + at.getPort() + "; there: verbena "
                + spec().qualifiedName().replaceFirst("^verbena ", "")
                + (at.getPort() == Options.PORT ? "" : " -p " + at.getPort()) + " " + (isAny ? "ADDRESS" : own));
    }

    private static InetAddress address(@Nullable String text) {
        try {
            return InetAddress.getByName(text == null ? "0.0.0.0" : text);
        } catch (UnknownHostException e) {
            throw new CommandFailed("--source_ip: no such address: " + text, e);
        }
    }

    /// Returns the software device at an address of this host; on loopback the one that gets an address of its own.
    private static Device deviceAt(InetAddress address) {
        return Device.named(address.isLoopbackAddress() ? "rocev2" : "rocev2@" + Addresses.ip(address));
    }

    // ---- setting up

    private int measure(Exchange exchange, Context context, Printer printer) throws InterruptedException {
        fitTransport(context.device());
        Mtu active = context.port(options.devicePort).activeMtu();
        if (options.isMtuTooLarge(active)) {
            note("-m: the port can use a path MTU of " + active + " now; that is taken");
        }
        Mtu own = options.mtu(active);
        Agreement agreed = options.noVersions
                ? new Agreement(own, Exchange.PAGE_BYTES, Exchange.CACHE_LINE_BYTES, false)
                : exchange.agree(own, options.terms(), options.warmUpSeconds > 0);
        fitDatagram(agreed.mtu());
        var layout = new Layout(options.type, options.queuePairs, agreed.cycle(), agreed.cacheLine(), options.size);
        int outstanding = outstanding(context);
        GidEntry gid = ownGid(exchange, context);
        try (var end = new PerfEnd(context, options, layout, outstanding)) {
            if (options.connectionManager) {
                ((CmExchange) exchange).connect(end);
            } else {
                for (int i = 0; i < options.queuePairs; i++) {
                    end.makeQueuePair();
                }
            }
            printer.settings(context, agreed.mtu(), gid.index(), outstanding);
            introduce(exchange, end, agreed.mtu(), gid, printer);
            var warmUp = new WarmUp(options, exchange, agreed.warmsUp());
            var measurement = new Measurement(end, exchange, end.local(0, gid), agreed.mtu(), printer, err(), warmUp);
            Map<String, String> machine = Machine.facts(); // the load is that before the measurement
            measurement.run();
            if (options.isClient() && !warmUp.isWarm()) {
                note("warm-up: " + warmUp.words());
            }
            report(context, exchange.peer(), agreed.mtu(), warmUp, machine, measurement.results());
            if (measurement.isInterrupted()) {
                throw new InterruptedException();
            }
            return measurement.hasMissed() ? 1 : 0;
        }
    }

    // iWARP has reliable connections, which the connection manager makes.
    private void fitTransport(Device device) {
        if (device.transportType() != TransportType.IWARP) {
            return;
        }
        if (options.type != QpType.RC) {
            throw new CommandFailed("-c " + options.type + ": iWARP has RC only, and the device is " + device.name());
        }
        if (!options.connectionManager) {
            throw new CommandFailed("iWARP connects by address and port only, and the device is " + device.name()
                    + ": give -R at both ends");
        }
    }

    // A datagram is one packet.
    private void fitDatagram(Mtu mtu) {
        if (options.type == QpType.UD && options.size > mtu.bytes()) {
            if (options.isSizeWanted()) {
                throw new CommandFailed(
                        "-s " + options.size + ": a datagram has at most " + mtu + " bytes, the path MTU");
            }
            options.size = mtu.bytes();
        }
    }

    private int outstanding(Context context) {
        if (!verb.isAnswered()) {
            return 1;
        }
        int max = context.attributes().transport().maxQpReadAtomic();
        int wanted = options.outstandingWanted == null ? max : options.outstandingWanted;
        if (wanted > max) {
            note("-o " + wanted + ": the device has at most " + max + " outstanding; that is taken");
        }
        return Math.min(wanted, max);
    }

    private GidEntry ownGid(Exchange exchange, Context context) {
        if (options.gidIndex != null) {
            try {
                return context.gid(options.devicePort, options.gidIndex);
            } catch (IllegalArgumentException e) {
                throw new CommandFailed("-x " + options.gidIndex + ": " + e.getMessage(), e);
            }
        }
        List<GidEntry> table = context.gids(options.devicePort);
        if (options.ipv6) {
            return table.stream()
                    .filter(entry -> !entry.gid().isIpv4() && !entry.gid().isLinkLocal())
                    .findFirst()
                    .orElseThrow(() -> new CommandFailed("--ipv6: the device has no IPv6 address; choose one with -d"));
        }
        Gid own = Gid.of(exchange.localAddress());
        for (GidEntry entry : table) {
            if (entry.gid().equals(own)) {
                return entry;
            }
        }
        try {
            return context.gidFor(options.devicePort, Gid.of(exchange.remoteAddress()));
        } catch (DeviceException _) {
            return table.getFirst(); // a device of choice, elsewhere than the exchange
        }
    }

    // The ends tell each other what they are, twice: before they connect, and for the eye.
    private void introduce(Exchange exchange, PerfEnd end, Mtu mtu, GidEntry gid, Printer printer)
            throws InterruptedException {
        PerfPeer first = end.local(0, gid);
        if (options.isLatency && !verb.takesReceives()) {
            PerfPeer _ = exchange.swap(first);
        }
        for (int i = 0; i < options.queuePairs; i++) {
            end.peer(i, exchange.swap(end.local(i, gid)));
        }
        if (!options.connectionManager) {
            checkFit(gid, end.peer(0));
            end.connect(mtu, gid);
        }
        if (verb.takesReceives()) {
            PerfPeer _ = exchange.swap(first);
        }
        for (int i = 0; i < options.queuePairs; i++) {
            printer.peer("local", end.local(i, gid));
        }
        for (int i = 0; i < options.queuePairs; i++) {
            printer.peer("remote", exchange.swap(end.local(i, gid)));
        }
        if (!verb.takesReceives()) {
            PerfPeer _ = exchange.swap(first);
        }
    }

    private static void checkFit(GidEntry own, PerfPeer peer) {
        if (own.gid().isIpv4() != peer.gid().isIpv4()) {
            throw new CommandFailed("the ends do not fit: here GID " + own.index() + " is " + own.gid()
                    + ", the peer's is " + peer.gid() + "; choose GIDs of one family with -x or --ipv6 at both ends");
        }
    }

    private void report(
            Context context, String peer, Mtu mtu, WarmUp warmUp, Map<String, String> machine, List<Result> results) {
        var facts = new LinkedHashMap<>(machine);
        facts.put(
                "command",
                "verbena "
                        + String.join(" ", spec().commandLine().getParseResult().originalArgs()));
        facts.put("device", context.device().name());
        facts.put("peer", peer);
        facts.put("path MTU", mtu.toString());
        facts.put("connection", options.type.toString());
        facts.put("queue pairs", Integer.toString(options.queuePairs));
        facts.put("warm-up", warmUp.words());
        warmUp.fast().ifPresent(words -> facts.put("90 % of the rate", words));
        var report = new Report("perf " + options.command(), facts, results);
        if (options.json) {
            PrintWriter out = out();
            out.println(report.json());
            out.flush();
        }
        if (options.jsonFile != null) {
            write(options.jsonFile, report.json() + "\n", "--out_json_file");
        }
        if (options.page != null) {
            write(options.page, report.html(), "--html");
        }
    }

    private static void write(Path file, String text, String option) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw CommandFailed.io(option + ": cannot write " + file, e);
        }
    }
}

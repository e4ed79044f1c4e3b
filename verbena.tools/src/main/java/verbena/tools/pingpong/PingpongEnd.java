package verbena.tools.pingpong;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CNumber;
import verbena.tools.kit.CmChannel;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;

/// The common part of the commands `pingpong rc`, `uc`, `ud` and `srq`: everything but some options.
abstract class PingpongEnd extends ToolCommand {
    /// The reason why `-o` is refused.
    static final String NO_PAGING =
            "this program's memory is the device's own and always there: it needs no on demand paging";

    private final PingpongService service;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "HOST",
            description = "Where the server is; without it, be the server.")
    private @Nullable String host;

    @Option(
            names = {"-p", "--port"},
            paramLabel = "PORT",
            defaultValue = "18515",
            converter = CNumber.class,
            description = "TCP port to listen on or connect to (default ${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = {"-d", "--ib-dev"},
            paramLabel = "DEVICE",
            description = "Device (default: loopback; a client's towards HOST, a server's at --bind).")
    private @Nullable String deviceName;

    @Option(
            names = {"-i", "--ib-port"},
            paramLabel = "PORT",
            defaultValue = "1",
            converter = CNumber.class,
            description = "Port of the device (default ${DEFAULT-VALUE}).")
    private int devicePort;

    @Option(
            names = {"-r", "--rx-depth"},
            paramLabel = "N",
            defaultValue = "500",
            converter = CNumber.class,
            description = "Receives posted at a time (default ${DEFAULT-VALUE}).")
    private int receiveDepth;

    @Option(
            names = {"-n", "--iters"},
            paramLabel = "N",
            defaultValue = "1000",
            converter = CNumber.class,
            description = "Number of exchanges (default ${DEFAULT-VALUE}).")
    private int iterations;

    @Option(
            names = {"-l", "--sl"},
            paramLabel = "SL",
            defaultValue = "0",
            converter = CNumber.class,
            description = "Service level, 0 to 15 (default ${DEFAULT-VALUE}).")
    private int serviceLevel;

    @Option(
            names = {"-g", "--gid-idx"},
            paramLabel = "INDEX",
            converter = CNumber.class,
            description = "Own GID (default: the one that suits the peer's).")
    private @Nullable Integer gidIndex;

    @Option(
            names = {"-e", "--events"},
            description = "Sleep until the completion queue has something (default: poll).")
    private boolean events;

    @Option(
            names = {"-c", "--chk"},
            description = "Check what was received, as the C programs do: the first byte of each page.")
    private boolean check;

    @Option(
            names = "--bind",
            paramLabel = "ADDRESS",
            description = "Where a server listens (default: the device's addresses; 127.0.0.1 on loopback).")
    private @Nullable String bind;

    @Option(
            names = "--cm",
            description = "Connect by address and port, through the connection manager, in place of TCP; at both ends.")
    private boolean connectionManager;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "Give up when nothing happens for so long (default ${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    PingpongEnd(PingpongService service) {
        this.service = service;
    }

    /// Returns the number of bytes of a message.
    abstract int size();

    /// Returns the path MTU; datagrams have none.
    ///
    /// @throws ParameterException when it is no MTU
    Mtu mtu() {
        return Mtu.MTU_4096;
    }

    int queuePairs() {
        return 1;
    }

    final int receiveDepth() {
        return receiveDepth;
    }

    /// Checks the options.
    ///
    /// @throws ParameterException when one is out of range
    /// @throws CommandFailed when one asks for what there is not
    void validate() {
        range("-p", port, 0, 65_535);
        range("-i", devicePort, 1, 255);
        range("-s", size(), 1, Integer.MAX_VALUE - service.areaBytes);
        Mtu _ = mtu();
        range("-r", receiveDepth, 1, Integer.MAX_VALUE);
        range("-n", iterations, 1, Integer.MAX_VALUE);
        range("-l", serviceLevel, 0, 15);
        range("--timeout", timeoutSeconds, 1, 86_400);
        if (gidIndex != null) {
            range("-g", gidIndex, 0, 65_535);
        }
        if (connectionManager) {
            for (String option : List.of("-m", "-g", "-i", "-l")) {
                if (spec().commandLine().getParseResult().hasMatchedOption(option)) {
                    throw wrong(option + ": not with --cm: the connection manager finds the way and the path MTU");
                }
            }
        }
        if (host != null && bind != null) {
            throw wrong("--bind is for a server, HOST for a client");
        }
    }

    @Override
    public final Integer call() throws IOException, InterruptedException {
        validate();
        boolean allGood = connectionManager ? playConnected() : host == null ? serve() : connect(host);
        return allGood ? 0 : 1;
    }

    private boolean playConnected() throws InterruptedException {
        try (var channel = new CmChannel(deviceName, timeout(), event -> {});
                var cm = new PingpongCm(channel, settings())) {
            if (host == null) {
                InetAddress at = bind == null ? InetAddress.ofLiteral("0.0.0.0") : address(bind);
                cm.serve(new InetSocketAddress(at, port), this::listening);
            } else {
                cm.connect(new InetSocketAddress(host, port));
            }
            List<PingpongPeer> ends = cm.ends();
            printLocal(ends.subList(0, ends.size() / 2));
            ends.subList(ends.size() / 2, ends.size()).forEach(one -> print("  remote address: " + one));
            boolean allGood = report(cm.run(host != null, check));
            cm.disconnect(host != null);
            return allGood;
        }
    }

    private void listening(InetSocketAddress at) {
        note(Addresses.waits(at, "pingpong " + service + " --cm %s -p %d"));
    }

    private boolean connect(String host) throws IOException, InterruptedException {
        if (deviceName == null) {
            try (PingpongExchange exchange = PingpongExchange.connect(host, port, timeout());
                    Context context = deviceAt(exchange.localAddress()).open();
                    var pingpong = new Pingpong(context, settings())) {
                return play(context, pingpong, exchange);
            }
        }
        // As the C programs do it. A server takes silence for a failure, and opening a device takes its time.
        try (Context context = Device.named(deviceName).open();
                var pingpong = new Pingpong(context, settings());
                PingpongExchange exchange = PingpongExchange.connect(host, port, timeout())) {
            return play(context, pingpong, exchange);
        }
    }

    private boolean play(Context context, Pingpong pingpong, PingpongExchange exchange)
            throws IOException, InterruptedException {
        GidEntry gid = gidIndex != null
                ? ownGid(context, gidIndex)
                : gidTowards(context, exchange.remoteAddress(), exchange.localAddress());
        List<PingpongPeer> local = pingpong.local(gid);
        printLocal(local);
        exchange.send(local, service.messages);
        List<PingpongPeer> remote = exchange.receive(service.messages);
        printRemote(remote);
        checkFit(context, gid, remote);
        pingpong.connect(remote, gid);
        exchange.sendDone();
        exchange.hangUp();
        return report(pingpong.run(true, check));
    }

    private boolean serve() throws IOException, InterruptedException {
        @Nullable InetAddress bindAddress = bind == null ? null : address(bind);
        Device device = deviceName != null
                ? Device.named(deviceName)
                : bindAddress == null ? Device.named("rocev2") : deviceAt(bindAddress);
        try (Context context = device.open();
                var pingpong = new Pingpong(context, settings())) {
            List<InetAddress> at = bindAddress != null ? List.of(bindAddress) : addresses(context);
            try (PingpongExchange exchange =
                    PingpongExchange.accept(at, port, timeout(), actualPort -> listening(context, at, actualPort))) {
                List<PingpongPeer> remote = exchange.receive(service.messages);
                GidEntry gid = gidIndex != null ? ownGid(context, gidIndex) : gidFor(context, remote.getFirst());
                List<PingpongPeer> local = pingpong.local(gid);
                printLocal(local);
                printRemote(remote);
                checkFit(context, gid, remote);
                pingpong.connect(remote, gid);
                exchange.send(local, service.messages);
                exchange.receiveDone();
                exchange.hangUp();
                return report(pingpong.run(false, check));
            }
        }
    }

    private void printLocal(List<PingpongPeer> local) {
        for (PingpongPeer one : local) {
            // The C program for datagrams has a colon there.
            String line = service == PingpongService.UD ? one.toString().replace(", GID", ": GID") : one.toString();
            print("  local address:  " + line);
        }
    }

    private void printRemote(List<PingpongPeer> remote) {
        for (PingpongPeer one : remote.subList(0, queuePairs())) {
            print("  remote address: " + one);
        }
    }

    private boolean report(Pingpong.Result result) {
        double micros = result.nanos() / 1_000.0;
        long bytes = (long) size() * iterations * 2;
        print("%d bytes in %.2f seconds = %.2f Mbit/sec".formatted(bytes, micros / 1e6, bytes * 8.0 / micros));
        print("%d iters in %.2f seconds = %.2f usec/iter".formatted(iterations, micros / 1e6, micros / iterations));
        result.wrongPages().forEach(page -> print("invalid data in page " + page));
        return result.wrongPages().isEmpty();
    }

    private void listening(Context context, List<InetAddress> at, int port) {
        String where = at.stream().map(Addresses::ip).collect(Collectors.joining(" and "));
        note("device " + context.device().name() + " waits for a client on " + where + " port " + port
                + " (TCP); there: verbena pingpong " + service + (port == 18_515 ? "" : " -p " + port) + " "
                + Addresses.ip(at.getFirst()));
    }

    private Pingpong.Settings settings() {
        return new Pingpong.Settings(
                service,
                queuePairs(),
                devicePort,
                size(),
                mtu(),
                receiveDepth,
                iterations,
                serviceLevel,
                events,
                timeout());
    }

    private Duration timeout() {
        return Duration.ofSeconds(timeoutSeconds);
    }

    /// Returns the software device at an address of this host; on loopback the one that gets an address of its own.
    private static Device deviceAt(InetAddress address) {
        return Device.named(address.isLoopbackAddress() ? "rocev2" : "rocev2@" + Addresses.ip(address));
    }

    /// Returns the address at which a server listens by default: at the device's address, and on loopback at
    /// 127.0.0.1.
    private List<InetAddress> addresses(Context context) {
        List<InetAddress> own = context.gids(devicePort).stream()
                .map(GidEntry::gid)
                .filter(gid -> !gid.isLinkLocal())
                .map(Gid::address)
                .map(address -> address.isLoopbackAddress() && Gid.of(address).isIpv4() ? loopback() : address)
                .distinct()
                .toList();
        if (own.isEmpty()) {
            throw new CommandFailed("device " + context.device().name()
                    + " has link-local addresses only; say with --bind where to listen");
        }
        return own;
    }

    private static InetAddress loopback() {
        return InetAddress.ofLiteral("127.0.0.1");
    }

    private InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new CommandFailed("--bind: no such address: " + text, e);
        }
    }

    private GidEntry ownGid(Context context, int index) {
        try {
            return context.gid(devicePort, index);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed("-g " + index + ": " + e.getMessage() + "; the table: " + table(context), e);
        }
    }

    /// Returns the GID of a client, which has to name it before it knows the server's: the GID that fits the path
    /// to the server.
    private GidEntry gidTowards(Context context, InetAddress remote, InetAddress local) {
        for (GidEntry entry : context.gids(devicePort)) {
            if (entry.gid().equals(Gid.of(local)) && !local.isLoopbackAddress()) {
                return entry;
            }
        }
        try {
            return context.gidFor(devicePort, Gid.of(remote));
        } catch (DeviceException e) {
            throw new CommandFailed(e.getMessage() + "; choose a device with -d or a GID with -g", e);
        }
    }

    private GidEntry gidFor(Context context, PingpongPeer remote) {
        requireGid(remote);
        try {
            return context.gidFor(devicePort, remote.gid());
        } catch (DeviceException e) {
            throw new CommandFailed(
                    e.getMessage() + "; choose a device with -d here, or another GID with -g at the peer", e);
        }
    }

    private void checkFit(Context context, GidEntry own, List<PingpongPeer> remote) {
        for (PingpongPeer one : remote.subList(0, queuePairs())) {
            if (one.equals(PingpongPeer.NONE)) {
                throw new CommandFailed("the peer has fewer than " + queuePairs()
                        + " queue pairs; give -q with the same number at both ends");
            }
            requireGid(one);
            if (own.gid().isIpv4() != one.gid().isIpv4()) {
                throw new CommandFailed("the ends do not fit: here GID " + own.index() + " is " + family(own.gid())
                        + ", the peer's is " + family(one.gid())
                        + "; give -g with a GID of the same family at both ends. Here: " + table(context));
            }
        }
    }

    private static void requireGid(PingpongPeer remote) {
        if (remote.gid().low() == 0) {
            throw new CommandFailed("the peer sent no GID, which RoCE cannot do without; give it -g with the index of a"
                    + " RoCE v2 GID (ibv_devinfo -v lists them)");
        }
    }

    private static String family(Gid gid) {
        return (gid.isIpv4() ? "IPv4 " : "IPv6 ") + gid;
    }

    private String table(Context context) {
        return context.gids(devicePort).stream()
                .map(entry -> entry.index() + " " + entry.gid())
                .collect(Collectors.joining(", "));
    }
}

package verbena.tools;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;

/// `verbena pingpong rc`: `ibv_rc_pingpong`, so alike that either end can be that program.
@Command(
        name = "rc",
        header = "Ping-pong over a reliable connection, as ibv_rc_pingpong(1).",
        description = {
            "",
            "Without HOST waits for a client; with HOST connects to the server there. The other end may be"
                    + " ibv_rc_pingpong; give it -g with a RoCE v2 GID of the same family.",
            "-m, -s and -n must be the same at both ends: the programs do not tell each other."
        })
final class PingpongRcCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

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
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            defaultValue = "4096",
            converter = CNumber.class,
            description = "Size of a message (default ${DEFAULT-VALUE}).")
    private int size;

    @Option(
            names = {"-m", "--mtu"},
            paramLabel = "BYTES",
            defaultValue = "1024",
            converter = CNumber.class,
            description = "Path MTU: 256, 512, 1024, 2048, 4096 (default ${DEFAULT-VALUE}).")
    private int mtu;

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
            description = "Check what was received, as ibv_rc_pingpong does: the first byte of each page.")
    private boolean check;

    @Option(
            names = {"-N", "--new_send"},
            description = "Accepted; Verbena has only the new way of posting.")
    @SuppressWarnings("UnusedVariable") // there is nothing to choose
    private boolean newSend;

    @Option(
            names = {"-o", "--odp"},
            description = "Refused: on demand paging is for hardware.")
    private boolean onDemandPaging;

    @Option(
            names = {"-O", "--iodp"},
            description = "Refused: on demand paging is for hardware.")
    private boolean implicitOnDemandPaging;

    @Option(
            names = {"-P", "--prefetch"},
            description = "Refused: goes with on demand paging.")
    private boolean prefetch;

    @Option(
            names = {"-t", "--ts"},
            description = "Refused: completions have no time stamps.")
    private boolean timeStamps;

    @Option(
            names = {"-j", "--dm"},
            description = "Refused: there is no device memory.")
    private boolean deviceMemory;

    @Option(
            names = "--bind",
            paramLabel = "ADDRESS",
            description = "Where a server listens (default: the device's addresses; 127.0.0.1 on loopback).")
    private @Nullable String bind;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "Give up when nothing happens for so long (default ${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    @Override
    public Integer call() throws IOException, InterruptedException {
        validate();
        refuse();
        boolean allGood = host == null ? serve() : connect(host);
        return allGood ? 0 : 1;
    }

    private void validate() {
        range("-p", port, 0, 65_535);
        range("-i", devicePort, 1, 255);
        range("-s", size, 1, Integer.MAX_VALUE);
        range("-r", receiveDepth, 1, Integer.MAX_VALUE);
        range("-n", iterations, 1, Integer.MAX_VALUE);
        range("-l", serviceLevel, 0, 15);
        range("--timeout", timeoutSeconds, 1, 86_400);
        if (gidIndex != null) {
            range("-g", gidIndex, 0, 65_535);
        }
        if (mtu < 256 || mtu > 4096 || Integer.bitCount(mtu) != 1) {
            throw wrong("-m: 256, 512, 1024, 2048 or 4096, got " + mtu);
        }
        if (host != null && bind != null) {
            throw wrong("--bind is for a server, HOST for a client");
        }
    }

    private void refuse() {
        String why = onDemandPaging || implicitOnDemandPaging
                ? "-o, -O: a software device has no on demand paging; its memory needs none"
                : prefetch
                        ? "-P: prefetching goes with on demand paging, which a software device does not have"
                        : timeStamps
                                ? "-t: a software device's completions have no time stamps"
                                : deviceMemory ? "-j: a software device has no memory of its own" : "";
        if (!why.isEmpty()) {
            throw new CommandFailed(why);
        }
    }

    private boolean connect(String host) throws IOException, InterruptedException {
        // A wrong device is told before anyone is bothered.
        @Nullable Device named = deviceName == null ? null : Device.named(deviceName);
        try (PingpongExchange exchange = PingpongExchange.connect(host, port, timeout())) {
            Device device = named != null ? named : deviceAt(exchange.localAddress());
            try (Context context = device.open();
                    var pingpong = new Pingpong(context, settings())) {
                GidEntry gid = gidIndex != null
                        ? ownGid(context, gidIndex)
                        : gidTowards(context, exchange.remoteAddress(), exchange.localAddress());
                PingpongPeer local = pingpong.local(gid);
                print("  local address:  " + local);
                exchange.send(local);
                PingpongPeer remote = exchange.receive();
                print("  remote address: " + remote);
                checkFit(context, gid, remote);
                pingpong.connect(remote, gid);
                exchange.sendDone();
                exchange.hangUp();
                return report(pingpong.run(true, check));
            }
        }
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
                PingpongPeer remote = exchange.receive();
                GidEntry gid = gidIndex != null ? ownGid(context, gidIndex) : gidFor(context, remote);
                PingpongPeer local = pingpong.local(gid);
                print("  local address:  " + local);
                print("  remote address: " + remote);
                checkFit(context, gid, remote);
                pingpong.connect(remote, gid);
                exchange.send(local);
                exchange.receiveDone();
                exchange.hangUp();
                return report(pingpong.run(false, check));
            }
        }
    }

    private boolean report(Pingpong.Result result) {
        double micros = result.nanos() / 1_000.0;
        long bytes = (long) size * iterations * 2;
        print("%d bytes in %.2f seconds = %.2f Mbit/sec".formatted(bytes, micros / 1e6, bytes * 8.0 / micros));
        print("%d iters in %.2f seconds = %.2f usec/iter".formatted(iterations, micros / 1e6, micros / iterations));
        result.wrongPages().forEach(page -> print("invalid data in page " + page));
        return result.wrongPages().isEmpty();
    }

    private void listening(Context context, List<InetAddress> at, int port) {
        String where = at.stream().map(Addresses::ip).collect(Collectors.joining(" and "));
        PrintWriter err = spec.commandLine().getErr();
        err.println("device " + context.device().name() + " waits for a client on " + where + " port " + port
                + " (TCP); there: verbena pingpong rc" + (port == 18_515 ? "" : " -p " + port) + " "
                + Addresses.ip(at.getFirst()));
        err.flush();
    }

    private Pingpong.Settings settings() {
        return new Pingpong.Settings(
                devicePort, size, Mtu.ofBytes(mtu), receiveDepth, iterations, serviceLevel, events, timeout());
    }

    private Duration timeout() {
        return Duration.ofSeconds(timeoutSeconds);
    }

    /// The software device at an address of this host; on loopback the one that gets an address of its own.
    private static Device deviceAt(InetAddress address) {
        return Device.named(address.isLoopbackAddress() ? "rocev2" : "rocev2@" + Addresses.ip(address));
    }

    /// Where a server listens unless told: where the device is, and on loopback where everyone looks.
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

    /// A client has to name its GID before it knows the server's: it takes the one that suits the way it got there.
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

    private void checkFit(Context context, GidEntry own, PingpongPeer remote) {
        requireGid(remote);
        if (own.gid().isIpv4() != remote.gid().isIpv4()) {
            throw new CommandFailed("the ends do not fit: here GID " + own.index() + " is " + family(own.gid())
                    + ", the peer's is " + family(remote.gid())
                    + "; give -g with a GID of the same family at both ends. Here: " + table(context));
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

    private void print(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }

    private void range(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw wrong(option + ": " + min + " to " + max + ", got " + value);
        }
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}

package verbena.tools.demo;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.kit.ChildProcess;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.HostNetwork;
import verbena.tools.kit.ToolCommand;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.VerbsException;
import verbena.verbs.spi.Provider;
import verbena.verbs.spi.Providers;

/// `verbena demo`: what RDMA is, in one screen.
@Command(
        name = "demo",
        header = "Show RDMA at work between two processes of this host, and check every byte.",
        description = {
            "",
            "Starts a second process as the peer and does one operation of each kind with it:"
                    + " SEND, WRITE, WRITE with immediate, READ, FETCH_ADD, CMP_SWAP. Tells which side did what, checks"
                    + " all memory after each, and ends with figures beside those of a TCP socket, measured when they"
                    + " stand still. Needs no root and takes some ten seconds; --device rocev2 does the same with"
                    + " packets in UDP, --device iwarp over TCP. Status 0 says that all was as it should be."
        })
public final class DemoCommand extends ToolCommand {
    private static final String SHARED_MEMORY = "shm";

    @Option(
            names = {"-d", "--device"},
            paramLabel = "DEVICE",
            description = "Our device (default: shm, memory that both processes share, where that works; else rocev2,"
                    + " loopback).")
    private @Nullable String device;

    @Option(
            names = "--peer-device",
            paramLabel = "DEVICE",
            description = "The peer's device (default: of the same name).")
    private @Nullable String peerDevice;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            defaultValue = "0.5",
            description = "How long to measure each contender, after a warm-up of at most six times that for each"
                    + " figure; 0 leaves the figures out (default ${DEFAULT-VALUE}).")
    private double seconds;

    @Option(
            names = "--all",
            description = "Every kind of device that works on this host, one after the other, and then their figures"
                    + " side by side.")
    private boolean all;

    @Option(
            names = "--ethernet",
            description =
                    "RoCE in Ethernet frames of our own: v1, v2, and both by AF_XDP where this user may load programs into"
                            + " the kernel. The frames travel over a cable (veth) between two networks that only the demo sees. Linux;"
                            + " no root where the system lets users have networks of their own.")
    private boolean ethernet;

    @Option(names = "--on-cable", hidden = true)
    private boolean onCable;

    @Option(names = "--json", description = "One JSON object instead of the text; with --all one for each device.")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (!(seconds >= 0 && seconds <= 60)) {
            throw wrong("--seconds: 0 to 60, got " + seconds);
        }
        if (all && (peerDevice != null || device != null)) {
            throw wrong("--all takes every device: --device and --peer-device do not go with it");
        }
        if (ethernet && (all || peerDevice != null || device != null)) {
            throw wrong("--ethernet has devices of its own: --all, --device and --peer-device do not go with it");
        }
        if (onCable) {
            runOnCable();
            return 0;
        }
        if (ethernet) {
            var again = new ArrayList<>(List.of("demo", "--on-cable", "--seconds", Double.toString(seconds)));
            if (json) {
                again.add("--json");
            }
            try (var inside = new ChildProcess(HostNetwork.newNetwork(), again, Redirect.INHERIT, Redirect.INHERIT)) {
                return inside.await();
            }
        }
        if (!all) {
            String our = device != null ? device : isListed(SHARED_MEMORY) ? SHARED_MEMORY : "rocev2";
            new Demo(output(), our, peerDevice == null ? our : peerDevice, seconds, List.of()).run();
            return 0;
        }
        boolean anyDevice = false;
        var results = new LinkedHashMap<String, DemoFigures.Result>();
        for (Provider provider : Providers.all()) {
            if (provider.devices().stream().anyMatch(each -> provider.isOfSystem() || isOnLoopback(each))) {
                anyDevice = true;
                DemoFigures.Result result =
                        new Demo(output(), provider.kind(), provider.kind(), seconds, List.of()).run();
                if (result != null) {
                    results.put(provider.kind(), result);
                }
                space();
            }
        }
        if (!anyDevice) {
            throw new CommandFailed("no device works on this host: 'verbena doctor' tells why");
        }
        if (!results.isEmpty() && !json) {
            sideBySide(results);
        }
        return 0;
    }

    private void runOnCable() throws IOException, InterruptedException {
        var results = new LinkedHashMap<String, DemoFigures.Result>();
        try (var cable = new DemoCable()) {
            for (String kind : List.of("rocev1_%s", "rocev2_%s,link=raw", "rocev1_%s,link=xdp", "rocev2_%s,link=xdp")) {
                String here = kind.formatted(DemoCable.NEAR);
                String why = whyNot(here);
                if (why != null && kind.endsWith("xdp")) {
                    output().note(here + " is left out: " + why);
                    continue;
                }
                DemoFigures.Result result =
                        new Demo(output(), here, kind.formatted(DemoCable.FAR), seconds, cable.there()).run();
                if (result != null) {
                    results.put(kind.replace("_%s", ""), result);
                }
                space();
            }
        }
        if (!results.isEmpty() && !json) {
            sideBySide(results);
        }
    }

    /// Why a device cannot be opened; null when it can.
    private static @Nullable String whyNot(String device) {
        try (Context _ = Device.named(device).open()) {
            return null;
        } catch (VerbsException e) {
            return e.getMessage();
        }
    }

    /// Without an address, it gets one of loopback when it is opened.
    private static boolean isOnLoopback(Device device) {
        return device.gids().isEmpty()
                || device.gids().stream()
                        .anyMatch(entry -> entry.gid().address().isLoopbackAddress());
    }

    private static boolean isListed(String name) {
        return Device.list().stream().anyMatch(each -> each.name().equals(name));
    }

    private DemoOutput output() {
        return new DemoOutput(out(), spec().commandLine().getColorScheme(), json);
    }

    private void space() {
        if (!json) {
            out().println();
        }
    }

    private void sideBySide(Map<String, DemoFigures.Result> results) {
        DemoOutput output = output();
        output.table("Side by side:", "WRITE of 64 KiB", "TCP", "8 bytes, polled", "awaited", "TCP");
        results.forEach((kind, result) -> output.row(
                kind,
                Map.of(),
                DemoFigures.gigabytes(result.write()),
                DemoFigures.gigabytes(result.stream()),
                DemoFigures.micros(result.polled()),
                DemoFigures.micros(result.awaited()),
                DemoFigures.micros(result.echo())));
    }
}

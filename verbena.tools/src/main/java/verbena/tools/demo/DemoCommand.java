package verbena.tools.demo;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.demo.DemoSideBySide.Pair;
import verbena.tools.kit.ChildProcess;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.HostNetwork;
import verbena.tools.kit.ToolCommand;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.VerbsException;
import verbena.verbs.internal.Providers;
import verbena.verbs.spi.Provider;

/// `verbena demo`: what RDMA is, in one screen.
@Command(
        name = "demo",
        header = "Show RDMA at work between two processes of this host, and check every byte.",
        description = {
            "",
            "Starts a second process as the peer and does one operation of each kind with it:"
                    + " SEND, WRITE, WRITE with immediate, READ, FETCH_ADD, CMP_SWAP, all by packets of RoCE v2. Tells"
                    + " which side did what, checks all memory after each, and ends with figures of rocev2, iwarp and"
                    + " shm beside those of a TCP socket. Needs no root and takes some ten seconds. --device shows"
                    + " another device, with more figures. Status 0 says that all was as it should be."
        })
public final class DemoCommand extends ToolCommand {
    private static final String FIRST = "rocev2";
    /// Kinds that need no right and no network.
    private static final List<String> COMPARED = List.of(FIRST, "iwarp", "shm");

    @Option(
            names = {"-d", "--device"},
            paramLabel = "DEVICE",
            description = "This device only, beside a TCP socket (default: the steps by rocev2, and figures of rocev2,"
                    + " iwarp and shm).")
    private @Nullable String device;

    @Option(
            names = "--peer-device",
            paramLabel = "DEVICE",
            description = "The peer's device (default: of the same name).")
    private @Nullable String peerDevice;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            defaultValue = "0.25",
            description = "How long to measure each contender, after a warm-up of at most twice that for each;"
                    + " 0 leaves the figures out (default ${DEFAULT-VALUE}).")
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

    @Option(
            names = "--json",
            description =
                    "One JSON object instead of the text; with --all one for each device, and one with the figures.")
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
        if (device != null || peerDevice != null) {
            String our = device != null ? device : FIRST;
            DemoOutput output = output();
            new Demo(output, our, peerDevice == null ? our : peerDevice, seconds, List.of()).run();
            output.end();
            return 0;
        }
        if (!all) {
            show(
                    new Pair(FIRST, FIRST, FIRST),
                    working().stream()
                            .filter(each -> COMPARED.contains(each.name()))
                            .toList(),
                    List.of());
            return 0;
        }
        List<Pair> kinds = working();
        if (kinds.isEmpty()) {
            throw new CommandFailed("no device works on this host: 'verbena doctor' tells why");
        }
        for (Pair kind : kinds) {
            show(kind, List.of(), List.of());
        }
        if (seconds > 0) {
            DemoOutput output = output();
            new DemoSideBySide(output, seconds, List.of()).run(kinds);
            output.end();
        }
        return 0;
    }

    private void runOnCable() throws IOException, InterruptedException {
        try (var cable = new DemoCable()) {
            for (String kind : List.of("rocev1_%s", "rocev2_%s,link=raw", "rocev1_%s,link=xdp", "rocev2_%s,link=xdp")) {
                String here = kind.formatted(DemoCable.NEAR);
                String why = whyNot(here);
                if (why != null && kind.endsWith("xdp")) {
                    output().note(here + " is left out: " + why);
                    continue;
                }
                // One after the other, because an interface has queue pairs of one device at a time.
                var pair = new Pair(kind.replace("_%s", ""), here, kind.formatted(DemoCable.FAR));
                show(pair, List.of(pair), cable.there());
            }
        }
    }

    // Runs all steps of one device, and takes the figures of some.
    private void show(Pair steps, List<Pair> figures, List<String> there) throws IOException, InterruptedException {
        DemoOutput output = output();
        new Demo(output, steps.ours(), steps.peers(), 0, there).run();
        if (seconds > 0 && !figures.isEmpty()) {
            new DemoSideBySide(output, seconds, there).run(figures);
        }
        output.end();
        if (!json) {
            out().println();
        }
    }

    /// Returns the kinds of device that work on this host.
    private static List<Pair> working() {
        var kinds = new ArrayList<Pair>();
        for (Provider provider : Providers.all()) {
            if (provider.devices().stream().anyMatch(each -> provider.isOfSystem() || isOnLoopback(each))) {
                String kind = provider.kind();
                kinds.add(new Pair(kind, kind, kind));
            }
        }
        return kinds;
    }

    /// Returns the reason why a device cannot be opened; null when it can.
    private static @Nullable String whyNot(String device) {
        try (Context _ = Device.named(device).open()) {
            return null;
        } catch (VerbsException e) {
            return e.getMessage();
        }
    }

    /// Returns whether the device is on loopback. A device without an address gets an address of loopback when it
    /// is opened.
    private static boolean isOnLoopback(Device device) {
        return device.gids().isEmpty()
                || device.gids().stream()
                        .anyMatch(entry -> entry.gid().address().isLoopbackAddress());
    }

    private DemoOutput output() {
        return new DemoOutput(out(), spec().commandLine().getColorScheme(), json);
    }
}

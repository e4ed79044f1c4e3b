package verbena.tools;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import verbena.verbs.spi.Provider;

/// `verbena demo`: what RDMA is, in one screen.
@Command(
        name = "demo",
        header = "Show RDMA at work between two processes of this host, and check every byte.",
        description = {
            "",
            "Starts a second process as the peer and does one operation of each kind with it, over real packets:"
                    + " SEND, WRITE, WRITE with immediate, READ, FETCH_ADD, CMP_SWAP. Tells which side did what, checks"
                    + " all memory after each, and ends with figures beside those of a TCP socket, measured when they"
                    + " stand still. Needs no root and takes some ten seconds; --device iwarp does the same over TCP. Status 0 says that all was as it should be."
        })
final class DemoCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = {"-d", "--device"},
            paramLabel = "DEVICE",
            defaultValue = "rocev2",
            description = "Our device (default ${DEFAULT-VALUE}: loopback).")
    private String device;

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

    @Option(names = "--json", description = "One JSON object instead of the story; with --all one for each device.")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (!(seconds >= 0 && seconds <= 60)) {
            throw new ParameterException(spec.commandLine(), "--seconds: 0 to 60, got " + seconds);
        }
        if (all && (peerDevice != null || spec.commandLine().getParseResult().hasMatchedOption("--device"))) {
            throw new ParameterException(
                    spec.commandLine(), "--all takes every device: --device and --peer-device do not go with it");
        }
        if (!all) {
            new Demo(story(), device, peerDevice == null ? device : peerDevice, seconds).run();
            return 0;
        }
        boolean anyDevice = false;
        var results = new LinkedHashMap<String, DemoFigures.Result>();
        for (Provider provider : ServiceLoader.load(Provider.class)) {
            if (!provider.devices().isEmpty()) {
                anyDevice = true;
                DemoFigures.Result result = new Demo(story(), provider.kind(), provider.kind(), seconds).run();
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

    private DemoStory story() {
        return new DemoStory(spec.commandLine().getOut(), spec.commandLine().getColorScheme(), json);
    }

    private void space() {
        if (!json) {
            spec.commandLine().getOut().println();
        }
    }

    private void sideBySide(Map<String, DemoFigures.Result> results) {
        DemoStory story = story();
        story.table("Side by side:", "WRITE of 64 KiB", "TCP", "8 bytes, polled", "awaited", "TCP");
        results.forEach((kind, result) -> story.row(
                kind,
                Map.of(),
                DemoFigures.gigabytes(result.write()),
                DemoFigures.gigabytes(result.stream()),
                DemoFigures.micros(result.polled()),
                DemoFigures.micros(result.awaited()),
                DemoFigures.micros(result.echo())));
    }
}

package verbena.tools;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `verbena demo`: what RDMA is, in one screen.
@Command(
        name = "demo",
        header = "Show RDMA at work between two processes of this host, and check every byte.",
        description = {
            "",
            "Starts a second process as the peer and does one operation of each kind with it, over real packets:"
                    + " SEND, WRITE, WRITE with immediate, READ, FETCH_ADD, CMP_SWAP. Tells for each who did what, checks"
                    + " all memory after each, and ends with figures beside those of a TCP socket. Needs no root and"
                    + " takes some ten seconds. Status 0 says that all was as it should be."
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
            defaultValue = "1",
            description = "How long to measure for each figure; 0 leaves the figures out (default ${DEFAULT-VALUE}).")
    private double seconds;

    @Option(names = "--json", description = "One JSON object instead of the story.")
    private boolean json;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (!(seconds >= 0 && seconds <= 60)) {
            throw new ParameterException(spec.commandLine(), "--seconds: 0 to 60, got " + seconds);
        }
        var story =
                new DemoStory(spec.commandLine().getOut(), spec.commandLine().getColorScheme(), json);
        new Demo(story, device, peerDevice == null ? device : peerDevice, seconds).run();
        return 0;
    }
}

package verbena.tools.fabric;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.nic.fabric.FabricPort;
import verbena.nic.fabric.FabricSocket;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;

/// `verbena fabric show`: the nodes, cables and counters of the running fabric.
@Command(name = "show", header = "Show the running fabric: nodes, LIDs, cables, port states, packets.")
public final class FabricShowCommand extends ToolCommand {
    private static final int SECONDS_MAX = 3_600;

    @Option(names = "--routes", description = "Show the forwarding tables of the switches too.")
    private boolean hasRoutes;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Write a page that draws the topology, with all ports and routes, instead.")
    private @Nullable Path page;

    @Option(
            names = "--every",
            paramLabel = "SECONDS",
            description = "Write the page again and again, until Ctrl-C; a browser that shows it follows.")
    private int everySeconds;

    @Override
    public Integer call() throws InterruptedException {
        Path file = page;
        if (file == null && everySeconds != 0) {
            throw wrong("--every: for a page, by --html FILE");
        }
        range("--every", everySeconds, 0, SECONDS_MAX);
        if (file == null) {
            out().print(describe(hasRoutes));
            out().flush();
            return 0;
        }
        write(file);
        print("written: " + file);
        while (everySeconds > 0) {
            TimeUnit.SECONDS.sleep(everySeconds);
            write(file);
        }
        return 0;
    }

    private void write(Path file) {
        try {
            Files.writeString(file, FabricPage.of(describe(true), everySeconds));
        } catch (IOException e) {
            throw CommandFailed.io("write " + file, e);
        }
    }

    private static String describe(boolean hasRoutes) {
        String text = FabricPort.describe(FabricSocket.place(), hasRoutes);
        if (text == null) {
            throw new CommandFailed("fabric: none of this user runs at " + FabricSocket.place());
        }
        return text;
    }
}

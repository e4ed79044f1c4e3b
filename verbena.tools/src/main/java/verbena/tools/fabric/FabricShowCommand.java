package verbena.tools.fabric;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.nic.link.FabricPort;
import verbena.nic.link.FabricSocket;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;

/// `verbena fabric show`: the nodes, cables and counters of the running fabric.
@Command(name = "show", header = "Show the running fabric: nodes, LIDs, cables, port states, packets.")
public final class FabricShowCommand extends ToolCommand {
    @Option(names = "--routes", description = "Show the forwarding tables of the switches too.")
    private boolean hasRoutes;

    @Override
    public Integer call() {
        String text = FabricPort.describe(FabricSocket.place(), hasRoutes);
        if (text == null) {
            throw new CommandFailed("fabric: none of this user runs at " + FabricSocket.place());
        }
        out().print(text);
        out().flush();
        return 0;
    }
}

package verbena.tools.fabric;

import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import verbena.nic.fabric.FabricPort;
import verbena.nic.fabric.FabricSocket;
import verbena.subnet.topology.Topology;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;

/// `verbena fabric link`: pulls cables of the running fabric, or plugs them in again.
@Command(
        name = "link",
        header = "Take a link of the running fabric down, or up again; without a port, all links of the node.")
public final class FabricLinkCommand extends ToolCommand {
    @Parameters(index = "0", paramLabel = "NODE[:PORT]", description = "A node, and perhaps one of its ports.")
    private String end;

    @Parameters(index = "1", paramLabel = "up|down", description = "What becomes of the link.")
    private String step;

    @Override
    public Integer call() {
        var at = NodeName.of(end, this);
        if (!step.equals("up") && !step.equals("down")) {
            throw wrong("up or down, got " + step);
        }
        range("port", at.number(), 0, Topology.PORTS_MAX);
        String refusal = FabricPort.setLink(FabricSocket.place(), at.name(), at.number(), step.equals("up"));
        if (refusal == null) {
            throw new CommandFailed("fabric: none of this user runs at " + FabricSocket.place());
        }
        if (!refusal.isEmpty()) {
            throw new CommandFailed("fabric: " + refusal);
        }
        return 0;
    }
}

package verbena.tools.fabric;

import picocli.CommandLine.Command;
import verbena.nic.fabric.FabricPort;
import verbena.nic.fabric.FabricSocket;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;

/// `verbena fabric down`: ends the running fabric.
@Command(name = "down", header = "End the running fabric; the ports of its devices go down.")
public final class FabricDownCommand extends ToolCommand {
    @Override
    public Integer call() {
        if (!FabricPort.takeDown(FabricSocket.place())) {
            throw new CommandFailed("fabric: none of this user runs at " + FabricSocket.place());
        }
        return 0;
    }
}

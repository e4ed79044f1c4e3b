package verbena.tools.pingpong;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `verbena pingpong`: the parent of one command for each kind of queue pair.
@Command(
        name = "pingpong",
        header = "Send messages back and forth, with Verbena or a C program at the other end.",
        synopsisSubcommandLabel = "KIND",
        subcommands = {
            PingpongRcCommand.class,
            PingpongUcCommand.class,
            PingpongUdCommand.class,
            PingpongSrqCommand.class
        })
public final class PingpongCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "");
    }
}

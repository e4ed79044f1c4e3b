package verbena.tools.pingpong;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.kit.Size;

/// `verbena pingpong ud`: `ibv_ud_pingpong`, so alike that either end can be that program.
@Command(
        name = "ud",
        header = "Ping-pong with datagrams, as ibv_ud_pingpong(1).",
        description = {
            "",
            "Without HOST waits for a client; with HOST connects to the server there. The other end may be"
                    + " ibv_ud_pingpong; give it -g with a RoCE v2 GID of the same family.",
            "-s and -n must be the same at both ends: the programs do not tell each other. Lost messages are not sent"
                    + " again, and then both ends give up after --timeout."
        })
final class PingpongUdCommand extends PingpongEnd {
    /// The default is what the C program does; its help and its manual say 2048.
    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            defaultValue = "1024",
            converter = Size.class,
            description = "Size of a message, at most the port's MTU (default ${DEFAULT-VALUE}).")
    private int size;

    PingpongUdCommand() {
        super(PingpongService.UD);
    }

    @Override
    int size() {
        return size;
    }
}

package verbena.tools.pingpong;

import picocli.CommandLine.Command;

/// `verbena pingpong uc`: `ibv_uc_pingpong`, so alike that either end can be that program.
@Command(
        name = "uc",
        header = "Ping-pong over an unreliable connection, as ibv_uc_pingpong(1).",
        description = {
            "",
            "Without HOST waits for a client; with HOST connects to the server there. The other end may be"
                    + " ibv_uc_pingpong; give it -g with a RoCE v2 GID of the same family.",
            "-m, -s and -n must be the same at both ends: the programs do not tell each other. Lost messages are not"
                    + " sent again, and then both ends give up after --timeout."
        })
final class PingpongUcCommand extends PingpongConnectedEnd {
    PingpongUcCommand() {
        super(PingpongService.UC);
    }
}

package verbena.tools.pingpong;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.kit.CommandFailed;

/// `verbena pingpong rc`: `ibv_rc_pingpong`, so alike that either end can be that program.
@Command(
        name = "rc",
        header = "Ping-pong over a reliable connection, as ibv_rc_pingpong(1).",
        description = {
            "",
            "Without HOST waits for a client; with HOST connects to the server there. The other end may be"
                    + " ibv_rc_pingpong; give it -g with a RoCE v2 GID of the same family.",
            "-m, -s and -n must be the same at both ends: the programs do not tell each other."
        })
final class PingpongRcCommand extends PingpongConnectedEnd {
    @Option(
            names = {"-N", "--new_send"},
            description = "Accepted; Verbena has only the new way of posting.")
    @SuppressWarnings("UnusedVariable") // there is nothing to choose
    private boolean newSend;

    @Option(
            names = {"-o", "--odp"},
            description = "Refused: this program's memory needs no on demand paging.")
    private boolean onDemandPaging;

    @Option(
            names = {"-O", "--iodp"},
            description = "Refused: this program's memory needs no on demand paging.")
    private boolean implicitOnDemandPaging;

    @Option(
            names = {"-P", "--prefetch"},
            description = "Refused: goes with on demand paging.")
    private boolean prefetch;

    @Option(
            names = {"-t", "--ts"},
            description = "Refused: completions have no time stamps.")
    private boolean timeStamps;

    @Option(
            names = {"-j", "--dm"},
            description = "Refused: there is no device memory.")
    private boolean deviceMemory;

    PingpongRcCommand() {
        super(PingpongService.RC);
    }

    @Override
    void validate() {
        super.validate();
        String why = onDemandPaging || implicitOnDemandPaging
                ? "-o, -O: " + NO_PAGING
                : prefetch
                        ? "-P: prefetching goes with on demand paging, which this program's memory does not need"
                        : timeStamps
                                ? "-t: a software device's completions have no time stamps"
                                : deviceMemory ? "-j: a software device has no memory of its own" : "";
        if (!why.isEmpty()) {
            throw new CommandFailed(why);
        }
    }
}

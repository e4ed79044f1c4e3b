package verbena.tools.pingpong;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.kit.CNumber;
import verbena.tools.kit.CommandFailed;

/// `verbena pingpong srq`: `ibv_srq_pingpong`, so alike that either end can be that program.
@Command(
        name = "srq",
        header = "Ping-pong over reliable connections that share a receive queue, as ibv_srq_pingpong(1).",
        description = {
            "",
            "Without HOST waits for a client; with HOST connects to the server there. The other end may be"
                    + " ibv_srq_pingpong; give it -g with a RoCE v2 GID of the same family.",
            "-m, -s, -n and -q must be the same at both ends: the programs do not tell each other."
        })
final class PingpongSrqCommand extends PingpongConnectedEnd {
    @Option(
            names = {"-q", "--num-qp"},
            paramLabel = "N",
            defaultValue = "16",
            converter = CNumber.class,
            description = "Number of queue pairs, at most 255 (default ${DEFAULT-VALUE}).")
    private int queuePairs;

    @Option(
            names = {"-o", "--odp"},
            description = "Refused: this program's memory needs no on demand paging.")
    private boolean onDemandPaging;

    PingpongSrqCommand() {
        super(PingpongService.SRQ);
    }

    @Override
    int queuePairs() {
        return queuePairs;
    }

    @Override
    void validate() {
        super.validate();
        range("-q", queuePairs, 1, PingpongService.SRQ.messages - 1);
        if (receiveDepth() < queuePairs) {
            throw wrong("-r: at least one receive for each of the " + queuePairs + " queue pairs (-q), got "
                    + receiveDepth());
        }
        if (onDemandPaging) {
            throw new CommandFailed("-o: " + NO_PAGING);
        }
    }
}

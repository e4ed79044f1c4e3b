package verbena.tools.perf;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `verbena perf`: the parent of one command for each measurement.
@Command(
        name = "perf",
        header = "Measure bandwidth and latency, with Verbena or perftest's ib_write_bw etc. at the other end.",
        synopsisSubcommandLabel = "MEASUREMENT",
        footer = {
            "",
            "Start with 'verbena perf write-bw --loopback'. On two hosts: 'verbena perf write-bw' on the one,",
            "'verbena perf write-bw HOST' on the other; either may be ib_write_bw."
        })
public final class PerfCommand implements Runnable {
    private @Nullable CommandSpec spec;

    /// Takes the model of this command from picocli: the measurements become part of it, each with the options that
    /// it has.
    @Spec
    void setSpec(CommandSpec spec) {
        this.spec = spec;
        for (Verb verb : Verb.values()) {
            add(spec, verb, false);
            add(spec, verb, true);
        }
    }

    private static void add(CommandSpec spec, Verb verb, boolean isLatency) {
        String name = verb.command + (isLatency ? "-lat" : "-bw");
        var test = new PerfTest(verb, isLatency);
        CommandSpec command = CommandSpec.forAnnotatedObject(test);
        for (String option : test.options().notFor()) {
            command.remove(command.findOption(option));
        }
        String like = "ib_" + verb.command + (isLatency ? "_lat" : "_bw");
        command.usageMessage()
                .header((isLatency ? "Latency" : "Bandwidth") + " of "
                        + switch (verb) {
                            case SEND -> "SEND, as " + like + "(1).";
                            case WRITE -> "RDMA WRITE, as " + like + "(1).";
                            case WRITE_IMM -> "RDMA WRITE with immediate; both ends have to be Verbena.";
                            case READ -> "RDMA READ, as " + like + "(1).";
                            case ATOMIC -> "atomic operations, as " + like + "(1).";
                        })
                .description(
                        "",
                        "Without HOST waits for a client; with HOST connects to the server there."
                                + (verb == Verb.WRITE_IMM ? "" : " The other end may be " + like + "."));
        spec.addSubcommand(name, new CommandLine(command));
    }

    @Override
    public void run() {
        throw new ParameterException(Objects.requireNonNull(spec).commandLine(), "");
    }
}

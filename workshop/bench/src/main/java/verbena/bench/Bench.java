package verbena.bench;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;

/// `verbena bench`: Verbena and other libraries on loopback.
@Command(
        name = "verbena bench",
        sortOptions = false,
        header = "Compare Verbena with other ways over loopback, side by side in one run.",
        description = {
            "",
            "Measures in turn, round by round, two processes on loopback each: Verbena, raw UDP with GSO and GRO (the"
                    + " ceiling), a Java TCP socket, Netty's echo, Aeron, and what is installed of UCX (ucx_perftest),"
                    + " libfabric (fi_pingpong) and iperf3. Prints medians, their spread, and whether each goal of"
                    + " docs/performance.md is reached. Nothing else should run.",
            ""
        },
        footer = {
            "",
            "'verbena bench shm' compares two processes of this host over shared memory, 'verbena bench connections [N]'"
                    + " measures making connections, 'verbena bench programs' programs of others over Verbena and over"
                    + " their own TCP; 'verbena jmh' parts of Verbena.",
            "Exit status: 0 measured (whatever the figures), 1 failed, 2 wrong usage."
        })
public final class Bench extends Comparison {
    private Bench() {
        super("rocev2");
    }

    /// Measures, and exits with the status.
    public static void main(String[] args) {
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
        System.exit(Settings.run(new Bench(), args));
    }

    @Override
    VerbenaPair verbena() throws Exception {
        return VerbenaPair.overLoopback();
    }

    @Override
    List<Contender> others() throws Exception {
        return List.of(
                new JavaPair("udp"),
                Programs.ucxOverTcp(),
                Programs.iperf(),
                new JavaPair("tcp"),
                new JavaPair("netty"),
                new AeronPair(AeronPair.UDP, AeronPair.IPC),
                Programs.libfabricOverTcp());
    }

    @Override
    Goals goals(Collection<Entry> entries, Costs costs) {
        return Goals.overLoopback(entries, costs);
    }
}

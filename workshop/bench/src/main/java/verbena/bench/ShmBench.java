package verbena.bench;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;

/// `verbena bench shm`: Verbena and other libraries between two processes of this host, from memory to memory.
@Command(
        name = "verbena bench shm",
        sortOptions = false,
        header = "Compare Verbena's shared memory with that of others, side by side in one run.",
        description = {
            "",
            "Measures in turn, round by round, two processes of this host each: Verbena over its device shm, Aeron's IPC, a"
                    + " UNIX-domain socket of Java, one thread's memcpy, and what is installed of UCX (ucx_perftest, over"
                    + " posix, sysv and cma) and libfabric (fi_pingpong, over shm). Prints medians, their spread, and"
                    + " whether each goal of docs/performance.md is reached. Nothing else should run.",
            ""
        },
        footer = {
            "",
            "What a C program pays in addition: 'verbena bench abi'.",
            "Exit status: 0 measured (whatever the figures), 1 failed, 2 wrong usage."
        })
public final class ShmBench extends Comparison {
    private ShmBench() {
        super("shm");
    }

    /// Measures, and exits with the status.
    public static void main(String[] args) {
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
        System.exit(Settings.run(new ShmBench(), args));
    }

    @Override
    VerbenaPair verbena() throws Exception {
        return VerbenaPair.inMemory();
    }

    @Override
    List<Contender> others() throws Exception {
        return List.of(
                new ConnectionsPair("shm"),
                Programs.ucxInMemory(),
                Programs.libfabricInMemory(),
                new AeronPair(AeronPair.IPC),
                new JavaPair("unix"),
                new Memcpy());
    }

    @Override
    Goals goals(Collection<Entry> entries, Costs costs) {
        return Goals.inMemory(entries, costs);
    }
}

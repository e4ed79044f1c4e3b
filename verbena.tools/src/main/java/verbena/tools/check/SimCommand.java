package verbena.tools.check;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.sim.traffic.Account;
import verbena.sim.traffic.Profile;
import verbena.sim.traffic.Simulation;
import verbena.sim.traffic.SimulationFailure;
import verbena.tools.kit.ToolCommand;

/// `verbena sim`: worlds from seeds.
@Command(
        name = "sim",
        header = "Run the software device through a simulated bad network, from a seed.",
        description = {
            "",
            "Real devices exchange requests of all kinds in virtual time, on a network that loses, doubles, damages,"
                    + " delays and reorders packets. Every completion and every byte is checked. Then the network heals,"
                    + " and all that is outstanding has to finish within 5 s. The same seed gives the same world, packet"
                    + " by packet: the SHA-256 is of all packets and completions. A failure shows the last packets,"
                    + " writes a capture, and ends with status 1."
        })
public final class SimCommand extends ToolCommand {
    @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "The seed. Default: 1.")
    private long seed;

    @Option(
            names = "--seeds",
            paramLabel = "N",
            defaultValue = "1",
            description = "Run so many worlds, from that seed on, one line each. Default: 1.")
    private int seeds;

    @Option(
            names = "--profile",
            paramLabel = "P",
            defaultValue = "any",
            description = "How bad the network and the programs are; see --profiles. Default: any.")
    private String profileName;

    @Option(
            names = "--operations",
            paramLabel = "N",
            defaultValue = "1000",
            description = "Requests posted in each world. Default: 1000.")
    private long operations;

    @Option(names = "--profiles", description = "List the profiles and end.")
    private boolean list;

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter out = out();
        if (list) {
            for (Profile profile : Profile.all()) {
                out.printf(Locale.ROOT, "%-12s %s%n", profile.name(), profile.explanation());
            }
            out.flush();
            return 0;
        }
        if (seeds < 1 || operations < 1) {
            throw wrong("--seeds, --operations: at least 1");
        }
        Profile profile = profile();
        long started = System.nanoTime();
        long packets = 0;
        for (long each = seed; each < seed + seeds; each++) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            try {
                Account account = new Simulation(each, profile, operations).run(Path.of(""));
                packets += account.packets();
                (seeds == 1 ? account.lines() : List.of(account.line())).forEach(out::println);
            } catch (SimulationFailure e) {
                out.println(e.getMessage());
                out.flush();
                return 1;
            }
            out.flush();
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        out.printf(
                Locale.ROOT,
                "%d world%s in %.1f s, %,.0f packets/s: nothing wrong%n",
                seeds,
                seeds == 1 ? "" : "s",
                seconds,
                packets / seconds);
        out.flush();
        return 0;
    }

    private Profile profile() {
        try {
            return Profile.named(profileName);
        } catch (IllegalArgumentException e) {
            throw wrong("--" + e.getMessage());
        }
    }
}

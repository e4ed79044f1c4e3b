package verbena.tools.network;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.nic.link.LinkException;
import verbena.sim.ethernet.EthernetNetwork;
import verbena.sim.ethernet.Host;
import verbena.sim.ethernet.NetworkText;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.HostNetwork;
import verbena.tools.kit.JavaCommand;
import verbena.tools.kit.ToolCommand;

/// `verbena network up`: a network for real programs, in real time. This process makes sure of a network namespace
/// of its own and runs itself once more there; that second process is the switches, and holds the hosts.
@Command(
        name = "up",
        header =
                "Run a network for real programs: hosts on this host, and switches between them that mark, pause and drop.",
        description = {
            "",
            "Each host is a network namespace with an interface eth0. 'verbena network exec HOST COMMAND' runs a command"
                    + " there. Ctrl-C ends the network, and tells what passed, what switches did, and how much later than"
                    + " planned frames came. It needs no root where users may have networks of their own.",
            "",
            "NETWORK is written as for 'verbena network try'. For example: verbena network up 'star 3 1G 10us"
                    + " mark=20KB:80KB:0.1'"
        })
public final class NetworkUpCommand extends ToolCommand {
    static final String NAME = "default";
    private static final int HOSTS_MAX = 64;
    private static final int MTU_MIN = 1_280;
    private static final int MTU_MAX = 9_000;
    private static final long END_SECONDS = 2;

    @Parameters(paramLabel = "NETWORK", description = "A file, or one line.")
    private String network = "";

    @Option(
            names = "--mtu",
            paramLabel = "N",
            defaultValue = "4200",
            description = "Of all interfaces, 1280 to 9000. With 4200, packets of 4096 bytes fit. Default: 4200.")
    private int mtu;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            defaultValue = NAME,
            description = "For 'network exec', when several run. Default: ${DEFAULT-VALUE}.")
    private String name = NAME;

    @Option(
            names = "--plug",
            paramLabel = "HOST=NAMESPACE:BRIDGE",
            description =
                    "Have this host be what is behind a bridge of another network namespace (ip-netns(8)), such as"
                            + " a virtual machine. Needs root; may be given several times.")
    private List<String> plugs = List.of();

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Of the switches' chance. Default: 1.")
    private long seed;

    /// The file of the running network, for the process inside.
    @Option(names = "--inside", hidden = true)
    private @Nullable Path inside;

    @Override
    public Integer call() throws IOException, InterruptedException {
        range("--mtu", mtu, MTU_MIN, MTU_MAX);
        checked(name, this);
        var built = new EthernetNetwork(seed);
        try {
            NetworkText.build(built, NetworkTryCommand.lines(network, this));
        } catch (IllegalArgumentException e) {
            throw wrong("NETWORK: " + e.getMessage());
        }
        range("NETWORK: hosts", built.hosts().size(), 2, HOSTS_MAX);
        List<Plug> plugged = new ArrayList<>();
        plugs.forEach(plug -> plugged.add(Plug.of(plug, built, this)));
        if (inside != null) {
            run(built, new RunningNetwork(inside), plugged);
            return 0;
        }
        RunningNetwork running = RunningNetwork.named(name);
        running.begin();
        try {
            return again(running.file());
        } finally {
            running.end();
        }
    }

    /// Returns the name, after a check that it can be a file's name too.
    static String checked(String name, ToolCommand command) {
        if (!name.matches("[A-Za-z0-9_-]{1,32}")) {
            throw command.wrong("--name: 1 to 32 letters, digits, - and _; got " + name);
        }
        return name;
    }

    // ---- outside

    private int again(Path file) throws IOException, InterruptedException {
        var words = new ArrayList<>(HostNetwork.newNetwork());
        words.addAll(JavaCommand.again());
        words.addAll(List.of("network", "up", network, "--mtu", Integer.toString(mtu), "--seed", Long.toString(seed)));
        words.addAll(List.of("--inside", file.toString()));
        plugs.forEach(plug -> words.addAll(List.of("--plug", plug)));
        Process process = new ProcessBuilder(words)
                .redirectOutput(Redirect.INHERIT)
                .redirectError(Redirect.INHERIT)
                .start();
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.getOutputStream().close(); // which ends it, and it prints its summary
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            throw e;
        }
    }

    // ---- inside

    private void run(EthernetNetwork built, RunningNetwork running, List<Plug> plugged)
            throws IOException, InterruptedException {
        var hosts = new ArrayList<EmulatedHost>();
        try {
            for (Host host : built.hosts()) {
                Plug plug = plugged.stream()
                        .filter(each -> each.host().equals(host.name()))
                        .findFirst()
                        .orElse(null);
                hosts.add(new EmulatedHost(host.name(), hosts.size(), plug));
            }
            try (var emulator =
                    new Emulator(built, hosts.stream().map(EmulatedHost::cable).toList())) {
                var members = new ArrayList<RunningNetwork.Member>();
                for (EmulatedHost host : hosts) {
                    host.connect(mtu);
                    print("%-16s %s".formatted(host.name(), host.where()));
                    host.member().ifPresent(members::add);
                }
                running.write(members);
                print("up: " + hosts.size() + " hosts, " + built.switches().size()
                        + " switches; 'verbena network exec HOST COMMAND' runs a command on a host");
                emulator.start();
                awaitEnd(emulator);
                emulator.end();
                emulator.summary().forEach(this::print);
            }
        } catch (LinkException e) {
            throw new CommandFailed("network: " + e.getMessage(), e);
        } finally {
            hosts.forEach(EmulatedHost::close);
        }
    }

    /// Waits for the end of the standard input, which is the end of the process outside, or for a signal.
    private static void awaitEnd(Emulator emulator) {
        Thread command = Thread.currentThread();
        Thread.ofPlatform().daemon().name("verbena-network-input").start(() -> {
            try (InputStream input = System.in) {
                while (input.read() >= 0) {
                    // nothing that is said means anything
                }
            } catch (IOException _) {
                // The same as its end.
            }
            command.interrupt();
        });
        try {
            emulator.join();
        } catch (InterruptedException _) {
            // It was to end; what passed is told.
        }
    }
}

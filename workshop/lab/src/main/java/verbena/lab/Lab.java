package verbena.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/// One guest in a network namespace of its own, and the processes of the checks. Closing it ends them all; so does
/// the end of this process, by Ctrl-C for example.
final class Lab implements AutoCloseable {
    static final String OURS4 = "10.77.0.1";
    static final String THEIRS4 = "10.77.0.11";
    static final String OURS6 = "fd77::1";
    static final String THEIRS6 = "fd77::11";
    /// iWARP is on a bridge of its own.
    static final String IWARP_OURS4 = "10.77.1.1";

    static final String IWARP_THEIRS4 = "10.77.1.11";
    static final String IWARP_OURS6 = "fd77:1::1";
    static final String IWARP_THEIRS6 = "fd77:1::11";

    /// The kind of guest, `--uml` or `--qemu`, as `VERBENA_LAB_BACKEND` sets it. Without it the guest is User Mode
    /// Linux, which is faster; it does not start on processors with AMX, whose registers it has no room for.
    private static final String GUEST = "--" + System.getenv().getOrDefault("VERBENA_LAB_BACKEND", "uml");

    private static final int SETUP_SECONDS = 900;
    private static final int PROBE_SECONDS = 10;

    /// This process has got a signal, such as Ctrl-C's.
    private static volatile boolean ends;

    private final Path root;
    private final Path program;
    private final String verbena;
    private final Map<String, String> environment;
    private final Set<Running> running = ConcurrentHashMap.newKeySet();
    private final Thread atExit = new Thread(this::end, "end of the lab");
    private String kernel = "";

    /// The failure that there is no lab here, with the reason.
    static final class Absent extends Exception {
        private static final long serialVersionUID = 1;

        Absent(String reason) {
            super(reason);
        }
    }

    private Lab(Path root, Path program, String verbena) {
        this.root = root;
        this.program = program;
        this.verbena = verbena;
        environment = Map.of(
                "VERBENA_LAB_NETNS", "verbena-ci-" + ProcessHandle.current().pid());
    }

    /// Returns a lab that is up already, or need not be.
    ///
    /// @param verbena the launcher
    static Lab over(Path root, Path program, String verbena) {
        return new Lab(root, program, verbena);
    }

    /// Finds the lab and starts a guest. `VERBENA_LAB` names the lab's folder; without it, it is beside the
    /// project.
    static Lab open(Path root) throws Absent, InterruptedException {
        String folder = System.getenv("VERBENA_LAB");
        Path program = (folder == null ? root.resolve("../shared/lab") : Path.of(folder)).resolve("lab");
        if (!Files.isExecutable(program)) {
            throw new Absent("there is no lab (VERBENA_LAB names its folder)");
        }
        if (!isRoot()) {
            throw new Absent("the lab needs root");
        }
        String launcher = root.resolve("verbena").toString();
        Lab lab = over(root, program, System.getenv().getOrDefault("VERBENA", launcher));
        Runtime.getRuntime().addShutdownHook(lab.atExit);
        try {
            lab.setup();
            lab.up();
        } catch (Absent e) {
            lab.close();
            throw e;
        }
        return lab;
    }

    private static boolean isRoot() {
        try {
            return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void setup() throws Absent, InterruptedException {
        if (GUEST.equals("--uml")) {
            must("lab setup", "setup", GUEST);
        } else {
            must("lab setup", "setup"); // QEMU is the lab's default
        }
    }

    private void up() throws Absent, InterruptedException {
        must("lab up", "up", GUEST, "--mtu", "4200", "--live", root.toString());
        kernel = outcome(theirs(PROBE_SECONDS, "uname", "-r"), PROBE_SECONDS).text();
        // On a busy host a guest of User Mode Linux now and then misses that a packet has come, until the next one
        // does. So one comes twice a second, which means nothing to it: of TCP, because a guest that complains of
        // datagrams (ICMP) soon complains of no more.
        here(
                "the guest's heartbeat",
                List.of(
                        "bash",
                        "-c",
                        "while kill -0 $0; do timeout 2 bash -c ': > /dev/tcp/" + THEIRS4
                                + "/9'; sleep 0.5; done 2> /dev/null",
                        String.valueOf(ProcessHandle.current().pid())));
    }

    private void must(String what, String... arguments) throws Absent, InterruptedException {
        Outcome outcome = outcome(lab(what, arguments), SETUP_SECONDS);
        if (outcome.status() != 0) {
            throw new Absent(what + " failed: " + outcome.lastLine());
        }
    }

    /// Starts a new guest in the place of a guest that hangs.
    void restart() throws Absent, InterruptedException {
        down();
        up();
    }

    /// Returns the reason why the guest is of no use: it runs no program any more, or its network is dead. Empty
    /// when it is well.
    String trouble() throws InterruptedException {
        if (outcome(theirs(PROBE_SECONDS, "true"), PROBE_SECONDS + 5).status() != 0) {
            return "it runs no program";
        }
        // Nothing listens there: a guest that is well says so at once.
        Running knock = here("probe", List.of("bash", "-c", ": > /dev/tcp/" + THEIRS4 + "/9"));
        return outcome(knock, PROBE_SECONDS).status() == Running.TOO_LONG ? "its network is dead" : "";
    }

    /// Returns the release of the guest's kernel.
    String kernel() {
        return kernel;
    }

    /// Returns the folder of the project.
    Path root() {
        return root;
    }

    Path program() {
        return program;
    }

    /// Starts the launcher, which builds what is stale.
    Running built() {
        return begun(Running.start("build", Map.of(), List.of(verbena, "--version")));
    }

    /// Starts a command where it belongs.
    Running start(Command command) {
        List<String> words = List.of(command.line().split(" +"));
        return switch (command.place()) {
            case OURS -> verbena(words);
            case THEIRS -> theirs(command.seconds(), words.toArray(String[]::new));
            case IN_GUEST -> {
                var all = new ArrayList<String>(List.of(verbena));
                all.addAll(words);
                yield theirs(command.seconds(), all.toArray(String[]::new));
            }
        };
    }

    /// Starts a command of Verbena on our side.
    Running verbena(List<String> words) {
        var all = new ArrayList<String>(List.of(verbena));
        all.addAll(words);
        return here("ours", all);
    }

    /// Starts a program on our side.
    Running here(String label, List<String> words) {
        var all = new ArrayList<String>(List.of("ns", "--"));
        all.addAll(words);
        return lab(label, all.toArray(String[]::new));
    }

    /// Starts a program in the guest, which the guest ends when it takes too long.
    Running theirs(int seconds, String... words) {
        var all = new ArrayList<String>(List.of("exec", "-t", String.valueOf(seconds), "--"));
        all.addAll(List.of(words));
        return lab("theirs", all.toArray(String[]::new));
    }

    /// Starts a command of the lab's own.
    Running lab(String label, String... arguments) {
        var all = new ArrayList<String>(List.of(program.toString()));
        all.addAll(List.of(arguments));
        while (ends) {
            LockSupport.park(); // nothing begins any more
        }
        return begun(Running.start(label, environment, all));
    }

    private Running begun(Running started) {
        running.removeIf(one -> !one.isAlive());
        running.add(started);
        return started;
    }

    /// The end of a process.
    record Outcome(int status, List<String> lines) {
        String text() {
            return String.join("\n", lines);
        }

        String lastLine() {
            return lines.isEmpty() ? "" : lines.getLast();
        }
    }

    Outcome outcome(Running process, int seconds) throws InterruptedException {
        int status = process.await(seconds);
        return new Outcome(status, process.lines());
    }

    /// Returns whether this process ends, which makes its checks fail.
    static boolean isEnding() {
        return ends;
    }

    private void end() {
        ends = true;
        down();
        System.out.println("lab: ended, and so is all that it started");
    }

    private void down() {
        for (Running one : running) {
            one.end();
        }
        running.clear();
        try {
            Running.start("lab down", environment, List.of(program.toString(), "down"))
                    .await(60);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            return; // the hook does it
        }
        down();
    }
}

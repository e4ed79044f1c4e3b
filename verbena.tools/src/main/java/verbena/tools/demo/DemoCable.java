package verbena.tools.demo;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import verbena.tools.kit.ChildProcess;
import verbena.tools.kit.CommandFailed;

/// Two hosts that have a cable between them, on this host: two network namespaces, joined by a veth pair, that only
/// the demo sees (veth(4), network_namespaces(7)). The kernel removes both with the last process in them.
///
/// The first host is that of this process. The second one lives as long as a process that holds it, which ends with
/// the end of its input.
final class DemoCable implements AutoCloseable {
    /// The interface of the first host, whose address is 10.7.0.1.
    static final String NEAR = "west";
    /// The interface of the second host, whose address is 10.7.0.2.
    static final String FAR = "east";

    private static final String READY = "ready";
    private static final List<List<String>> NEW_NETWORK =
            List.of(List.of("unshare", "--net"), List.of("unshare", "--map-root-user", "--net"));

    private final Process holder;

    /// Makes the second host and the cable. This process has to be alone in its network: see [#inNewNetwork].
    ///
    /// @throws CommandFailed when the system refuses it; says what
    DemoCable() throws IOException, InterruptedException {
        holder = new ProcessBuilder("unshare", "--net", "sh", "-c", "echo " + READY + "; exec cat > /dev/null")
                .redirectError(Redirect.INHERIT)
                .start();
        boolean isMade = false;
        try {
            if (!READY.equals(holder.inputReader(StandardCharsets.US_ASCII).readLine())) {
                throw new CommandFailed("a second network could not be made");
            }
            String there = Long.toString(holder.pid());
            // Frames of 9,000 bytes carry packets of 4,096. Only the addresses below: others would come later.
            ip("link add " + NEAR + " mtu 9000 type veth peer name " + FAR + " mtu 9000 netns " + there);
            for (List<String> end : List.of(List.of(NEAR, "10.7.0.1/24"), List.of(FAR, "10.7.0.2/24"))) {
                List<String> at = end.getFirst().equals(NEAR) ? List.of() : there();
                ip(at, "link set lo up");
                ip(at, "link set " + end.getFirst() + " addrgenmode none");
                ip(at, "address add " + end.getLast() + " dev " + end.getFirst());
                ip(at, "link set " + end.getFirst() + " up");
            }
            isMade = true;
        } finally {
            if (!isMade) {
                close();
            }
        }
    }

    /// What a command on the second host begins with.
    List<String> there() {
        return List.of("nsenter", "--target", Long.toString(holder.pid()), "--net");
    }

    /// Runs this program in a network of its own, which as root needs nothing and else a user namespace.
    ///
    /// @param arguments of the command line; a cable is made there
    /// @return its status
    /// @throws CommandFailed when no such network can be made; says why
    static int inNewNetwork(List<String> arguments) throws IOException, InterruptedException {
        var reasons = new ArrayList<String>();
        for (List<String> way : NEW_NETWORK) {
            var probe = new ArrayList<>(way);
            probe.add("true");
            String reason = run(probe);
            if (reason.isEmpty()) {
                try (var inside = new ChildProcess(way, arguments, Redirect.INHERIT, Redirect.INHERIT)) {
                    return inside.await();
                }
            }
            reasons.add(reason);
        }
        throw new CommandFailed("a network of its own cannot be made here: " + String.join("; ", reasons));
    }

    private static void ip(String words) throws IOException, InterruptedException {
        ip(List.of(), words);
    }

    private static void ip(List<String> prefix, String words) throws IOException, InterruptedException {
        var command = new ArrayList<>(prefix);
        command.add("ip");
        command.addAll(List.of(words.split(" ", -1)));
        String reason = run(command);
        if (!reason.isEmpty()) {
            throw new CommandFailed("ip " + words + ": " + reason);
        }
    }

    /// Runs a command; returns why it failed, or nothing.
    private static String run(List<String> command) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException _) {
            throw new CommandFailed(
                    command.getFirst()
                            + " could not be started: a cable needs unshare and nsenter (package util-linux) and ip (iproute2)");
        }
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        int status = process.waitFor();
        return status == 0 ? "" : said.isEmpty() ? command.getFirst() + " ended with status " + status : said;
    }

    @Override
    public void close() {
        holder.destroy();
    }
}

package verbena.tools.kit;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Another host on this host: a network namespace that nothing but this program's processes sees
/// (network_namespaces(7)). A process holds it that ends with the end of its input, and so with this one; then the
/// kernel removes it, with its interfaces.
public final class HostNetwork implements AutoCloseable {
    private static final String READY = "ready";
    private static final List<List<String>> NEW_NETWORK =
            List.of(List.of("unshare", "--net"), List.of("unshare", "--map-root-user", "--net"));

    private final Process holder;

    /// Makes it. Needs root, or a user namespace: [#newNetwork] has a command that gives one.
    ///
    /// @throws CommandFailed when the system refuses it
    public HostNetwork() throws IOException {
        holder = new ProcessBuilder("unshare", "--net", "sh", "-c", "echo " + READY + "; exec cat > /dev/null")
                .redirectError(Redirect.INHERIT)
                .start();
        if (!READY.equals(holder.inputReader(StandardCharsets.US_ASCII).readLine())) {
            holder.destroy();
            throw new CommandFailed("another network could not be made");
        }
    }

    /// Returns the process that holds it.
    public long pid() {
        return holder.pid();
    }

    /// Returns the words that a command in it begins with.
    public List<String> there() {
        return List.of("nsenter", "--target", Long.toString(holder.pid()), "--net");
    }

    /// Runs a command of ip(8) in it.
    ///
    /// @throws CommandFailed when the command does
    public void ip(String words) throws IOException, InterruptedException {
        ip(there(), words);
    }

    /// Runs a command of ip(8) in the network of this process.
    ///
    /// @throws CommandFailed when the command does
    public static void ipHere(String words) throws IOException, InterruptedException {
        ip(List.of(), words);
    }

    /// Returns the words that a command begins with to run as root in a network of its own. Other users than root
    /// also need a user namespace for that.
    ///
    /// @throws CommandFailed when no such network can be made; says why
    public static List<String> newNetwork() throws IOException, InterruptedException {
        var reasons = new ArrayList<String>();
        for (List<String> way : NEW_NETWORK) {
            var probe = new ArrayList<>(way);
            probe.add("true");
            String reason = run(probe);
            if (reason.isEmpty()) {
                return way;
            }
            reasons.add(reason);
        }
        throw new CommandFailed("a network of its own cannot be made here: " + String.join("; ", reasons));
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
            throw new CommandFailed(command.getFirst() + " could not be started: networks on this host need unshare and"
                    + " nsenter (package util-linux) and ip (iproute2)");
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

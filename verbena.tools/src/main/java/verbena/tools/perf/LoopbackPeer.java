package verbena.tools.perf;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;
import verbena.tools.kit.ChildProcess;
import verbena.tools.kit.CommandFailed;

/// The server of a measurement with `--loopback`: this program once more, in a process of its own.
final class LoopbackPeer implements AutoCloseable {
    /// The address at which the ends meet, unless the device has addresses of its own.
    private static final String ADDRESS = "127.0.0.1";

    /// Options that are for the end that the user looks at.
    private static final List<String> NOT_FOR_THE_PEER = List.of(
            "--loopback",
            "-p",
            "--source_ip",
            "--json",
            "--out_json",
            "--out_json_file",
            "--html",
            "--report",
            "-w",
            "-y");

    private static final Pattern LISTENING = Pattern.compile(" on (\\S+) port (\\d+); there: ");
    private static final long START_SECONDS = 20;

    private final ChildProcess process;
    private final BlockingQueue<String> said;

    /// Starts it.
    ///
    /// @param command as it was called here: its options are the peer's too
    /// @param listensAtItsDevice whether it says itself where it listens
    LoopbackPeer(String name, ParseResult command, boolean listensAtItsDevice) throws IOException {
        var line = new ArrayList<>(List.of("perf", name, "--with-parent", "-p", "0"));
        if (!listensAtItsDevice) {
            line.addAll(List.of("--source_ip", ADDRESS));
        }
        for (OptionSpec option : command.matchedOptions()) {
            if (NOT_FOR_THE_PEER.contains(option.shortestName()) || NOT_FOR_THE_PEER.contains(option.longestName())) {
                continue;
            }
            List<String> values = option.originalStringValues();
            line.add(option.arity().max() == 0 ? option.longestName() : option.longestName() + "=" + values.getLast());
        }
        process = new ChildProcess(line, Redirect.DISCARD, Redirect.PIPE);
        said = ChildProcess.lines(process.errors(), 16);
    }

    /// Waits until it listens, and returns the address.
    ///
    /// @throws CommandFailed when it does not come up
    InetSocketAddress address() throws InterruptedException {
        for (String line = next(); ; line = next()) {
            Matcher matcher = LISTENING.matcher(line);
            if (matcher.find()) {
                return new InetSocketAddress(matcher.group(1), Integer.parseInt(matcher.group(2)));
            }
            if (line.startsWith("verbena ") || line.isEmpty()) {
                throw new CommandFailed("the peer process did not come up: " + line);
            }
        }
    }

    private String next() throws InterruptedException {
        String line = said.poll(START_SECONDS, TimeUnit.SECONDS);
        if (line == null) {
            throw new CommandFailed("the peer process did not start in " + START_SECONDS + " s");
        }
        return line;
    }

    @Override
    public void close() {
        process.close();
    }
}

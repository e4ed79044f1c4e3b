package verbena.tools;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionOptions;

/// What the tools of librdmacm have in common: peers are found by address and port.
abstract class CmCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description = "Device to use (default: the one that has the address).")
    private @Nullable String deviceName;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "Give up when the peer is silent for so long (default ${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    /// @throws ParameterException when an option is out of range
    void validate() {
        range("--timeout", timeoutSeconds, 1, 86_400);
    }

    final Duration patience() {
        return Duration.ofSeconds(timeoutSeconds);
    }

    final CmChannel channel(Consumer<ConnectionEvent> witness) {
        return new CmChannel(deviceName, patience(), witness);
    }

    /// The device of choice; null for whichever has the address.
    final @Nullable Context openDevice() {
        return deviceName == null ? null : Device.named(deviceName).open();
    }

    /// For connections on that device.
    final ConnectionOptions options(@Nullable Context device) {
        ConnectionOptions options = ConnectionOptions.defaults().withTimeout(patience());
        return device == null ? options : options.withDevice(device);
    }

    /// An address by its text or name.
    ///
    /// @param host null for every address of this host
    final InetSocketAddress address(String option, @Nullable String host, int port) {
        try {
            return host == null
                    ? new InetSocketAddress(port)
                    : new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw new CommandFailed(option + ": no such host or address: " + host, e);
        }
    }

    /// An address by its text alone, without a name service.
    final InetAddress literal(String option, String text) {
        try {
            return InetAddress.ofLiteral(text);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(option + ": no address: " + text, e);
        }
    }

    /// Says where a server is to be found.
    ///
    /// @param at where it listens
    /// @param command what to call there, with `%s` for the address and `%d` for the port
    final void listening(InetSocketAddress at, String command) {
        note(waits(at, command));
    }

    static String waits(InetSocketAddress at, String command) {
        boolean isEvery = at.getAddress().isAnyLocalAddress();
        String where = isEvery ? "every address" : Addresses.ip(at.getAddress());
        return "waits for a client on " + where + " port " + at.getPort() + "; there: verbena "
                + command.formatted(isEvery ? "ADDRESS" : where, at.getPort());
    }

    /// The other end of a connection, for messages.
    static String peer(ConnectionId id) {
        return id.peerAddress()
                .map(at -> Addresses.ip(at.getAddress()) + " port " + at.getPort())
                .orElse("no peer");
    }

    final void print(String line) {
        println(spec.commandLine().getOut(), line);
    }

    /// A line on standard error that is none about an error.
    final void note(String line) {
        println(spec.commandLine().getErr(), line);
    }

    private static void println(PrintWriter to, String line) {
        to.println(line);
        to.flush();
    }

    final void range(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw wrong(option + ": " + min + " to " + max + ", got " + value);
        }
    }

    final ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}

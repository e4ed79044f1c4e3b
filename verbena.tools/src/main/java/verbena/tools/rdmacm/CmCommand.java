package verbena.tools.rdmacm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CmChannel;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionOptions;

/// The base of the tools of librdmacm: peers are found by address and port.
abstract class CmCommand extends ToolCommand {
    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description = "Device to use (default: shm to a peer on this host that has it, else the one that has the"
                    + " address).")
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

    final Duration timeout() {
        return Duration.ofSeconds(timeoutSeconds);
    }

    final CmChannel channel(Consumer<ConnectionEvent> witness) {
        return CmChannel.nearest(deviceName, timeout(), witness);
    }

    /// Returns the device of choice; null for the device that has the address.
    final @Nullable Context openDevice() {
        return deviceName == null ? null : Device.named(deviceName).open();
    }

    /// Returns the options for connections on that device.
    final ConnectionOptions options(@Nullable Context device) {
        ConnectionOptions options = ConnectionOptions.defaults().withConnectTimeout(timeout());
        return device == null ? options : options.withDevice(device);
    }

    /// Returns an address by its text or name.
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

    /// Returns an address by its text alone, without a name service.
    final InetAddress literal(String option, String text) {
        try {
            return InetAddress.ofLiteral(text);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(option + ": no address: " + text, e);
        }
    }

    /// Prints the address of a server.
    ///
    /// @param at where it listens
    /// @param command what to call there, with `%s` for the address and `%d` for the port
    final void listening(InetSocketAddress at, String command) {
        note(Addresses.waits(at, command));
    }
}

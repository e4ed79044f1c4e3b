package verbena.tools.rdmacm;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.kit.CNumber;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// `verbena xserver`: rdma_xserver(1), and with an answer rdma_server(1), by the API that takes one step after the
/// other.
@Command(
        name = "xserver",
        header = "Wait for a connection and for 16 bytes, disconnect, as rdma_xserver(1).",
        description = {"", "The client may be rdma_xclient, or with --answer rdma_client."},
        exitCodeOnInvalidInput = 1,
        exitCodeOnExecutionException = 255,
        footer = {"", "Exit status, as of rdma_xserver: 0 done, 255 failed, 1 wrong usage."})
public final class XserverCommand extends CmCommand {
    @Option(names = "-s", paramLabel = "ADDRESS", description = "Where to listen (default: every address).")
    private @Nullable String host;

    @Option(
            names = "-p",
            paramLabel = "PORT",
            defaultValue = "7471",
            converter = CNumber.class,
            description = "Port to listen at; 0 for any (default ${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "--answer", description = "Send 16 bytes back, as rdma_server(1).")
    private boolean answer;

    @Override
    void validate() {
        super.validate();
        range("-p", port, 0, 65_535);
    }

    @Override
    public Integer call() throws InterruptedException {
        validate();
        print("rdma_xserver: start");
        InetSocketAddress at = address("-s", host, port);
        try (@Nullable Context device = openDevice();
                var listener = ConnectionListener.bind(at, options(device))) {
            listening(listener.localAddress(), "xclient" + (answer ? " --answer" : "") + " -s %s -p %d");
            try (Connection connection = listener.accept();
                    MemoryRegion message = connection.allocate(XclientCommand.BYTES)) {
                long bytes = connection
                        .receive(message.slice(0, XclientCommand.BYTES))
                        .length();
                if (bytes != XclientCommand.BYTES) {
                    throw new CommandFailed(bytes + " bytes came, expected " + XclientCommand.BYTES);
                }
                if (answer) {
                    connection.send(message.slice(0, XclientCommand.BYTES));
                }
            }
        }
        print("rdma_xserver: end 0");
        return 0;
    }
}

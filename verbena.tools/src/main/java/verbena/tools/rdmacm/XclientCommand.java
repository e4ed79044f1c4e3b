package verbena.tools.rdmacm;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.kit.CNumber;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.cm.Connection;

/// `verbena xclient`: rdma_xclient(1), and with an answer rdma_client(1), by the API that takes one step after the
/// other.
@Command(
        name = "xclient",
        header = "Connect, send 16 bytes, disconnect, as rdma_xclient(1).",
        description = {"", "The server may be rdma_xserver, or with --answer rdma_server."},
        exitCodeOnInvalidInput = 1,
        exitCodeOnExecutionException = 255,
        footer = {"", "Exit status, as of rdma_xclient: 0 done, 255 failed, 1 wrong usage."})
public final class XclientCommand extends CmCommand {
    /// Bytes of the message, and of the answer.
    static final int BYTES = 16;

    @Option(
            names = "-s",
            paramLabel = "ADDRESS",
            defaultValue = "127.0.0.1",
            description = "Where the server is (default ${DEFAULT-VALUE}).")
    private String host;

    @Option(
            names = "-p",
            paramLabel = "PORT",
            defaultValue = "7471",
            converter = CNumber.class,
            description = "Port of the server (default ${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "--answer", description = "Wait for 16 bytes from the server, as rdma_client(1).")
    private boolean answer;

    @Override
    void validate() {
        super.validate();
        range("-p", port, 1, 65_535);
    }

    @Override
    public Integer call() throws InterruptedException {
        validate();
        print("rdma_xclient: start");
        InetSocketAddress to = address("-s", host, port);
        try (@Nullable Context device = openDevice();
                Connection connection = Connection.connect(to, options(device));
                MemoryRegion message = connection.allocate(BYTES)) {
            connection.send(message.slice(0, BYTES));
            if (answer) {
                connection.receive(message.slice(0, BYTES));
            }
        }
        print("rdma_xclient: end 0");
        return 0;
    }
}

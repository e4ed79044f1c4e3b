package verbena.tools.rdmacm;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.kit.CNumber;
import verbena.tools.kit.CmChannel;
import verbena.verbs.AckTimeout;
import verbena.verbs.QpType;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;

/// `verbena ucmatose`: ucmatose(1), so alike that either end can be that program.
@Command(
        name = "ucmatose",
        header = "Make connections by address and port, exchange messages, disconnect, as ucmatose(1).",
        description = {
            "",
            "Without -s waits for a client; the other end may be ucmatose. -c, -C and -S have to be the same at both"
                    + " ends: the programs do not tell each other."
        },
        exitCodeOnInvalidInput = 1,
        exitCodeOnExecutionException = 255,
        footer = {
            "",
            "Exit status, as of ucmatose: 0 done, 1 wrong usage, else what the last line says: the peer's reason to",
            "reject, or an error number, of which the shell sees the lowest byte."
        })
public final class UcmatoseCommand extends CmTransferCommand {
    @Option(
            names = "-p",
            paramLabel = "PORT",
            defaultValue = "7471",
            converter = CNumber.class,
            description = "Port of the server; 0 for any (default ${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = "-P",
            paramLabel = "SPACE",
            defaultValue = "tcp",
            description = "Port space: tcp or ib (default ${DEFAULT-VALUE}).")
    private String portSpace;

    @Option(
            names = "-a",
            paramLabel = "CODE",
            converter = CNumber.class,
            description = "Ack timeout: 4.096 us times 2 to the CODE, 0 to 31.")
    private @Nullable Integer ackTimeout;

    @Option(names = "-m", description = "Move to another event channel before disconnecting.")
    private boolean migrate;

    UcmatoseCommand() {
        super("cmatose");
    }

    @Override
    PortSpace space() {
        return portSpace.toLowerCase(Locale.ROOT).startsWith("ib") ? PortSpace.IB : PortSpace.TCP;
    }

    @Override
    QpType type() {
        return QpType.RC;
    }

    @Override
    int port() {
        return port;
    }

    @Override
    ConnectionParameters parameters() {
        // As the C program asks: 5 retries, and none when no receive is posted, for they all are.
        ConnectionParameters parameters = super.parameters().withReads(1, 1);
        AckTimeout timeout = ackTimeout == null ? parameters.ackTimeout() : new AckTimeout(ackTimeout);
        return parameters.withRetries(timeout, 5, 0);
    }

    @Override
    void validate() {
        super.validate();
        if (!List.of("tcp", "ib").contains(portSpace.toLowerCase(Locale.ROOT))) {
            throw wrong("-P: tcp or ib, got " + portSpace);
        }
        if (ackTimeout != null) {
            range("-a", ackTimeout, 0, 31);
        }
    }

    @Override
    void run(CmChannel channel) throws InterruptedException {
        say("starting " + (isServer() ? "server" : "client"));
        if (isServer()) {
            try (ConnectionId listener = channel.newId(space())) {
                connectAll(channel, listener);
            }
        } else {
            connectAll(channel, null);
        }
        if (messages() > 0) {
            transfer();
        }
        if (migrate) {
            print("migrating to new event channel");
            channel.renew(nodes().stream().map(CmNode::id).toList());
        }
        if (isServer()) {
            say("disconnecting");
        }
        disconnectAll(channel);
        if (isServer()) {
            print("disconnected");
        }
    }

    private void transfer() throws InterruptedException {
        if (isServer()) {
            print("initiating data transfers");
            sendAll();
            print("completing sends");
            awaitSends();
            print("receiving data transfers");
            awaitReceives();
        } else {
            print("receiving data transfers");
            awaitReceives();
            print("sending replies");
            sendAll();
            awaitSends();
        }
        print("data transfers complete");
    }
}

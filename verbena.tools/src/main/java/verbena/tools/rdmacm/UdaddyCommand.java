package verbena.tools.rdmacm;

import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.kit.CNumber;
import verbena.tools.kit.CmChannel;
import verbena.verbs.QpType;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.PortSpace;

/// `verbena udaddy`: udaddy(1), so alike that either end can be that program.
@Command(
        name = "udaddy",
        header = "Find by address and port the queue pair for datagrams, exchange some, as udaddy(1).",
        description = {
            "",
            "Without -s waits for a client; the other end may be udaddy. -c, -C and -S have to be the same at both"
                    + " ends: the programs do not tell each other. Lost messages are not sent again, and then both ends"
                    + " give up after --timeout."
        },
        exitCodeOnInvalidInput = 1,
        exitCodeOnExecutionException = 255,
        footer = {
            "",
            "Exit status, as of udaddy: 0 done, 1 wrong usage or no service for datagrams there, else what the last",
            "line says, of which the shell sees the lowest byte."
        })
public final class UdaddyCommand extends CmTransferCommand {
    /// The C program has no option for it.
    private static final int PORT = 7174;

    @Option(
            names = "-p",
            paramLabel = "SPACE",
            converter = CNumber.class,
            defaultValue = "0x111",
            description = "Port space by number: 0x111 for UDP, 0x2 for IPOIB (default ${DEFAULT-VALUE}).")
    private int spaceNumber;

    @Option(
            names = "-P",
            paramLabel = "SPACE",
            defaultValue = "",
            description = "Port space by name: udp or ipoib (default: udp).")
    private String spaceName;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "" + PORT,
            converter = CNumber.class,
            description = "Port of the server; 0 for any. The C program knows only ${DEFAULT-VALUE}, the default.")
    private int port;

    UdaddyCommand() {
        super("udaddy");
    }

    @Override
    PortSpace space() {
        return spaceName.equalsIgnoreCase("ipoib") || spaceNumber == PortSpace.IPOIB.code()
                ? PortSpace.IPOIB
                : PortSpace.UDP;
    }

    @Override
    QpType type() {
        return QpType.UD;
    }

    @Override
    int port() {
        return port;
    }

    @Override
    void validate() {
        super.validate();
        if (!List.of("", "udp", "ipoib").contains(spaceName.toLowerCase(Locale.ROOT))) {
            throw wrong("-P: udp or ipoib, got " + spaceName);
        }
        if (spaceNumber != PortSpace.UDP.code() && spaceNumber != PortSpace.IPOIB.code()) {
            throw wrong("-p: 0x111 for UDP or 0x2 for IPOIB, got 0x" + Integer.toHexString(spaceNumber));
        }
    }

    @Override
    void run(CmChannel channel) throws InterruptedException {
        say("starting " + (isServer() ? "server" : "client"));
        if (isServer()) {
            // Open to the end: a client that has not got the answer asks again.
            try (ConnectionId listener = channel.newId(space())) {
                connectAll(channel, listener);
                transfer();
            }
        } else {
            connectAll(channel, null);
            transfer();
        }
    }

    private void transfer() throws InterruptedException {
        if (messages() == 0) {
            return;
        }
        if (isServer()) {
            print("receiving data transfers");
            awaitReceives();
            print("sending replies");
            sendAll();
            awaitSends();
        } else {
            print("initiating data transfers");
            sendAll();
            print("receiving data transfers");
            awaitReceives();
        }
        print("data transfers complete");
    }
}

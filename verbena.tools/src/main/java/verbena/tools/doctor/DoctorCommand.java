package verbena.tools.doctor;

import java.time.Duration;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.tools.kit.ToolCommand;

/// `verbena doctor`: why a connection cannot work, and what to do.
@Command(
        name = "doctor",
        header = "Find out why connections cannot work, and what to do.",
        description = {
            "",
            "Without HOST it checks this host: Java, interfaces and addresses, UDP port 4791, limits. It also sends real"
                    + " packets from each address to itself. With HOST it checks the way there: name, own address and route,"
                    + " whether the peer speaks RoCE v2, whether a program listens on PORT, and what size of"
                    + " packets comes through. The peer's programs notice nothing. Each finding is OK, WARN or"
                    + " FAIL; status 1 when anything FAILs."
        })
public final class DoctorCommand extends ToolCommand {
    /// `[IPv6]:port`, `IPv6`, or `host:port` with a host that has no colon.
    private static final Pattern TARGET = Pattern.compile(
            "\\[(?<bracketed>[^\\]]+)\\](?::(?<portBehind>\\d+))?|(?<literal>[^:]*:[^:]*:.*)|(?<name>[^:]+)(?::(?<port>\\d+))?");

    private static final int PORT_MAX = 65_535;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "HOST[:PORT]",
            description = "Peer by name or address, and the RDMA port of its server; an IPv6 address with a port is"
                    + " written [ADDRESS]:PORT.")
    private @Nullable String target;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "3",
            description = "How long a peer may take to answer. Default: 3.")
    private double timeoutSeconds;

    @Override
    public Integer call() {
        if (!(timeoutSeconds > 0 && timeoutSeconds <= 3_600)) {
            throw wrong("--timeout: more than 0 and at most 3600, got " + timeoutSeconds);
        }
        return doctor().examine(out()) ? 0 : 1;
    }

    private Doctor doctor() {
        if (target == null) {
            return Doctor.ofThisHost();
        }
        Matcher parts = TARGET.matcher(target);
        if (!parts.matches()) {
            throw wrong("HOST[:PORT] expected, got '" + target + "'");
        }
        String port = first(parts, "portBehind", "port");
        return Doctor.ofPeer(
                String.valueOf(first(parts, "bracketed", "literal", "name")),
                port == null ? OptionalInt.empty() : OptionalInt.of(number(port)),
                Duration.ofNanos((long) (timeoutSeconds * 1e9)));
    }

    private int number(String port) {
        int number = port.length() > 5 ? PORT_MAX + 1 : Integer.parseInt(port);
        if (number < 1 || number > PORT_MAX) {
            throw wrong("PORT: 1 to 65535, got " + port);
        }
        return number;
    }

    private static @Nullable String first(Matcher parts, String... groups) {
        for (String group : groups) {
            if (parts.group(group) != null) {
                return parts.group(group);
            }
        }
        return null;
    }
}

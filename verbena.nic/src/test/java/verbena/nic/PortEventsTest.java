package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.nic.roce.RoceV2Provider;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Context;

/// The events of a device whose interface goes down and comes back, in a network namespace of a child process.
@EnabledOnOs(value = OS.LINUX, disabledReason = "other systems report no changes")
@Timeout(120)
class PortEventsTest {
    private static final List<String> NAMESPACE = List.of("unshare", "--user", "--map-root-user", "--net");

    @Test
    void aPortGoesDownAndComesBack() throws Exception {
        assumeTrue(succeeds("ip", "link", "show"), "no network namespace of one's own here (unshare, ip)");
        String said = run(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Program.class.getName());
        assertThat(said).isEqualTo("""
                open PORT_ACTIVE
                down PORT_ERR PORT_DOWN
                up PORT_ACTIVE PORT_ACTIVE
                address gone GID_CHANGE PORT_ACTIVE
                """);
    }

    private static boolean succeeds(String... command) throws InterruptedException {
        try {
            return start(ProcessBuilder.Redirect.DISCARD, command).waitFor() == 0;
        } catch (IOException _) {
            return false;
        }
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = start(ProcessBuilder.Redirect.PIPE, command);
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return output;
    }

    private static Process start(ProcessBuilder.Redirect output, String... command) throws IOException {
        var all = new ArrayList<>(NAMESPACE);
        all.addAll(List.of(command));
        return new ProcessBuilder(all)
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
    }

    /// The program inside the namespace.
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) throws Exception {
            ip("link", "add", "port0", "type", "veth", "peer", "name", "port1");
            ip("link", "set", "port0", "addrgenmode", "none"); // otherwise IPv6 adds an address at an unknown time
            ip("link", "set", "port1", "up");
            ip("address", "add", "10.9.9.1/24", "dev", "port0");
            ip("address", "add", "10.9.9.2/24", "dev", "port0");
            ip("link", "set", "port0", "up");
            try (Context context =
                    new RoceV2Provider().device("rocev2_port0").orElseThrow().open()) {
                System.out.println("open " + context.port(1).state());
                ip("link", "set", "port0", "down");
                System.out.println("down " + next(context));
                ip("link", "set", "port0", "up");
                System.out.println("up " + next(context));
                ip("address", "delete", "10.9.9.2/24", "dev", "port0");
                System.out.println("address gone " + next(context));
            }
        }

        private static String next(Context context) throws InterruptedException {
            AsyncEvent event = context.awaitAsyncEvent(Duration.ofSeconds(30)).orElseThrow();
            return event.type() + " " + context.port(1).state();
        }

        private static void ip(String... arguments) throws Exception {
            var command = new ArrayList<>(List.of("ip"));
            command.addAll(List.of(arguments));
            int status = new ProcessBuilder(command).inheritIO().start().waitFor();
            if (status != 0) {
                throw new IllegalStateException(command + " ended with " + status);
            }
        }
    }
}

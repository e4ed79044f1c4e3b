package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/// Each command ends as docs/tools.md says, with one line on standard error.
class ExitStatusTest {
    private static final Map<String, Integer> WRONG_USAGE_AS_IN_C =
            Map.of("rping", 22, "ucmatose", 1, "udaddy", 1, "mckey", 1, "xclient", 1, "xserver", 1);

    @Test
    void wrongUsageOfEveryCommand() {
        var commands = new TreeMap<String, CommandLine>();
        CommandLine verbena = Verbena.commandLine();
        collect(verbena, "", commands);
        assertThat(commands).hasSizeGreaterThan(30);
        commands.keySet().forEach(command -> {
            var err = new StringWriter();
            verbena.setErr(new PrintWriter(err));
            int status = verbena.execute((command + " --no-such-option").split(" ", -1));
            assertThat(status).as(command).isEqualTo(WRONG_USAGE_AS_IN_C.getOrDefault(command, 2));
            assertThat(err.toString()).startsWith("verbena " + command + ": ").hasLineCount(1);
        });
    }

    private static void collect(CommandLine line, String prefix, Map<String, CommandLine> into) {
        line.getSubcommands().forEach((name, command) -> {
            into.put(prefix + name, command);
            collect(command, prefix + name + " ", into);
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                pingpong rc -p PORT 127.0.0.1               | 1   | refused
                perf write-lat -p PORT 127.0.0.1            | 1   | refused
                cp --port PORT pom.xml 127.0.0.1:           | 1   | listens at
                rping -c -a 127.0.0.1 -p PORT               | 255 | listens at
                pingpong rc ::g                             | 1   | unknown host
                info none                                   | 1   | there is no
                demo -d none                                | 1   | there is no
                decode /none                                | 1   | no such file
                status NONE                                 | 2   | there is no
                explain none                                | 2   | there is no
                """)
    void aPeerOrAThingThatIsNotThere(String command, int status, String words) throws Exception {
        int port;
        try (var free = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            port = free.getLocalPort();
        }
        Cli cli = Cli.run(command.replace("PORT", String.valueOf(port)).split(" ", -1));
        assertThat(cli.status()).isEqualTo(status);
        assertThat(cli.error()).contains(words);
    }

    @Test
    void helpOnStandardErrorHasNoColours() {
        for (List<String> arguments : List.of(List.<String>of(), List.of("perf"))) {
            CommandLine line = Verbena.commandLine();
            line.setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.ON)); // standard output is a terminal
            var err = new StringWriter();
            line.setErr(new PrintWriter(err));
            assertThat(line.execute(arguments.toArray(String[]::new))).isEqualTo(2);
            assertThat(err.toString()).contains("Usage: verbena").doesNotContain("\u001b");
        }
    }

    /// In a checkout without a build: what is wrong is said at once.
    @Test
    void wrongUsageOfTheLauncherIsSaidBeforeAnythingIsBuilt(@TempDir Path checkout) throws Exception {
        for (String file : List.of(
                "verbena",
                ".dev/commands.sh",
                "dist/assemble.sh",
                "verbena.tools/src/main/java/verbena/tools/demo/DemoCommand.java")) {
            Files.createDirectories(checkout.resolve(file).getParent());
            Files.copy(Cli.root().resolve(file), checkout.resolve(file));
        }
        for (String wrong :
                List.of("devces", "install --no-such-option", "spark-demo --spark none", "fuzz --seconds -1")) {
            var command =
                    new ArrayList<>(List.of("bash", checkout.resolve("verbena").toString()));
            command.addAll(List.of(wrong.split(" ")));
            var builder = new ProcessBuilder(command).redirectErrorStream(true);
            builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
            Process launcher = builder.start();
            String said = new String(launcher.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(launcher.waitFor()).as(wrong + ": " + said).isEqualTo(2);
            assertThat(said).startsWith("verbena: ").hasLineCount(1);
        }
        assertThat(checkout.resolve(".verbena")).doesNotExist();
    }
}

package verbena.tools.network;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Standard;
import verbena.tools.kit.ToolCommand;

/// `verbena network exec`: a command on a host of a network that runs.
@Command(
        name = "exec",
        header = "Run a command on a host of a network that 'verbena network up' runs.",
        description = {
            "",
            "The command has the files and the user of this one, and the network of that host. Its status is this one's.",
            "",
            "For example: verbena network exec h1 verbena pingpong rc 10.76.0.1"
        })
public final class NetworkExecCommand extends ToolCommand implements Standard.RunsCommand {
    @Option(
            names = "--name",
            paramLabel = "NAME",
            defaultValue = NetworkUpCommand.NAME,
            description = "Which network. Default: ${DEFAULT-VALUE}.")
    private String name = NetworkUpCommand.NAME;

    @Parameters(index = "0", paramLabel = "HOST", description = "The host.")
    private String host = "";

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "COMMAND", description = "The command and its arguments.")
    private List<String> command = List.of();

    @Override
    public Integer call() throws IOException, InterruptedException {
        RunningNetwork.Member member =
                RunningNetwork.named(NetworkUpCommand.checked(name, this)).member(host);
        String holder = Long.toString(member.pid());
        var words = new ArrayList<>(List.of("nsenter", "--target", holder, "--net"));
        Path own = Path.of("/proc/self/ns/user");
        if (!Files.readSymbolicLink(own).equals(Files.readSymbolicLink(Path.of("/proc", holder, "ns", "user")))) {
            words.addAll(List.of("--user", "--preserve-credentials"));
        }
        words.add("--");
        words.addAll(command);
        Process process;
        try {
            process = new ProcessBuilder(words).inheritIO().start();
        } catch (IOException e) {
            throw CommandFailed.io("nsenter (package util-linux)", e);
        }
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.destroy();
            throw e;
        }
    }
}

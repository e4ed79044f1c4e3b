package verbena.tools;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import verbena.tools.kit.CommandFailed;

/// `verbena agent`, as help, manual and completion know it. The start script does it: it knows where the jar is.
@Command(
        name = "agent",
        header = "Print the option by which a program of the JVM goes by RDMA, unchanged.",
        description = {
            "",
            "The program's socket channels and selectors then use RDMA where the peer has it, and TCP elsewhere. It needs"
                    + " Java 25 of its own."
        },
        footer = {"", "JAVA_TOOL_OPTIONS=$(verbena agent) java -jar program.jar"})
final class AgentCommand implements Callable<Integer> {
    @Override
    public Integer call() {
        throw new CommandFailed("the start script does this: bin/verbena agent, or ./verbena agent where it was built");
    }
}

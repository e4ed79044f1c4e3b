package verbena.tools.files;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import verbena.tools.kit.ChildProcess;
import verbena.tools.kit.CommandFailed;

/// One of the two processes of a comparison, seen from the command.
final class ComparePeer implements AutoCloseable {
    private final ChildProcess process;
    private final BufferedReader answers;

    ComparePeer() throws IOException {
        process = new ChildProcess(List.of("cp-peer"), Redirect.PIPE, Redirect.INHERIT);
        answers = process.output();
    }

    long pid() {
        return process.pid();
    }

    void order(Object... words) throws IOException {
        process.tell(Arrays.stream(words).map(Object::toString).collect(Collectors.joining("\t")));
    }

    /// @throws CommandFailed when it could not do what it was told
    String answer() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new CommandFailed("the peer process has ended");
        }
        if (!line.startsWith("ok ")) {
            throw new CommandFailed("the peer process: " + line.replaceFirst("^failed ", ""));
        }
        return line.substring(3);
    }

    @Override
    public void close() throws IOException {
        try (answers) {
            process.close();
        }
    }
}

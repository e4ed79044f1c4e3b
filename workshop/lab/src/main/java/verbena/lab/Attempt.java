package verbena.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// One attempt at a check: its ports, and the processes that it has started, which end with it.
final class Attempt implements AutoCloseable {
    /// The number of ports of an attempt.
    static final int PORTS = 2;

    private static final int MOST_LINES = 60;

    private final Lab lab;
    private final int port;
    private final Consumer<String> notes;
    private final List<Running> started = new ArrayList<>();

    /// @param port the first of its own
    /// @param notes what is worth a line though nothing is wrong
    Attempt(Lab lab, int port, Consumer<String> notes) {
        this.lab = lab;
        this.port = port;
        this.notes = notes;
    }

    Lab lab() {
        return lab;
    }

    int port() {
        return port;
    }

    void note(String text) {
        notes.accept(text);
    }

    /// Starts a command; `PORT` is its port there, and `PORT2` the one behind it.
    Running start(Command command) {
        return started(lab.start(new Command(command.place(), withPorts(command.line()), command.seconds())));
    }

    /// Returns a process that is reported, and ended, with this attempt.
    Running started(Running process) {
        started.add(process);
        return process;
    }

    private String withPorts(String line) {
        return line.replace("PORT2", String.valueOf(port + 1)).replace("PORT", String.valueOf(port));
    }

    /// Returns the lines that the processes printed, as a failure shows them.
    String told() {
        var all = new StringBuilder();
        for (Running one : started) {
            List<String> lines = one.lines();
            int from = Math.max(0, lines.size() - MOST_LINES);
            if (from > 0) {
                all.append("\n    ")
                        .append(one.label())
                        .append(": (")
                        .append(from)
                        .append(" lines)");
            }
            for (String line : lines.subList(from, lines.size())) {
                all.append("\n    ").append(one.label()).append(": ").append(line);
            }
        }
        return all.toString();
    }

    @Override
    public void close() {
        started.forEach(Running::end);
    }
}

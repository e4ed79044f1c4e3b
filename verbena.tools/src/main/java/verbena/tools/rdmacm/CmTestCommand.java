package verbena.tools.rdmacm;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import verbena.tools.kit.CNumber;
import verbena.tools.kit.CmChannel;
import verbena.tools.kit.CmEvents;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Size;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;

/// The base of `ucmatose`, `udaddy` and `mckey`: a number of connections, messages over each, and the last line,
/// which shows the status.
abstract class CmTestCommand extends CmCommand {
    /// Exit status and last line after a failure that no number of Linux describes.
    private static final int FAILED = -1;

    @Option(names = "-b", paramLabel = "ADDRESS", description = "Own address (default: the one that suits).")
    private @Nullable String bind;

    @Option(
            names = "-c",
            paramLabel = "N",
            defaultValue = "1",
            converter = CNumber.class,
            description = "Number of connections (default ${DEFAULT-VALUE}).")
    private int connections;

    @Option(
            names = "-C",
            paramLabel = "N",
            defaultValue = "10",
            converter = CNumber.class,
            description = "Messages over each, each way (default ${DEFAULT-VALUE}).")
    private int messages;

    @Option(
            names = "-S",
            paramLabel = "BYTES",
            defaultValue = "100",
            converter = Size.class,
            description = "Size of a message (default ${DEFAULT-VALUE}).")
    private int size;

    private final String name;
    private final List<CmNode> nodes = new ArrayList<>();

    /// @param name what the C program calls itself
    CmTestCommand(String name) {
        this.name = name;
    }

    @Override
    void validate() {
        super.validate();
        range("-c", connections, 1, 100_000);
        range("-C", messages, 0, Integer.MAX_VALUE);
        range("-S", size, 0, Integer.MAX_VALUE - CmNode.AREA_BYTES);
    }

    /// Does it all.
    ///
    /// @throws CommandFailed with the status to end with
    abstract void run(CmChannel channel) throws InterruptedException;

    @Override
    public final Integer call() throws InterruptedException {
        validate();
        try (CmChannel channel = channel(event -> {})) {
            try {
                run(channel);
                print("test complete");
            } finally {
                nodes.forEach(CmNode::close);
                nodes.clear();
            }
        } catch (CommandFailed | VerbsException e) {
            int status = e instanceof CommandFailed failure ? failure.status(FAILED) : FAILED;
            print("test complete");
            print("return status " + status);
            throw e;
        }
        print("return status 0");
        return 0;
    }

    // ---- for subclasses

    final Optional<String> bind() {
        return Optional.ofNullable(bind);
    }

    final int connections() {
        return connections;
    }

    /// Returns the number of messages in each direction; none when they have no bytes, as in the C programs.
    final int messages() {
        return size == 0 ? 0 : messages;
    }

    final int size() {
        return size;
    }

    /// Makes one more connection, which is closed at the end.
    final CmNode add(ConnectionId id) {
        var node = new CmNode(id, messages(), size, timeout());
        nodes.add(node);
        return node;
    }

    final List<CmNode> nodes() {
        return nodes;
    }

    final CmNode node(ConnectionId id) {
        for (CmNode node : nodes) {
            if (node.id() == id) {
                return node;
            }
        }
        throw new IllegalStateException("an event of " + id + ", which is not ours");
    }

    /// Prints a line as the C program does, with its name.
    final void say(String what) {
        print(name + ": " + what);
    }

    /// Returns the failure for an event that ends the test.
    final CommandFailed failure(ConnectionEvent event) {
        int status = CmEvents.status(event);
        say("event: " + CmEvents.name(event) + ", error: " + status);
        return new CommandFailed(status, CmEvents.line(event));
    }
}

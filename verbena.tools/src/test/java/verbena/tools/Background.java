package verbena.tools;

import java.io.StringWriter;
import java.io.Writer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A command in a thread of its own, which others can wait for, and interrupt.
public final class Background {
    private static final Pattern LISTENING = Pattern.compile(" port (\\d+); there: ");

    private final StringWriter out = new StringWriter();
    private final Watched err = new Watched();
    private final CompletableFuture<Cli> result = new CompletableFuture<>();
    private final Thread thread;

    /// What is written, and the port as soon as one is said.
    private static final class Watched extends StringWriter {
        private final CompletableFuture<Integer> port = new CompletableFuture<>();

        @Override
        public void flush() {
            Matcher matcher = LISTENING.matcher(toString());
            if (matcher.find()) {
                port.complete(Integer.parseInt(matcher.group(1)));
            }
        }
    }

    private Background(String arguments) {
        thread = Thread.ofPlatform().daemon().start(() -> {
            Cli cli = Cli.run(out, err, arguments.strip().split(" ", -1));
            err.port.completeExceptionally(new AssertionError("it has ended: " + cli));
            result.complete(cli);
        });
    }

    public static Background run(String arguments) {
        return new Background(arguments);
    }

    /// Waits until it says at which port it listens.
    public int port() throws Exception {
        return err.port.get(20, TimeUnit.SECONDS);
    }

    /// What it has printed so far.
    public Writer out() {
        return out;
    }

    public void interrupt() {
        thread.interrupt();
    }

    /// Waits until it has ended.
    public Cli result() throws Exception {
        return result.get(40, TimeUnit.SECONDS);
    }
}

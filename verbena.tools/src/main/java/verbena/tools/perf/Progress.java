package verbena.tools.perf;

import java.io.Console;
import java.io.PrintWriter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import verbena.tools.kit.Closing;

/// The display of the progress of a long run on standard error: on a terminal in one line, once a second from the
/// third second on; elsewhere a line every ten seconds. [#at] is for the loop that measures and costs it a store;
/// the rest has a thread of its own.
final class Progress implements AutoCloseable {
    private static final VarHandle COUNT;
    private static final int QUIET_SECONDS = 2;
    private static final int LINE_SECONDS = 10;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(Progress.class, "count", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final PrintWriter err;
    private final String what;
    private final boolean isTerminal;
    private final Thread teller;
    private boolean told;

    @SuppressWarnings("UnusedVariable") // by COUNT
    private long count;

    /// @param what is being done: `65536 bytes`
    /// @param total messages; 0 when that is not known
    Progress(PrintWriter err, String what, long total) {
        this.err = err;
        this.what = what;
        isTerminal = Optional.ofNullable(System.console())
                .filter(Console::isTerminal)
                .isPresent();
        teller = Thread.ofVirtual().start(() -> tell(total));
    }

    /// Notes that so many messages are through.
    void at(long messages) {
        COUNT.setOpaque(this, messages);
    }

    private void tell(long total) {
        try {
            for (int second = 1; ; second++) {
                Thread.sleep(1_000);
                if (isTerminal ? second > QUIET_SECONDS : second % LINE_SECONDS == 0) {
                    String line = "%s: %d%s messages in %d s"
                            .formatted(what, (long) COUNT.getOpaque(this), total == 0 ? "" : " of " + total, second);
                    err.print(isTerminal ? "\r" + line + " " : line + "\n");
                    err.flush();
                    told = isTerminal;
                }
            }
        } catch (InterruptedException _) {
            // The run is over.
        }
    }

    @Override
    public void close() {
        teller.interrupt();
        Closing.join(teller);
        if (told) {
            err.print("\r" + " ".repeat(70) + "\r");
            err.flush();
        }
    }
}

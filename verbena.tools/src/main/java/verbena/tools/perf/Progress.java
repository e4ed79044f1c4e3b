package verbena.tools.perf;

import java.io.Console;
import java.io.PrintWriter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Tells on a terminal how far a long run has come, once a second from the third second on. [#at] is for the loop
/// that measures and costs it a store; the rest has a thread of its own.
final class Progress implements AutoCloseable {
    private static final VarHandle COUNT;
    private static final int QUIET_SECONDS = 2;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(Progress.class, "count", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final PrintWriter err;
    private final String what;
    private final @Nullable Thread teller;
    private boolean told;

    @SuppressWarnings("UnusedVariable") // by COUNT
    private long count;

    /// @param what is being done: `65536 bytes`
    /// @param total messages; 0 when nobody knows
    Progress(PrintWriter err, String what, long total) {
        this(err, what, total, isTerminal());
    }

    Progress(PrintWriter err, String what, long total, boolean tells) {
        this.err = err;
        this.what = what;
        teller = tells ? Thread.ofVirtual().start(() -> tell(total)) : null;
    }

    private static boolean isTerminal() {
        return Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    }

    /// So many messages are through.
    void at(long messages) {
        COUNT.setOpaque(this, messages);
    }

    private void tell(long total) {
        try {
            for (int second = 1; ; second++) {
                Thread.sleep(1_000);
                if (second > QUIET_SECONDS) {
                    err.printf(
                            "\r%s: %d%s messages in %d s ",
                            what, (long) COUNT.getOpaque(this), total == 0 ? "" : " of " + total, second);
                    err.flush();
                    told = true;
                }
            }
        } catch (InterruptedException _) {
            // The run is over.
        }
    }

    @Override
    public void close() {
        if (teller == null) {
            return;
        }
        teller.interrupt();
        boolean interrupted = false;
        while (teller.isAlive()) {
            try {
                teller.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (told) {
            err.print("\r" + " ".repeat(70) + "\r");
            err.flush();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}

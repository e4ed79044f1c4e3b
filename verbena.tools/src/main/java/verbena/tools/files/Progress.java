package verbena.tools.files;

import java.io.Console;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import verbena.tools.kit.Closing;

/// The display of the progress of a transfer: on a terminal in one line, with rate and time left; elsewhere in a
/// line every ten seconds. What fails is a line of its own, at once.
final class Progress extends Tally implements AutoCloseable {
    private static final long BEAT_MILLIS = 200;
    private static final int BEATS_PER_LINE = 50;
    private static final int BAR = 24;
    /// The newest share of a rate, so that it is calm.
    private static final double NEWEST = 0.1;

    private final PrintWriter out;
    private final PrintWriter err;
    private final String command;
    private final boolean isQuiet;
    private final boolean isVerbose;
    private final boolean isTerminal;
    private final LongAdder behind = new LongAdder();
    private final Thread teller;
    private final LongAdder total = new LongAdder();
    private volatile String current = "";
    private volatile boolean isCounted;
    private int shown;

    /// @param command that errors begin with
    /// @param isVerbose whether each file is told
    Progress(PrintWriter out, PrintWriter err, String command, boolean isQuiet, boolean isVerbose) {
        this.out = out;
        this.err = err;
        this.command = command;
        this.isQuiet = isQuiet;
        this.isVerbose = isVerbose;
        isTerminal = Optional.ofNullable(System.console())
                .filter(Console::isTerminal)
                .isPresent();
        teller = Thread.ofVirtual().unstarted(this::tell);
        if (!isQuiet) {
            teller.start();
        }
    }

    @Override
    public void total(long files, long bytes) {
        total.add(bytes);
        isCounted = true;
    }

    @Override
    public void begins(String name, long size, long kept) {
        current = name;
        behind.add(kept);
        if (kept > 0 && !isQuiet) {
            line(err, name + ": goes on after " + Sizes.bytes(kept));
        }
    }

    @Override
    public void moved(long bytes) {
        super.moved(bytes);
        behind.add(bytes);
    }

    @Override
    public void done(String name, long size) {
        super.done(name, size);
        tellFile(name);
    }

    @Override
    public void made(String name) {
        tellFile(name);
    }

    @Override
    public void same(String name, long size) {
        super.same(name, size);
        behind.add(size);
    }

    @Override
    public void would(String name, long size) {
        super.would(name, size);
        behind.add(size);
        line(out, "would copy " + name);
    }

    @Override
    public void leftOut(String name, String why) {
        line(err, command + ": left out: " + name + ": " + why);
    }

    @Override
    public void failed(String name, String why) {
        super.failed(name, why);
        line(err, command + ": " + why);
    }

    private void tellFile(String name) {
        if (isVerbose) {
            line(out, name);
        }
    }

    private synchronized void line(PrintWriter to, String line) {
        wipe();
        to.println(line);
        to.flush();
    }

    private void tell() {
        try {
            long before = 0;
            long then = System.nanoTime();
            double rate = 0;
            for (int beat = 1; ; beat++) {
                Thread.sleep(BEAT_MILLIS);
                long now = System.nanoTime();
                long moved = movedBytes();
                double fresh = (moved - before) * 1e9 / (now - then);
                rate = rate == 0 ? fresh : rate + NEWEST * (fresh - rate);
                before = moved;
                then = now;
                if (isTerminal) {
                    show(text(rate));
                } else if (beat % BEATS_PER_LINE == 0) {
                    line(err, text(rate));
                }
            }
        } catch (InterruptedException _) {
            // The transfer is over.
        }
    }

    String text(double rate) {
        long all = total.sum();
        if (all == 0) {
            return (isCounted ? "no bytes to copy" : "looks for what there is to copy") + "  " + current;
        }
        long done = Math.min(all, behind.sum());
        int percent = (int) (100.0 * done / all);
        String left = rate < 1 ? "" : "  " + Sizes.seconds((all - done) / rate) + " left";
        String bar =
                isTerminal ? "[" + "#".repeat(percent * BAR / 100) + "-".repeat(BAR - percent * BAR / 100) + "]  " : "";
        return "%s%3d %%  %s of %s  %s/s%s  %s"
                .formatted(bar, percent, Sizes.bytes(done), Sizes.bytes(all), Sizes.bytes(rate), left, current);
    }

    private synchronized void show(String text) {
        int columns = 100;
        String line = text.length() > columns ? text.substring(0, columns) : text;
        err.print("\r" + line + " ".repeat(Math.max(0, shown - line.length())));
        err.flush();
        shown = line.length();
    }

    private void wipe() {
        if (shown > 0) {
            err.print("\r" + " ".repeat(shown) + "\r");
            err.flush();
            shown = 0;
        }
    }

    @Override
    public void close() {
        teller.interrupt();
        Closing.join(teller);
        synchronized (this) {
            wipe();
        }
    }
}

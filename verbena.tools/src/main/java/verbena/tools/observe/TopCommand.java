package verbena.tools.observe;

import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;
import verbena.tools.observe.TopTable.Order;
import verbena.tools.report.Json;

/// `verbena top`: the Verbena processes of this host, live.
@Command(
        name = "top",
        header = "Watch the Verbena processes of this host: devices, queue pairs, rates, retries, queues.",
        description = {
            "",
            "Attaches to each process of this user that has a device open, as jcmd does, and shows what changes."
                    + " RETRANS, DROPPED, RNR and ERRORS count since the device was opened or the queue pair was made;"
                    + " SQ is sends outstanding, RQ receives posted ('s': shared), CQ completions not yet polled. Below a"
                    + " queue pair in ERR stands why.",
            "",
            "Keys: q quits, s sorts by something else, the space bar looks at once. Where standard output is no"
                    + " terminal, one table follows the other."
        })
public final class TopCommand extends ToolCommand {
    private static final long KEY_MILLIS = 50;
    private static final String KEYS = "      q quit, s sort, space now";

    @Option(
            names = {"-p", "--pid"},
            paramLabel = "PID",
            description = "Only this process.")
    private @Nullable Long pid;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "S",
            defaultValue = "1",
            description = "Seconds between two looks. Default: ${DEFAULT-VALUE}.")
    private double interval;

    @Option(
            names = "--sort",
            paramLabel = "ORDER",
            defaultValue = "rate",
            description = "rate, retries, queue, errors or number. Default: ${DEFAULT-VALUE}.")
    private String sort;

    @Option(names = "--once", description = "One table, of two looks an interval apart, and end.")
    private boolean once;

    @Option(names = "--batch", description = "One table after the other, also on a terminal.")
    private boolean batch;

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            description = "End after N tables.")
    private @Nullable Integer count;

    @Option(names = "--json", description = "JSON in place of tables: all that is known, totals in place of rates.")
    private boolean json;

    private Order order = Order.RATE;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (!(interval >= 0.1 && interval <= 3600)) {
            throw wrong("--interval: 0.1 to 3600 s, got " + interval);
        }
        if (count != null && count < 1) {
            throw wrong("--count: at least 1, got " + count);
        }
        order = parse(sort);
        boolean isTerminal = Optional.ofNullable(System.console())
                .filter(Console::isTerminal)
                .isPresent();
        try (var observatory = new Observatory(pid);
                Screen screen = once || batch || json || count != null || !isTerminal ? null : Screen.open()) {
            if (screen == null) {
                print(observatory);
            } else {
                watch(observatory, screen);
            }
        } catch (UnsupportedOperationException e) {
            throw new CommandFailed(String.valueOf(e.getMessage()), e);
        } catch (InterruptedException e) {
            if (once) {
                throw e; // otherwise this is how it ends
            }
        }
        return 0;
    }

    private Order parse(String text) {
        return Arrays.stream(Order.values())
                .filter(each -> each.label().equals(text.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> wrong("--sort: "
                        + Arrays.stream(Order.values()).map(Order::label).collect(Collectors.joining(", "))
                        + ", got '" + text + "'"));
    }

    private void print(Observatory observatory) throws InterruptedException {
        PrintWriter out = out();
        int left = once ? 1 : count == null ? Integer.MAX_VALUE : count;
        Look before = null;
        if (!json) { // which has totals, and needs no look before
            before = look(observatory);
            Thread.sleep((long) (interval * 1e3));
        }
        while (true) {
            Look now = look(observatory);
            if (json) {
                out.println(Json.format(now));
            } else {
                TopTable.lines(before, now, order).forEach(out::println);
            }
            out.flush();
            if (--left == 0) {
                return;
            }
            if (!json) {
                out.println();
            }
            before = now;
            Thread.sleep((long) (interval * 1e3));
        }
    }

    private Look look(Observatory observatory) throws InterruptedException {
        Look look = observatory.look();
        if (pid != null && look.processes().getFirst().trouble() != null) {
            throw new CommandFailed("cannot attach to process " + pid + ": "
                    + look.processes().getFirst().trouble());
        }
        return look;
    }

    private void watch(Observatory observatory, Screen screen) throws IOException, InterruptedException {
        Look before = null;
        while (true) {
            Look now = look(observatory);
            draw(screen, before, now);
            before = before == null ? now : before;
            long until = System.nanoTime() + (long) (interval * 1e9);
            boolean looksNow = false;
            while (!looksNow && System.nanoTime() - until < 0) {
                switch (screen.key()) {
                    case 'q', 'Q', 3 -> {
                        return;
                    }
                    case 's' -> {
                        order = order.next();
                        draw(screen, before, now);
                    }
                    case ' ' -> looksNow = true;
                    default -> Thread.sleep(KEY_MILLIS);
                }
            }
            before = now;
        }
    }

    private void draw(Screen screen, @Nullable Look before, Look now) {
        List<String> lines = new ArrayList<>(TopTable.lines(before, now, order));
        lines.set(0, lines.getFirst() + KEYS);
        screen.draw(lines);
    }
}

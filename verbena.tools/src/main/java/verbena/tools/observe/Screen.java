package verbena.tools.observe;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The terminal as a screen that is drawn again and again: its other contents come back at the end, and keys are
/// read one by one, without Enter. For terminals that stty(1) knows.
public final class Screen implements AutoCloseable {
    private static final String ALTERNATE = "\u001b[?1049h\u001b[?25l";
    private static final String NORMAL = "\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String CLEAR_LINE = "\u001b[K";
    private static final String CLEAR_BELOW = "\u001b[J";
    private static final int ROWS_DEFAULT = 24;
    private static final int COLUMNS_DEFAULT = 80;
    private static final int SIZE_EVERY = 5;

    private final PrintStream out = System.out;
    private final InputStream keys = System.in;
    private final String settings;
    private int rows = ROWS_DEFAULT;
    private int columns = COLUMNS_DEFAULT;
    private int drawn;
    private boolean closed;

    private Screen(String settings) {
        this.settings = settings;
    }

    /// Takes the terminal of this process; null when it has none, or none that can be set.
    public static @Nullable Screen open() {
        String settings = stty("-g");
        if (settings == null || settings.isBlank() || stty("-icanon", "-echo", "min", "0", "time", "0") == null) {
            return null;
        }
        System.out.print(ALTERNATE);
        System.out.flush();
        return new Screen(settings.strip());
    }

    /// Draws the lines, as far as there is room.
    public void draw(List<String> lines) {
        if (drawn++ % SIZE_EVERY == 0) {
            measure();
        }
        var text = new StringBuilder(HOME);
        for (int i = 0; i < Math.min(lines.size(), rows - 1); i++) {
            String line = lines.get(i);
            text.append(line, 0, Math.min(line.length(), columns))
                    .append(CLEAR_LINE)
                    .append("\r\n");
        }
        out.print(text.append(CLEAR_BELOW));
        out.flush();
    }

    private void measure() {
        String size = stty("size");
        String[] parts = size == null ? new String[0] : size.strip().split(" ", -1);
        if (parts.length == 2 && parts[0].matches("[1-9]\\d*") && parts[1].matches("[1-9]\\d*")) {
            rows = Integer.parseInt(parts[0]);
            columns = Integer.parseInt(parts[1]);
        }
    }

    /// Returns the key that was pressed last; -1 for none.
    public int key() throws IOException {
        int last = -1;
        while (keys.available() > 0) {
            last = keys.read();
        }
        return last;
    }

    /// Gives the terminal back as it was. Any thread; once.
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            out.print(NORMAL);
            out.flush();
            stty(settings);
        }
    }

    private static @Nullable String stty(String... arguments) {
        try {
            var command = new ArrayList<String>();
            command.add("stty");
            command.addAll(List.of(arguments));
            Process stty = new ProcessBuilder(command)
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String said = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return stty.waitFor(1, TimeUnit.SECONDS) && stty.exitValue() == 0 ? said : null;
        } catch (IOException _) {
            return null;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return null;
        }
    }
}

package verbena.bench;

import com.sun.management.ThreadMXBean;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.tools.Verbena;

/// Verbena: runs commands of its command line.
final class VerbenaEnd implements WorkerEnd {
    /// Printed when a command waits for its client, followed by the port.
    static final String LISTENING = "listening ";

    private static final Pattern WAITS = Pattern.compile(" port (\\d+); there: ");

    /// Runs a command; returns its output, and how many bytes all threads allocated meanwhile.
    @Override
    public Object order(String[] words) {
        var out = new StringWriter();
        var err = new Err();
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getTotalThreadAllocatedBytes();
        int status = Verbena.commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(words);
        long allocated = threads.getTotalThreadAllocatedBytes() - before;
        if (status != 0) {
            throw new Child.Failed("verbena " + String.join(" ", Arrays.asList(words)) + ": " + err);
        }
        return Map.of("out", out.toString(), "allocated", allocated);
    }

    /// Standard error, which reports at once that a command listens.
    private static final class Err extends StringWriter {
        @Override
        public void write(String text, int from, int length) {
            super.write(text, from, length);
            Matcher matcher = WAITS.matcher(text);
            if (matcher.find()) {
                System.out.println(LISTENING + matcher.group(1));
            }
        }
    }
}

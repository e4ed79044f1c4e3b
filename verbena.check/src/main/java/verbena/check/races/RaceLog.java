package verbena.check.races;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import verbena.check.CallPlace;

/// A log of what a process does, from which [RaceMerge] finds races with other processes. Each line has fields with
/// tabs between them: a letter, the time in microseconds, and what the letter has:
///
/// | letter | fields |
/// |---|---|
/// | `V` | version, process |
/// | `P` | number and frames of a place |
/// | `R` | a region: number, rkey, address for peers, address here, length, what it is called, GIDs of its device |
/// | `U` | a region that was closed: number |
/// | `Q` | a queue pair: number, QPN, GIDs of its device |
/// | `C` | a queue pair that was connected: number, QPN and GID of the peer |
/// | `X` | a queue pair that was reset or closed: number |
/// | `S` | a request: queue pair, number, operation, access at the peer or `-`, fenced, message, place, remote address,
/// rkey, bytes; then access, region, address and length of each local piece |
/// | `E` | a request that has ended: queue pair, number, whether it was carried out |
/// | `D` | a request that will not be seen to end: queue pair, number |
/// | `G` | a message that was received: queue pair |
/// | `A` | loads or stores: access, region, address, length, place |
/// | `L`, `K` | knowledge handed over, taken over: by what |
///
/// Any thread.
public final class RaceLog {
    static final String VERSION = "1";

    private final Writer out;
    private final Map<CallPlace, Integer> places = new HashMap<>();
    private final Instant beginning = Instant.now();
    private final long beginningNanos = System.nanoTime();

    /// @throws UncheckedIOException when the file cannot be written
    public RaceLog(Path file) {
        try {
            out = Files.newBufferedWriter(file);
        } catch (IOException e) {
            throw new UncheckedIOException("log: " + e.getMessage(), e);
        }
        write('V', VERSION, ProcessHandle.current().pid());
    }

    /// Returns the number of a place.
    public synchronized int place(CallPlace place) {
        Integer known = places.get(place);
        if (known != null) {
            return known;
        }
        int number = places.size();
        places.put(place, number);
        var text = new StringBuilder();
        for (CallPlace.Frame each : place.frames()) {
            text.append(text.isEmpty() ? "" : "|")
                    .append(each.type())
                    .append(';')
                    .append(each.method())
                    .append(';')
                    .append(each.file())
                    .append(';')
                    .append(each.line());
        }
        write('P', number, text);
        return number;
    }

    /// Writes a line.
    public synchronized void write(char letter, Object... fields) {
        long micros =
                ChronoUnit.MICROS.between(Instant.EPOCH, beginning) + (System.nanoTime() - beginningNanos) / 1_000;
        var line = new StringBuilder().append(letter).append('\t').append(micros);
        for (Object each : fields) {
            line.append('\t').append(each.toString().replaceAll("[\t\n\r]", " "));
        }
        try {
            out.write(line.append('\n').toString());
        } catch (IOException e) {
            throw new UncheckedIOException("log: " + e.getMessage(), e);
        }
    }

    /// Writes out what was kept back.
    public synchronized void flush() {
        try {
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("log: " + e.getMessage(), e);
        }
    }
}

package verbena.tools.kit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// The resources that a process has used so far, as Linux counts them in `/proc`; proc(5).
///
/// @param user seconds of processor, in steps of 10 ms
/// @param system the same in the kernel
/// @param readsAndWrites system calls of the families of read(2) and write(2), sendfile(2) among them; those of
///     sendmsg(2) and recvmsg(2), which the devices use, and all that wait or wake are not among them
/// @param threads context switches of the present threads, by thread: those that end take theirs along
public record Costs(double user, double system, long readsAndWrites, Map<Path, Switches> threads) {
    /// The context switches of one thread.
    ///
    /// @param voluntary because it waited
    /// @param involuntary because another thread had a turn
    public record Switches(long voluntary, long involuntary) {
        static final Switches NONE = new Switches(0, 0);

        Switches minus(Switches before) {
            return new Switches(voluntary - before.voluntary, involuntary - before.involuntary);
        }
    }

    private static final double TICKS_A_SECOND = 100; // USER_HZ, on every Linux

    /// Returns the costs of a process of this user.
    ///
    /// @throws IOException when there is none, or no `/proc`
    public static Costs of(long pid) throws IOException {
        Path proc = Path.of("/proc", Long.toString(pid));
        String stat = Files.readString(proc.resolve("stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1); // from the third on
        long calls = 0;
        for (String line : Files.readAllLines(proc.resolve("io"))) {
            if (line.startsWith("syscr:") || line.startsWith("syscw:")) {
                calls += number(line);
            }
        }
        var threads = new HashMap<Path, Switches>();
        try (Stream<Path> tasks = Files.list(proc.resolve("task"))) {
            tasks.forEach(task -> threads.put(task, switches(task.resolve("status"))));
            threads.values().removeIf(Switches.NONE::equals); // ended meanwhile
        }
        return new Costs(
                Long.parseLong(fields[11]) / TICKS_A_SECOND,
                Long.parseLong(fields[12]) / TICKS_A_SECOND,
                calls,
                Map.copyOf(threads));
    }

    /// Returns the number of times that a thread of the process waited.
    public long voluntary() {
        return threads.values().stream().mapToLong(Switches::voluntary).sum();
    }

    public long involuntary() {
        return threads.values().stream().mapToLong(Switches::involuntary).sum();
    }

    private static Switches switches(Path status) {
        long voluntary = 0;
        long involuntary = 0;
        for (String line : lines(status)) {
            if (line.startsWith("voluntary_ctxt_switches:")) {
                voluntary = number(line);
            } else if (line.startsWith("nonvoluntary_ctxt_switches:")) {
                involuntary = number(line);
            }
        }
        return new Switches(voluntary, involuntary);
    }

    private static Iterable<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException _) {
            return List.of(); // a thread that has ended meanwhile
        }
    }

    private static long number(String line) {
        return Long.parseLong(line.substring(line.indexOf(':') + 1).strip());
    }

    /// Returns the costs since then; switches are of the threads that are there now.
    public Costs minus(Costs before) {
        var since = new HashMap<>(threads);
        since.replaceAll((thread, now) -> now.minus(before.threads.getOrDefault(thread, Switches.NONE)));
        return new Costs(
                user - before.user, system - before.system, readsAndWrites - before.readsAndWrites, Map.copyOf(since));
    }

    /// Returns the sum with the costs of another process.
    public Costs plus(Costs other) {
        var both = new HashMap<>(threads);
        both.putAll(other.threads);
        return new Costs(
                user + other.user, system + other.system, readsAndWrites + other.readsAndWrites, Map.copyOf(both));
    }
}

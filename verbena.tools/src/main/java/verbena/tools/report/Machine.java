package verbena.tools.report;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import verbena.tools.kit.Version;

/// The facts in a report about the time and the machine of a measurement.
public final class Machine {
    private static final Path HOST = Path.of("/proc/sys/kernel/hostname");
    private static final Path PROCESSOR = Path.of("/proc/cpuinfo");

    private Machine() {}

    /// Returns the facts, by name, as they are now: to be asked for before the measurement, because of the load.
    public static Map<String, String> facts() {
        var facts = new LinkedHashMap<String, String>();
        facts.put(
                "date",
                DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(
                        ZonedDateTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS)));
        facts.put("host", host());
        int cores = Runtime.getRuntime().availableProcessors();
        facts.put("processor", cores + (cores == 1 ? " usable core, " : " usable cores, ") + processor());
        facts.put("system", property("os.name") + " " + property("os.version") + ", " + property("os.arch"));
        facts.put("Java", Runtime.version() + " (" + property("java.vendor") + ", " + property("java.vm.name") + ")");
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        if (load >= 0) {
            facts.put("load at start", "%.2f in the last minute".formatted(load));
        }
        facts.put("Verbena", Version.ofThisBuild());
        return facts;
    }

    private static String property(String name) {
        return System.getProperty(name, "unknown");
    }

    private static String host() {
        try {
            return Files.readString(HOST).strip();
        } catch (IOException _) {
            String windows = System.getenv("COMPUTERNAME");
            return windows == null ? "unknown" : windows;
        }
    }

    private static String processor() {
        try {
            // The rows of the first core: "model name : AMD EPYC" says little without its family.
            Map<String, String> core = Files.readAllLines(PROCESSOR).stream()
                    .takeWhile(line -> !line.isBlank())
                    .map(line -> line.split("\\s*:\\s*", 2))
                    .collect(Collectors.toMap(words -> words[0], words -> words[words.length - 1], (a, _) -> a));
            String name = core.get("model name");
            if (name != null) {
                return name + " (family " + core.get("cpu family") + ", model " + core.get("model") + ")";
            }
        } catch (IOException _) {
            // Not Linux.
        }
        return property("os.arch");
    }
}

package verbena.tools.weak;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import verbena.transport.weak.Freedom;

/// Our own programs on weak devices, under all rules: `Campaign FOLDER FIRST LAST PATTERN virtual|real` has the seeds
/// from FIRST to LAST, and the programs that run in virtual time, or the others. Odd seeds take all freedoms, even
/// seeds those of cards. The status says whether something was found.
public final class Campaign {
    /// A program that waits for ever is found too.
    private static final long LIMIT_SECONDS = 300;
    private static final long PROGRESS_SEEDS = 10;
    private static final OperatingSystemMXBean SYSTEM =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    /// Runs with a single freedom, to find the one that broke a program.
    private static final int RUNS_ALONE = 3;
    /// Runs of a program that ran into a time limit while the machine was busy.
    private static final int RUNS_BUSY = 5;
    /// Limits for a program that has not ended while the machine was busy.
    private static final int LIMITS_BUSY = 12;

    private final PrintStream out = System.out; // programs have another one
    private final Map<String, Long> millis = new HashMap<>();
    private final boolean isVirtual;
    private int runs;
    private long posted;
    private int found;
    private int repeated;
    private final Metronome metronome = new Metronome();

    private Campaign(boolean isVirtual) {
        this.isVirtual = isVirtual;
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        long last = Long.parseLong(args[2]);
        Pattern which = Pattern.compile(args[3]);
        boolean isVirtual = args[4].equals("virtual");
        List<OwnProgram> programs = switch (which.pattern()) {
            case OwnPrograms.CONTROL -> List.of(OwnPrograms.control(isVirtual));
            case MonitorProgram.NAME -> List.of(MonitorProgram.program());
            case LimitProgram.NAME -> List.of(LimitProgram.program());
            default -> OwnPrograms.all(folder, which.asMatchPredicate(), isVirtual);
        };
        var campaign = new Campaign(isVirtual);
        for (long seed = Long.parseLong(args[1]); seed <= last; seed++) {
            campaign.run(programs, seed);
            if (seed % PROGRESS_SEEDS == 0 || seed == last) {
                campaign.out.println("seed " + seed + " of " + last + ": " + campaign.counts(programs));
            }
        }
        System.exit(campaign.found == 0 ? 0 : 1);
    }

    private String counts(List<OwnProgram> programs) {
        String times = millis.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .map(each -> each.getKey() + " " + each.getValue() / (runs / programs.size()))
                .collect(Collectors.joining(", "));
        return programs.size() + " programs, " + runs + " runs, " + posted + " requests, " + found + " findings, "
                + repeated + " repeated because the machine was busy; ms of processor time per run: " + times;
    }

    private void run(List<OwnProgram> programs, long seed) throws InterruptedException {
        var scene = new WeakScene(seed % 2 == 0 ? "card" : "standard", seed, isVirtual);
        WeakLayer.use(scene);
        var broken = new ArrayList<OwnProgram>();
        for (OwnProgram each : programs) {
            long begin = SYSTEM.getProcessCpuTime();
            String failure = failureUnlessBusy(each, scene);
            millis.merge(each.name(), TimeUnit.NANOSECONDS.toMillis(SYSTEM.getProcessCpuTime() - begin), Long::sum);
            if (!failure.isEmpty()) {
                broken.add(each);
                tell(each, scene, failure);
            }
            scene.findings(each.meant()).forEach(finding -> tell(each, scene, finding));
            runs++;
        }
        posted += scene.posted();
        scene.awaitClosed();
        for (OwnProgram each : broken) {
            out.println(each.name() + ", seed " + seed + ": broken by " + breaking(each, seed));
        }
    }

    private void tell(OwnProgram program, WeakScene scene, String what) {
        found++;
        out.println(program.name() + " on " + scene.options() + ": " + what);
        out.println("repeat: " + WeakCampaignTest.repeating(scene.seed(), isVirtual ? ".*" : program.name()));
    }

    /// Returns the freedoms that break a program by themselves.
    private List<String> breaking(OwnProgram program, long seed) throws InterruptedException {
        var all = new ArrayList<String>();
        for (Freedom each : Freedom.values()) {
            var scene = new WeakScene(each.label(), seed, isVirtual);
            WeakLayer.use(scene);
            for (int i = 0; i < RUNS_ALONE && !all.contains(each.label()); i++) {
                if (failure(program, seed) != null) {
                    all.add(each.label());
                }
            }
            scene.awaitClosed();
        }
        return all;
    }

    /// Runs a program, in real time again if it has met a time limit while this process did not get its processors:
    /// programs have limits of their own, in seconds. Wrong bytes are wrong at any time.
    ///
    /// @return why it failed; empty when it did not
    private String failureUnlessBusy(OwnProgram program, WeakScene scene) throws InterruptedException {
        for (int run = 1; ; run++) {
            metronome.begin();
            long before = scene.posted();
            Throwable failure = failure(program, scene.seed());
            if (failure == null && scene.posted() > before) {
                return "";
            }
            if (failure == null) { // a channel takes TCP when RDMA does not answer in time
                failure = new IllegalStateException("it used no device");
            }
            if (isVirtual || failure instanceof AssertionError || !metronome.wasLate() || run == RUNS_BUSY) {
                return failure + " at " + List.of(failure.getStackTrace());
            }
            repeated++;
        }
    }

    /// Runs a program.
    ///
    /// @return why it failed; null when it did not
    private @Nullable Throwable failure(OwnProgram program, long seed) throws InterruptedException {
        var task = new FutureTask<>(() -> {
            program.body().run(seed);
            return true;
        });
        if (isVirtual) {
            OneByOne.SCHEDULER.start(task);
        } else {
            Thread.ofPlatform().daemon().start(task);
        }
        for (int limits = 1; ; limits++) {
            try {
                task.get(LIMIT_SECONDS, TimeUnit.SECONDS);
                return null;
            } catch (ExecutionException e) {
                Throwable cause = e;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                return cause;
            } catch (TimeoutException e) {
                if (limits == LIMITS_BUSY || !metronome.wasLate()) {
                    return new TimeoutException("it has not ended after " + limits * LIMIT_SECONDS + " s");
                }
            }
        }
    }

    /// Returns the words of the command that runs the programs in a process of its own.
    static List<String> command(Path folder, long first, long last, String which, boolean isVirtual)
            throws IOException {
        Path services = Files.createDirectories(folder.resolve("layer/META-INF/services"));
        Files.writeString(services.resolve("verbena.verbs.internal.DeviceLayer"), WeakLayer.class.getName() + "\n");
        var words = new ArrayList<String>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (isVirtual) {
            words.add("-javaagent:" + agent(folder.resolve("agent.jar")));
        }
        words.addAll(List.of(
                "-ea",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                "-Dverbena.check=on",
                "-Dverbena.nio.begin=rdma",
                "-Dverbena.nio.wait=" + TimeUnit.SECONDS.toMillis(LIMIT_SECONDS), // else a busy machine means TCP
                "-Dverbena.root=" + System.getProperty("verbena.root"),
                "-cp",
                folder.resolve("layer") + ":" + System.getProperty("java.class.path"),
                Campaign.class.getName(),
                Files.createTempDirectory(folder, "files").toString(),
                Long.toString(first),
                Long.toString(last),
                which,
                isVirtual ? "virtual" : "real"));
        return words;
    }

    /// Returns an archive that names the agent, which the class path has. The archive has the clock, for the JDK.
    private static Path agent(Path file) throws IOException {
        var manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(new Attributes.Name("Premain-Class"), VirtualThreadsAgent.class.getName());
        attributes.put(new Attributes.Name("Can-Retransform-Classes"), "true");
        attributes.put(
                new Attributes.Name("Boot-Class-Path"), file.getFileName().toString());
        String clock = VirtualClock.class.getName().replace('.', '/') + ".class";
        try (OutputStream out = Files.newOutputStream(file);
                var archive = new JarOutputStream(out, manifest);
                var bytes = ClassLoader.getSystemResourceAsStream(clock)) {
            archive.putNextEntry(new JarEntry(clock));
            Objects.requireNonNull(bytes).transferTo(archive);
        }
        return file;
    }
}

package verbena.tools.weak;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.transport.weak.Freedom;

/// Our own programs on weak devices, under all rules: `Campaign FOLDER FIRST LAST [PATTERN]` has the seeds from FIRST
/// to LAST. Odd seeds take all freedoms, even seeds those of cards. The status says whether something was found.
public final class Campaign {
    /// A program that waits for ever is found too.
    private static final long LIMIT_SECONDS = 120;
    private static final Pattern COUNTS =
            Pattern.compile("\\d+ programs, \\d+ runs, (\\d+) requests, (\\d+) findings\n");
    /// Runs with a single freedom, to find the one that broke a program.
    private static final int RUNS_ALONE = 3;

    private final PrintStream out = System.out; // programs have another one
    private final Path folder;
    private int runs;
    private long posted;
    private int found;

    private Campaign(Path folder) {
        this.folder = folder;
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        var campaign = new Campaign(folder);
        Pattern which = Pattern.compile(args.length > 3 ? args[3] : ".*");
        List<OwnProgram> programs = which.pattern().equals(OwnPrograms.CONTROL)
                ? List.of(OwnPrograms.control())
                : OwnPrograms.all(folder, which.asMatchPredicate());
        for (long seed = Long.parseLong(args[1]); seed <= Long.parseLong(args[2]); seed++) {
            campaign.run(programs, seed);
        }
        campaign.out.println(programs.size() + " programs, " + campaign.runs + " runs, " + campaign.posted
                + " requests, " + campaign.found + " findings");
        System.exit(campaign.found == 0 ? 0 : 1);
    }

    private void run(List<OwnProgram> programs, long seed) throws IOException, InterruptedException {
        boolean isAlone = programs.size() == 1;
        String weak = seed % 2 == 0 ? "card" : "standard";
        var scene = new WeakScene(weak, seed);
        WeakLayer.use(scene);
        var broken = new ArrayList<OwnProgram>();
        for (OwnProgram each : programs) {
            if (each.isEndless() && !isAlone) {
                runAlone(each, seed);
                continue;
            }
            long before = scene.posted();
            String failure = failure(each, seed);
            if (failure.isEmpty() && scene.posted() == before) {
                failure = "it used no device";
            }
            if (!failure.isEmpty()) {
                broken.add(each);
                tell(each, scene, failure);
            }
            scene.findings(each.meant()).forEach(finding -> tell(each, scene, finding));
            runs++;
        }
        posted += scene.posted();
        if (programs.stream().noneMatch(each -> each.isEndless() && isAlone)) {
            scene.awaitClosed();
        }
        for (OwnProgram each : broken) {
            out.println(each.name() + ", seed " + seed + ": broken by " + breaking(each, seed));
        }
    }

    /// Runs a program in a process of its own, whose last line has what it counted.
    private void runAlone(OwnProgram program, long seed) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        command(System.getProperty("java.class.path"), folder, seed, seed, program.name()))
                .redirectErrorStream(true)
                .start();
        String said;
        try (var in = process.getInputStream()) {
            said = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            process.destroyForcibly().waitFor();
        }
        Matcher counts = COUNTS.matcher(said);
        boolean isWhole = counts.find();
        runs++;
        posted += isWhole ? Long.parseLong(counts.group(1)) : 0;
        found += isWhole ? Integer.parseInt(counts.group(2)) : 1;
        out.print(said.replaceFirst(COUNTS.pattern(), ""));
        if (!isWhole) {
            out.println(program.name() + ", seed " + seed + ": its process has ended early");
        }
    }

    private void tell(OwnProgram program, WeakScene scene, String what) {
        found++;
        out.println(program.name() + " on " + scene.options() + ": " + what);
    }

    /// Returns the freedoms that break a program by themselves.
    private static List<String> breaking(OwnProgram program, long seed) throws InterruptedException {
        var all = new ArrayList<String>();
        for (Freedom each : Freedom.values()) {
            var scene = new WeakScene(each.label(), seed);
            WeakLayer.use(scene);
            for (int i = 0; i < RUNS_ALONE && !all.contains(each.label()); i++) {
                if (!failure(program, seed).isEmpty()) {
                    all.add(each.label());
                }
            }
            if (!program.isEndless()) {
                scene.awaitClosed();
            }
        }
        return all;
    }

    /// Runs a program.
    ///
    /// @return why it failed; empty when it did not
    private static String failure(OwnProgram program, long seed) throws InterruptedException {
        var task = new FutureTask<>(() -> {
            program.body().run(seed);
            return true;
        });
        Thread.ofPlatform().daemon().start(task);
        try {
            task.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            return "";
        } catch (ExecutionException e) {
            Throwable cause = Objects.requireNonNull(e.getCause());
            return cause + " at " + List.of(cause.getStackTrace());
        } catch (TimeoutException e) {
            return "it has not ended after " + LIMIT_SECONDS + " s";
        }
    }

    /// Returns the words of the command that runs the programs in a process of its own.
    static List<String> command(Path folder, long first, long last, String which) throws IOException {
        Path services = Files.createDirectories(folder.resolve("layer/META-INF/services"));
        Files.writeString(services.resolve("verbena.verbs.spi.DeviceLayer"), WeakLayer.class.getName() + "\n");
        return command(
                folder.resolve("layer") + ":" + System.getProperty("java.class.path"),
                Files.createTempDirectory(folder, "files"),
                first,
                last,
                which);
    }

    private static List<String> command(String classes, Path files, long first, long last, String which) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                "-Dverbena.check=on",
                "-Dverbena.nio.begin=rdma",
                "-Dverbena.root=" + System.getProperty("verbena.root"),
                "-cp",
                classes,
                Campaign.class.getName(),
                files.toString(),
                Long.toString(first),
                Long.toString(last),
                which);
    }
}

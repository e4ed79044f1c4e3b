package verbena.tools.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Failures;
import verbena.tools.kit.Size;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// `verbena cp`.
@Command(
        name = "cp",
        header = "Copy files and folders to or from a 'verbena serve', by RDMA.",
        customSynopsis = {
            "verbena cp [OPTION...] SRC... HOST:DST",
            "verbena cp [OPTION...] HOST:SRC... DST",
            "verbena cp --compare [OPTION...] [FILE]"
        },
        description = {
            "",
            "HOST:PATH is in the folder served there. An IPv6 address stands in brackets, and a local file with"
                    + " a colon in its name is ./NAME. Permissions and times are kept. Files that have the source's size"
                    + " and time already are left alone. After a cut the same command resumes."
        })
public final class CpCommand extends FilesCommand {
    @Parameters(arity = "0..*", paramLabel = "SRC... DST", description = "What to copy, and where to.")
    private List<String> places = new ArrayList<>();

    @Mixin
    private CompareOptions comparison = new CompareOptions();

    @Option(
            names = {"-r", "--recursive"},
            description = "Copy folders too, with all that is in them; links within are kept as links.")
    private boolean recursive;

    @Option(
            names = {"-P", "--port"},
            paramLabel = "PORT",
            defaultValue = PORT,
            description = "Port of the server (default ${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = {"-d", "--device"},
            paramLabel = "DEVICE",
            description = "Device to use, for example iwarp (default: the one that reaches the server); --compare takes"
                    + " several (default: rocev2 and iwarp).")
    private List<String> devices = new ArrayList<>();

    @Option(
            names = {"-a", "--always"},
            description = "Copy files of the same size and time too.")
    private boolean always;

    @Option(
            names = {"-n", "--dry-run"},
            description = "Change nothing; say what would be copied.")
    private boolean rehearsal;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            description =
                    "The end that moves the bytes: the sender by RDMA write, or the receiver by read (default write).")
    private String mode = "write";

    @Option(
            names = "--checksum",
            paramLabel = "KIND",
            description = "Checksum of each chunk: crc32c, or sha256, which costs more (default crc32c).")
    private String checksum = "crc32c";

    @Option(names = "--verify", description = "Read each file again before it gets its name.")
    private boolean verify;

    @Option(names = "--no-sync", description = "Do not wait until the disk has a file.")
    private boolean noSync;

    @Option(
            names = "--chunk",
            paramLabel = "SIZE",
            defaultValue = "1024",
            converter = Size.InKiB.class,
            description = "Size of a chunk, 4K to 16M; without a unit in KiB (default ${DEFAULT-VALUE}).")
    private int chunkKiB;

    @Option(
            names = "--in-flight",
            paramLabel = "N",
            defaultValue = "16",
            description = "Outstanding chunks, 1 to 64 (default ${DEFAULT-VALUE}).")
    private int inFlight;

    @Option(
            names = "--retry",
            paramLabel = "SECONDS",
            defaultValue = "0",
            description = "When the server has gone, try again for so long, and resume (default ${DEFAULT-VALUE}).")
    private int retrySeconds;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "Give up when the server says nothing for so long, 3 to 86400 (default ${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    @Option(
            names = {"-v", "--verbose"},
            description = "Tell each file.")
    private boolean verbose;

    @Option(
            names = {"-q", "--quiet"},
            description = "Tell errors only.")
    private boolean quiet;

    @Override
    public Integer call() throws InterruptedException {
        range("--port", port, 1, 65_535);
        range("--chunk", chunkKiB, 4, Terms.CHUNK_MAX >> 10);
        range("--in-flight", inFlight, 1, Terms.SLOTS_MAX);
        range("--retry", retrySeconds, 0, 1_000_000);
        range("--timeout", timeoutSeconds, TIMEOUT_MIN, TIMEOUT_MAX);
        if (chunkKiB % 4 != 0) {
            throw wrong("--chunk: a multiple of 4, got " + chunkKiB);
        }
        if (comparison.isWanted()) {
            if (places.size() > 1) {
                throw wrong("--compare: one FILE, got " + places.size());
            }
            comparison.run(places.isEmpty() ? null : Path.of(places.getFirst()), devices, this);
            return 0;
        }
        if (places.size() < 2) {
            throw wrong("what to copy, and where to: SRC... DST");
        }
        if (devices.size() > 1) {
            throw wrong("--device: one, got " + devices.size());
        }
        List<Location> sources = places.stream().map(Location::parse).toList();
        Location destination = sources.getLast();
        sources = sources.subList(0, sources.size() - 1);
        long remote = sources.stream().filter(Location::isRemote).count();
        if (remote == 0 && !destination.isRemote()) {
            throw wrong("neither SRC nor DST is HOST:PATH; cp(1) copies within a host");
        }
        if (destination.isRemote() ? remote > 0 : remote < sources.size()) {
            throw wrong("either all SRC or DST is HOST:PATH");
        }
        String host =
                destination.isRemote() ? destination.host() : sources.getFirst().host();
        if (host == null || sources.stream().anyMatch(s -> s.isRemote() && !host.equals(s.host()))) {
            throw wrong("all SRC have to be of one host");
        }
        var progress = new Progress(out(), err(), name(), quiet, verbose);
        try (progress;
                Context opened = devices.isEmpty()
                        ? null
                        : Device.named(devices.getFirst()).open()) {
            var timeout = Duration.ofSeconds(timeoutSeconds);
            var way = new FileClient.Way(host, port, opened, terms(), secret(), direct, timeout, timeout);
            requireNamesOnce(sources);
            copy(way, sources, destination, progress);
        }
        if (!quiet) {
            out().println((rehearsal ? "would be " : "") + progress);
            out().flush();
        }
        return progress.failures() == 0 ? 0 : 1;
    }

    /// Checks that each source has a name of its own at the destination: only the user can decide it.
    private static void requireNamesOnce(List<Location> sources) {
        Set<Path> names = new HashSet<>();
        for (Location source : sources) {
            Path name = source.isRemote()
                    ? Request.nameOf(remote(source))
                    : source(source.path()).name();
            if (!names.add(name)) {
                throw new CommandFailed("two sources have the name " + name);
            }
        }
    }

    private Terms terms() {
        return new Terms(
                chunkKiB << 10,
                inFlight,
                choice("--mode", Mode.class, mode),
                choice("--checksum", Checksum.class, checksum));
    }

    private <E extends Enum<E>> E choice(String option, Class<E> type, String text) {
        try {
            return Enum.valueOf(type, text.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException _) {
            throw wrong(
                    option + ": one of " + EnumSet.allOf(type).toString().toLowerCase(Locale.ROOT) + ", got " + text);
        }
    }

    private Set<Request.Option> options(boolean intoFolder) {
        Set<Request.Option> options = EnumSet.noneOf(Request.Option.class);
        addIf(options, recursive, Request.Option.RECURSIVE);
        addIf(options, always, Request.Option.ALWAYS);
        addIf(options, rehearsal, Request.Option.REHEARSAL);
        addIf(options, intoFolder, Request.Option.INTO_FOLDER);
        addIf(options, noSync, Request.Option.NO_SYNC);
        addIf(options, verify, Request.Option.VERIFY);
        return options;
    }

    private static void addIf(Set<Request.Option> options, boolean isSet, Request.Option option) {
        if (isSet) {
            options.add(option);
        }
    }

    /// Copies everything. After a lost connection it begins again, and most files are the same already.
    private void copy(FileClient.Way way, List<Location> sources, Location destination, Progress progress)
            throws InterruptedException {
        long moved = -1;
        long since = System.nanoTime();
        while (true) {
            try {
                copyOnce(way, sources, destination, progress);
                return;
            } catch (ConnectionException e) {
                long now = System.nanoTime();
                if (progress.movedBytes() != moved) {
                    moved = progress.movedBytes();
                    since = now;
                }
                if (now - since >= retrySeconds * 1_000_000_000L) {
                    throw moved <= 0 ? e : new CommandFailed(e.getMessage() + "; the same command resumes", e);
                }
                note(name() + ": " + e.getMessage() + "; trying again");
                Thread.sleep(1000);
                always = false; // what has been copied is not copied again
            }
        }
    }

    private void copyOnce(FileClient.Way way, List<Location> sources, Location destination, Progress progress)
            throws InterruptedException {
        boolean intoFolder = destination.endsInSlash() || sources.size() > 1;
        Set<Request.Option> options = options(intoFolder);
        try (FileClient client = FileClient.connect(way)) {
            if (destination.isRemote()) {
                List<Walk.Source> local = new ArrayList<>();
                for (Location source : sources) {
                    local.add(source(source.path()));
                }
                client.put(local, remote(destination), options, progress);
                return;
            }
            Landing landing = landing(destination.path(), intoFolder);
            for (Location source : sources) {
                client.get(remote(source), landing, options, progress);
            }
        }
    }

    private static Path remote(Location location) {
        return Path.of(location.path().replaceFirst("^/+", ""));
    }

    /// Returns a file on this host: its folder, and its name in it.
    private static Walk.Source source(String text) {
        Path path = Path.of(text);
        try {
            Path real = path.toRealPath();
            Path name = path.normalize().getFileName();
            Path parent = real.getParent();
            if (parent == null || Files.isDirectory(real)) {
                return new Walk.Source(Folder.at(real), Path.of(""), baseName(name, real));
            }
            return new Walk.Source(Folder.at(parent), parent.relativize(real), baseName(name, real));
        } catch (IOException e) {
            throw new CommandFailed(Failures.text(text, e), e);
        }
    }

    private static Path baseName(@Nullable Path name, Path real) {
        if (name != null && !name.toString().isEmpty() && !name.toString().equals("..")) {
            return name;
        }
        Path last = real.getFileName();
        return last == null ? Path.of("root") : last;
    }

    private static Landing landing(String text, boolean intoFolder) {
        Path path = Path.of(text.isEmpty() ? "." : text).toAbsolutePath().normalize();
        Path parent = path.getParent();
        if (Files.isDirectory(path) || parent == null) {
            return new Landing(Folder.at(path), Path.of(""), null);
        }
        if (intoFolder) {
            throw new CommandFailed(text + ": no such folder");
        }
        return new Landing(Folder.at(parent), Path.of(""), path.getFileName());
    }
}

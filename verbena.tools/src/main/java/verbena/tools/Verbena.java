package verbena.tools;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;
import verbena.nic.link.LinkException;
import verbena.tools.explain.ExplainCommand;
import verbena.tools.files.CpCommand;
import verbena.tools.files.CpPeerCommand;
import verbena.tools.files.Failures;
import verbena.tools.files.ServeCommand;
import verbena.tools.perf.PerfCommand;
import verbena.verbs.VerbsException;

/// The root of the command line. A subcommand is one class, named in the list `COMMANDS` below.
///
/// Every command ends with 0 when it did what it was asked for, 1 when it could not, and 2 when it was not called
/// rightly, but those that C programs have made known end as these do; an error is one line on standard error.
@Command(
        name = "verbena",
        header = "RDMA for every JVM: devices, tests and tools of the command line.",
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "",
            "'verbena COMMAND --help' tells more of each. Start with 'verbena demo'.",
            "Exit status: 0 done, 1 failed, 2 wrong usage."
        })
public final class Verbena implements Runnable {
    private static final List<Class<?>> COMMANDS = List.of(
            DemoCommand.class,
            ExplainCommand.class,
            DevicesCommand.class,
            InfoCommand.class,
            DoctorCommand.class,
            RunCommand.class,
            PingpongCommand.class,
            RpingCommand.class,
            UcmatoseCommand.class,
            UdaddyCommand.class,
            MckeyCommand.class,
            XclientCommand.class,
            XserverCommand.class,
            PerfCommand.class,
            ServeCommand.class,
            CpCommand.class,
            DecodeCommand.class,
            StatusCommand.class,
            TopCommand.class,
            CaptureCommand.class,
            SimCommand.class,
            ConformCommand.class,
            HelpCommand.class,
            DemoPeerCommand.class,
            CpPeerCommand.class,
            TrainCommand.class);

    private static final long CLEAN_UP_MILLIS = 3_000;
    private static final int SUGGESTIONS_MAX = 2;
    private static final Pattern FOR_CHILDREN = Pattern.compile(
            "-X(ms|mx|mn|ss|share:|int).*|-Xlog:(disable|[^:]*(=off|:stderr))"
                    + "|-XX:(AOTCache=|AOTMode=|SharedArchiveFile=|Tier|[+-](Tiered|Use)).*|-XX:[+]DisplayVMOutputToStderr");

    /// By a signal. Whatever a command fails with from then on comes of that.
    private static volatile boolean isInterrupted;

    @Spec
    private CommandSpec spec;

    private Verbena() {}

    /// Runs one command and exits with its status. Ctrl-C, or a TERM signal, interrupts the command, which then
    /// gives back what it holds.
    public static void main(String[] args) {
        // Programs read this output too: digits and points are the same everywhere.
        Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT);
        var done = new CountDownLatch(1);
        Thread command = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> interrupt(command, done), "verbena-interrupt"));
        int status = commandLine(args).execute(args);
        if (System.out.checkError()) {
            status = Math.max(status, notWritten());
        }
        done.countDown();
        System.exit(status);
    }

    /// The command line with all commands, ready to execute; tests and the workbench give it writers of their own.
    public static CommandLine commandLine() {
        return commandLine(COMMANDS);
    }

    /// The command line for these arguments: when they begin with the name of a command, it has no other, because to
    /// make the models of all of them takes longer than many a command runs.
    static CommandLine commandLine(String[] args) {
        if (args.length == 1 && (args[0].equals("-V") || args[0].equals("--version"))) {
            return commandLine(List.of());
        }
        List<Class<?>> named = COMMANDS.stream()
                .filter(command -> args.length > 0
                        && command != HelpCommand.class
                        && command.getAnnotation(Command.class).name().equals(args[0]))
                .toList();
        return commandLine(named.isEmpty() ? COMMANDS : named);
    }

    private static CommandLine commandLine(List<Class<?>> commands) {
        var line = new CommandLine(new Verbena());
        commands.forEach(line::addSubcommand);
        Standard.addTo(line);
        Numbers.addTo(line);
        line.setPosixClusteredShortOptionsAllowed(true);
        line.setUsageHelpLongOptionsMaxWidth(30);
        line.setParameterExceptionHandler(Verbena::wrongUsage);
        line.setExecutionExceptionHandler(Verbena::failed);
        return line;
    }

    /// The command that starts this program again, from the same modules or classes, in a JVM with the same options.
    public static List<String> javaCommand() {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(forChildren(ManagementFactory.getRuntimeMXBean().getInputArguments()));
        Module module = Verbena.class.getModule();
        if (module.isNamed()) {
            String path = System.getProperty("jdk.module.path");
            if (path != null) {
                command.addAll(List.of("--module-path", path));
            }
            command.add("--enable-native-access=verbena.foreign");
            command.addAll(List.of("--module", module.getName() + "/" + Verbena.class.getName()));
        } else {
            command.addAll(List.of("--class-path", System.getProperty("java.class.path")));
            command.addAll(List.of("--enable-native-access=ALL-UNNAMED", Verbena.class.getName()));
        }
        return command;
    }

    /// Those options of a JVM that a child is to have too: collector, sizes of the heap, compilers, and the cache that
    /// makes the start fast. Not those that name a file or a port for one process to write to or to listen at.
    static List<String> forChildren(List<String> jvmOptions) {
        return jvmOptions.stream()
                .filter(option -> FOR_CHILDREN.matcher(option).matches())
                .toList();
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "");
    }

    /// Standard output did not take everything: says why, which a print stream does not know, so one more byte is
    /// tried.
    /// A reader that has gone, as `head` does, needs no word.
    private static int notWritten() {
        try {
            new FileOutputStream(FileDescriptor.out).write('\n');
        } catch (IOException e) {
            String why = Failures.why(e);
            if (!why.contains("Broken pipe")) {
                System.err.println("verbena: cannot write standard output: " + why);
            }
        }
        return 1;
    }

    private static void interrupt(Thread command, CountDownLatch done) {
        if (done.getCount() == 0) {
            return;
        }
        isInterrupted = true;
        command.interrupt();
        try {
            done.await(CLEAN_UP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static int wrongUsage(ParameterException e, String[] args) {
        CommandLine line = e.getCommandLine();
        PrintWriter err = line.getErr();
        String name = line.getCommandSpec().qualifiedName();
        if (e.getMessage() == null || e.getMessage().isEmpty()) {
            line.usage(err, Ansi.OFF); // standard output may be a terminal, and standard error a file
            return line.getCommandSpec().exitCodeOnInvalidInput();
        }
        err.println(name + ": " + complaint(e) + " See '" + name + " --help'.");
        err.flush();
        return line.getCommandSpec().exitCodeOnInvalidInput();
    }

    private static String complaint(ParameterException e) {
        if (!(e instanceof UnmatchedArgumentException unmatched)) {
            return oneLine(String.valueOf(e.getMessage())) + ".";
        }
        String what = unmatched.getUnmatched().getFirst();
        String kind = unmatched.isUnknownOption()
                ? "option"
                : e.getCommandLine().getSubcommands().isEmpty() ? "argument" : "command";
        var near = unmatched.getSuggestions().stream().limit(SUGGESTIONS_MAX).toList();
        return (kind.equals("argument")
                        ? "one argument too many: '" + what + "'"
                        : "unknown " + kind + " '" + what + "'")
                + (near.isEmpty() ? "." : "; did you mean '" + String.join("' or '", near) + "'?");
    }

    private static int failed(Exception e, CommandLine line, ParseResult parsed) {
        PrintWriter err = line.getErr();
        err.println(line.getCommandSpec().qualifiedName() + ": " + explanation(e));
        if (Standard.wantsStackTrace(line)) {
            e.printStackTrace(err);
        }
        err.flush();
        int usual = line.getCommandSpec().exitCodeOnExecutionException();
        return e instanceof CommandFailed failure ? failure.status(usual) & 0xFF : usual;
    }

    /// What to tell of an error: its message where it was made for users, else its type too.
    private static String explanation(Exception e) {
        return switch (e) {
            case CommandFailed _, VerbsException _, LinkException _, IllegalArgumentException _ ->
                oneLine(String.valueOf(e.getMessage()));
            case FileSystemException failure -> failure.getFile() + ": " + oneLine(Failures.why(failure));
            case IOException failure -> oneLine(Failures.why(failure));
            case UncheckedIOException failure -> {
                IOException cause = failure.getCause();
                yield cause == null ? String.valueOf(failure.getMessage()) : explanation(cause);
            }
            case InterruptedException _ -> "interrupted";
            case Exception _ when isInterrupted -> "interrupted";
            default -> oneLine(e.toString()) + " (an error of Verbena itself; --stacktrace shows where)";
        };
    }

    private static String oneLine(String text) {
        return text.strip().replaceAll("\\s*\\R\\s*", " ");
    }
}

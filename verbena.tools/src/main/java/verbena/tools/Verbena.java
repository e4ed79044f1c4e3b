package verbena.tools;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;
import verbena.nic.link.LinkException;
import verbena.tools.card.CardCommand;
import verbena.tools.check.CheckCommand;
import verbena.tools.check.ConformCommand;
import verbena.tools.check.SimCommand;
import verbena.tools.decode.DecodeCommand;
import verbena.tools.demo.DemoCommand;
import verbena.tools.demo.DemoPeerCommand;
import verbena.tools.device.DevicesCommand;
import verbena.tools.device.InfoCommand;
import verbena.tools.device.StatusCommand;
import verbena.tools.doctor.DoctorCommand;
import verbena.tools.explain.ExplainCommand;
import verbena.tools.fabric.FabricCommand;
import verbena.tools.files.CpCommand;
import verbena.tools.files.CpPeerCommand;
import verbena.tools.files.ServeCommand;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Failures;
import verbena.tools.kit.Numbers;
import verbena.tools.kit.Standard;
import verbena.tools.network.NetworkCommand;
import verbena.tools.observe.CaptureCommand;
import verbena.tools.observe.TopCommand;
import verbena.tools.perf.PerfCommand;
import verbena.tools.pingpong.PingpongCommand;
import verbena.tools.rdmacm.MckeyCommand;
import verbena.tools.rdmacm.RpingCommand;
import verbena.tools.rdmacm.UcmatoseCommand;
import verbena.tools.rdmacm.UdaddyCommand;
import verbena.tools.rdmacm.XclientCommand;
import verbena.tools.rdmacm.XserverCommand;
import verbena.verbs.VerbsException;

/// The root of the command line. A subcommand is one class, named in the list `COMMANDS` below.
///
/// A command ends with 0 when it has done its work, with 1 when it could not, and with 2 when its arguments are
/// wrong. A command that is known as a C program ends with that program's codes. An error is one line on
/// standard error.
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
    /// The commands by what they are for, in the order of the overview.
    private static final Map<String, List<Class<?>>> GROUPS = groups();
    /// Commands that other commands start.
    private static final List<Class<?>> HIDDEN =
            List.of(DemoPeerCommand.class, CpPeerCommand.class, TrainCommand.class);

    private static final List<Class<?>> COMMANDS = Stream.concat(
                    GROUPS.values().stream().flatMap(List::stream), HIDDEN.stream())
            .toList();

    private static Map<String, List<Class<?>>> groups() {
        var groups = new LinkedHashMap<String, List<Class<?>>>();
        groups.put("Try", List.of(DemoCommand.class, ExplainCommand.class, PingpongCommand.class, HelpCommand.class));
        groups.put(
                "Diagnose",
                List.of(
                        DoctorCommand.class,
                        DevicesCommand.class,
                        InfoCommand.class,
                        StatusCommand.class,
                        TopCommand.class,
                        CaptureCommand.class,
                        DecodeCommand.class));
        groups.put("Measure", List.of(PerfCommand.class));
        groups.put("Move data", List.of(CpCommand.class, ServeCommand.class, AgentCommand.class));
        groups.put(
                "C programs, and commands that are known as such",
                List.of(
                        RunCommand.class,
                        RpingCommand.class,
                        UcmatoseCommand.class,
                        UdaddyCommand.class,
                        MckeyCommand.class,
                        XclientCommand.class,
                        XserverCommand.class));
        groups.put(
                "Laboratory",
                List.of(
                        CheckCommand.class,
                        FabricCommand.class,
                        NetworkCommand.class,
                        CardCommand.class,
                        SimCommand.class,
                        ConformCommand.class));
        return groups;
    }

    private static final int USAGE_COLUMNS = 100;
    private static final long CLEAN_UP_MILLIS = 3_000;
    private static final int SUGGESTIONS_MAX = 2;
    /// An interruption by a signal. Any failure of a command after it is taken for a consequence.
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

    /// Returns the command line with all commands, ready to execute; tests and the workbench give it writers of
    /// their own.
    public static CommandLine commandLine() {
        return commandLine(COMMANDS);
    }

    /// Returns the command line for these arguments: when they begin with the name of a command, it has no other,
    /// because to make the models of all of them takes longer than many a command runs.
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
        line.getCommandSpec().usageMessage().commandListHeading("");
        line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, Verbena::inGroups);
        line.setPosixClusteredShortOptionsAllowed(true);
        line.setUsageHelpLongOptionsMaxWidth(30);
        line.setParameterExceptionHandler(Verbena::wrongUsage);
        line.setExecutionExceptionHandler(Verbena::failed);
        return line;
    }

    // The commands of the overview, of which a model may have some only.
    private static String inGroups(Help help) {
        Map<String, Help> known = help.subcommands();
        int width = known.keySet().stream().mapToInt(String::length).max().orElse(0);
        var text = new StringBuilder();
        GROUPS.forEach((group, commands) -> {
            var table = Help.TextTable.forColumns(
                    help.colorScheme(),
                    new Help.Column(width + 2, 2, Help.Column.Overflow.SPAN),
                    new Help.Column(USAGE_COLUMNS - width - 2, 2, Help.Column.Overflow.WRAP));
            for (Class<?> command : commands) {
                String name = command.getAnnotation(Command.class).name();
                if (known.containsKey(name)) {
                    String[] header =
                            known.get(name).commandSpec().usageMessage().header();
                    table.addRowValues(
                            help.colorScheme().commandText(name),
                            help.colorScheme().text(header[0]));
                }
            }
            text.append("%n%s:%n".formatted(group)).append(table);
        });
        return text.toString();
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "");
    }

    /// Reports why standard output did not take everything. A print stream does not know the reason, so the method
    /// tries one more byte. A reader that has gone, as `head` does, needs no word.
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

    /// Returns the text for an error: its message where that was made for users, else its type too.
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

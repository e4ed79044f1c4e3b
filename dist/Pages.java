import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.IllegalFormatException;
import java.util.List;
import java.util.stream.Stream;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import verbena.tools.Verbena;

/// Writes what a shell and man(1) want to know of the command line, from its model: a manual page for each command,
/// and completion for bash and zsh.
public final class Pages {
    private static final String HEAD = "# Completion of verbena for bash and zsh.\n";

    private final Path manual;
    private final String version;
    private final String date;

    private Pages(Path manual, String version, String date) {
        this.manual = manual;
        this.version = version;
        this.date = date;
    }

    /// @param args the folder (`share`), the version, and the time of the sources in seconds
    public static void main(String[] args) throws IOException {
        CommandLine line = Verbena.commandLine();
        Path share = Path.of(args[0]);
        Path bash = Files.createDirectories(share.resolve("bash-completion/completions")).resolve("verbena");
        String completion = AutoComplete.bash("verbena", line);
        // picocli says when and by what it was made, in lines that differ from build to build.
        Files.writeString(bash, HEAD + completion.lines().filter(text -> !text.startsWith("#")).reduce("", (a, b) -> a + b + "\n"));
        Path zsh = Files.createDirectories(share.resolve("zsh/site-functions")).resolve("_verbena");
        Files.writeString(zsh, """
                #compdef verbena
                autoload -U +X bashcompinit && bashcompinit
                (( $+functions[compopt] )) || compopt() { : } # zsh has none, and does without
                source "${${(%):-%x}:A:h}/../../bash-completion/completions/verbena"
                _bash_complete -o default -F _complete_verbena # for this first time; from now on zsh calls it
                """);
        String date = Instant.ofEpochSecond(Long.parseLong(args[2])).atOffset(ZoneOffset.UTC).toLocalDate().toString();
        new Pages(Files.createDirectories(share.resolve("man/man1")), args[1], date).write(line);
    }

    private void write(CommandLine line) throws IOException {
        CommandSpec spec = line.getCommandSpec();
        String name = spec.qualifiedName("-");
        var page = new StringBuilder();
        page.append(".TH \"%s\" 1 \"%s\" \"Verbena %s\" \"Verbena\"%n".formatted(roff(name.toUpperCase()), date, version));
        page.append(".nh\n.ad l\n.SH NAME\n").append(roff(name)).append(" \\- ").append(roff(first(spec.usageMessage().header()).replaceFirst("\\.$", ""))).append('\n');
        page.append(".SH SYNOPSIS\n.nf\n").append(roff(synopsis(spec))).append("\n.fi\n");
        List<String> description = texts(spec.usageMessage().description());
        if (!description.isEmpty()) {
            page.append(".SH DESCRIPTION\n");
            description.forEach(text -> page.append(".PP\n").append(roff(text)).append('\n'));
        }
        List<PositionalParamSpec> parameters = spec.positionalParameters().stream().filter(each -> !each.hidden()).toList();
        if (!parameters.isEmpty()) {
            page.append(".SH ARGUMENTS\n");
            parameters.forEach(each -> entry(page, each.paramLabel(), description(each)));
        }
        page.append(".SH OPTIONS\n");
        spec.options().stream().filter(each -> !each.hidden()).sorted((a, b) -> Integer.compare(rank(a), rank(b))).forEach(each -> {
            String value = each.arity().max() == 0 ? "" : " " + each.paramLabel();
            entry(page, String.join(", ", each.names()) + value, description(each));
        });
        List<CommandLine> commands = line.getSubcommands().values().stream().distinct()
                .filter(each -> !each.getCommandSpec().usageMessage().hidden()).toList();
        if (!commands.isEmpty()) {
            page.append(".SH COMMANDS\n");
            commands.forEach(each -> entry(page, each.getCommandName(), first(each.getCommandSpec().usageMessage().header())));
        }
        List<String> footer = texts(spec.usageMessage().footer());
        if (!footer.isEmpty()) {
            page.append(".SH NOTES\n.nf\n");
            footer.forEach(text -> page.append(roff(text)).append('\n'));
            page.append(".fi\n");
        }
        page.append(".SH SEE ALSO\n").append(Stream.concat(
                        Stream.ofNullable(line.getParent()), commands.stream())
                .map(each -> ".BR " + roff(each.getCommandSpec().qualifiedName("-")) + " (1)\n")
                .reduce("", String::concat));
        Files.writeString(manual.resolve(name + ".1"), page.toString());
        for (CommandLine each : commands) {
            write(each);
        }
    }

    // Help, version and the like last, as in --help.
    private static int rank(OptionSpec option) {
        return option.order();
    }

    private static void entry(StringBuilder page, String term, String text) {
        page.append(".TP\n\\fB").append(roff(term)).append("\\fR\n").append(roff(text)).append('\n');
    }

    private static String synopsis(CommandSpec spec) {
        var help = new CommandLine.Help(spec, CommandLine.Help.defaultColorScheme(Ansi.OFF));
        return help.synopsis(0).strip();
    }

    private static String description(ArgSpec spec) {
        return String.join(" ", texts(spec.description()));
    }

    private static List<String> texts(String[] lines) {
        return Stream.of(lines).map(Pages::plain).filter(text -> !text.isBlank()).toList();
    }

    private static String first(String[] lines) {
        return texts(lines).stream().findFirst().orElse("");
    }

    private static String plain(String text) {
        String formatted;
        try {
            formatted = String.format(text);
        } catch (IllegalFormatException _) {
            formatted = text; // a plain % in it, which picocli takes as it is, too
        }
        return Ansi.OFF.string(formatted);
    }

    private static String roff(String text) {
        return text.replace("\\", "\\e").replace("-", "\\-").replaceAll("(?m)^([.'])", "\\\\&$1");
    }
}

package verbena.tools.explain;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.sim.card.Card;
import verbena.sim.card.Cards;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Size;
import verbena.tools.kit.ToolCommand;

/// `verbena explain`: what happens in an operation, from a run of it.
@Command(
        name = "explain",
        header = "Show what happens in an operation, packet by packet, from a run of it.",
        description = {
            "",
            "Runs the operation for real between two ends in this process and shows that very run, as a"
                    + " sequence diagram: the calls, each packet with its headers, the checks of the devices,"
                    + " the changes in memory, and the times. Without SCENARIO, lists what can be explained."
        })
public final class ExplainCommand extends ToolCommand {
    private static final int SIZE_MAX = 1 << 20;
    private static final int COLUMNS_DEFAULT = 100;
    private static final double REHEARSAL_SECONDS_MAX = 60;

    /// The names, for the help and for completion.
    static final class Names implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Scenario.names().iterator();
        }
    }

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "SCENARIO",
            completionCandidates = Names.class,
            description = "What to explain: write, read, lost-packet, subnet, card, ...; without it, all are listed.")
    private @Nullable String name;

    @Option(
            names = {"-d", "--device"},
            paramLabel = "DEVICE",
            defaultValue = "rocev2",
            description =
                    "The device of both ends (default ${DEFAULT-VALUE}: loopback), which is opened twice. Packets are shown"
                            + " for rocev2, shm and iwarp.")
    private String device;

    @Option(names = "--peer-device", paramLabel = "DEVICE", description = "B's device, when it is another.")
    private @Nullable String peerDevice;

    @Option(
            names = "--as",
            paramLabel = "CARD",
            defaultValue = "cx5",
            description = "For 'card': a card of 'verbena card list', or one in a line (default ${DEFAULT-VALUE}).")
    private String card;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            converter = Size.class,
            description = "How much to move, 1 to 1048576, where the scenario has a choice.")
    private @Nullable Integer size;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "Write a page that needs no other file: the diagram, and each packet field by field.")
    private @Nullable Path html;

    @Option(
            names = "--plantuml",
            paramLabel = "FILE",
            description = "Write the diagram for PlantUML; - for standard output.")
    private @Nullable String plantUml;

    @Option(
            names = "--mermaid",
            paramLabel = "FILE",
            description = "Write the diagram for Mermaid; - for standard output.")
    private @Nullable String mermaid;

    @Option(
            names = "--rehearse",
            paramLabel = "S",
            defaultValue = "1.5",
            description =
                    "Repeat the operation for so many seconds before, so that times are not those of a cold virtual"
                            + " machine (default ${DEFAULT-VALUE}).")
    private double seconds;

    @Option(names = "--ascii", description = "No characters but ASCII in the terminal.")
    private boolean ascii;

    @Option(names = "--list", description = "List what can be explained.")
    private boolean list;

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter out = out();
        if (name == null || list) {
            list(out);
            return 0;
        }
        Scenario scenario = Scenario.of(name)
                .orElseThrow(() ->
                        wrong("there is no scenario '" + name + "'; there are " + String.join(", ", Scenario.names())));
        if (size != null && (size < 1 || size > SIZE_MAX)) {
            throw wrong("--size: 1 to " + SIZE_MAX + ", got " + size);
        }
        if (size != null && scenario.size() == 0) {
            throw wrong("--size: '" + name + "' has no choice");
        }
        if (!(seconds >= 0 && seconds <= REHEARSAL_SECONDS_MAX)) {
            throw wrong(String.format(
                    Locale.ROOT, "--rehearse: 0 to %.0f seconds, got %s", REHEARSAL_SECONDS_MAX, seconds));
        }
        Recording recording = record(scenario);
        if (html != null) {
            write(html.toString(), HtmlPage.of(recording), out);
        }
        if (plantUml != null) {
            write(plantUml, PlantUml.of(recording), out);
        }
        if (mermaid != null) {
            write(mermaid, Mermaid.of(recording), out);
        }
        if (html == null && plantUml == null && mermaid == null) {
            new TextDiagram(out, spec().commandLine().getColorScheme().ansi(), columns(), ascii || !isUnicode())
                    .print(recording);
        }
        return 0;
    }

    private Recording record(Scenario scenario) throws InterruptedException {
        if (scenario == Scenario.CARD) {
            return CardRecording.of(card(), size == null ? scenario.size() : size);
        }
        if (scenario != Scenario.SUBNET) {
            return new ScenarioRunner(
                            scenario, device, peerDevice == null ? device : peerDevice, size == null ? 0 : size)
                    .run(seconds);
        }
        if (spec().commandLine().getParseResult().hasMatchedOption("--device") || peerDevice != null) {
            throw wrong("--device: '" + scenario.title() + "' has a fabric of its own");
        }
        return SubnetStory.record(seconds);
    }

    private Card card() {
        try {
            return Cards.of(card);
        } catch (IllegalArgumentException e) {
            throw wrong("--as: " + e.getMessage());
        }
    }

    private static void list(PrintWriter out) {
        for (Scenario scenario : Scenario.values()) {
            out.printf(Locale.ROOT, "%-14s %s%n", scenario.title(), scenario.line());
        }
        out.flush();
    }

    private static void write(String file, String text, PrintWriter out) {
        if (file.equals("-")) {
            out.print(text);
            out.flush();
            return;
        }
        try {
            Files.writeString(Path.of(file), text, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw CommandFailed.io("cannot write " + file, e);
        } catch (UncheckedIOException e) {
            throw new CommandFailed("cannot write " + file + ": " + e.getMessage(), e);
        }
        out.println("written: " + file);
        out.flush();
    }

    private static int columns() {
        try {
            String columns = System.getenv("COLUMNS");
            return columns == null ? COLUMNS_DEFAULT : Math.clamp(Integer.parseInt(columns.strip()), 0, 300);
        } catch (NumberFormatException _) {
            return COLUMNS_DEFAULT;
        }
    }

    private static boolean isUnicode() {
        String encoding =
                System.getProperty("stdout.encoding", Charset.defaultCharset().name());
        return encoding.toUpperCase(Locale.ROOT).startsWith("UTF");
    }
}

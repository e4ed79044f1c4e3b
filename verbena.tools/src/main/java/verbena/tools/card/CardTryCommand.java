package verbena.tools.card;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.sim.card.Card;
import verbena.sim.card.CardRun;
import verbena.sim.card.Load;
import verbena.sim.card.Measured;
import verbena.sim.scenario.Outcome;
import verbena.tools.kit.ToolCommand;
import verbena.tools.network.NetworkTryCommand;
import verbena.tools.network.OutcomeReport;

/// `verbena card try`: a workload of the user's on a card of the user's.
@Command(
        name = "try",
        header = "Run requests on a card of your own, and print their rate, their latency and the bottleneck.",
        description = {
            "",
            "CARD is a file, a name of 'verbena card list', or a name and what differs, in quotes.",
            "",
            "LOAD is an operation (write, read, send, atomic), its length, and options: threads=, qps= (queue pairs),"
                    + " window= (outstanding requests of a thread), batch= (requests for a doorbell), signal= (one"
                    + " completion for so many), peers=, memory=, page=, regions=, words= (of atomics), think= (a"
                    + " core's work before each doorbell), inline, unacknowledged, interrupts, on-demand, and"
                    + " outbound, inbound or symmetric.",
            "",
            "For example: verbena card try 'cx5 qp-cache=64' 'read 64 threads=8 qps=512 window=16'",
            "or: verbena card try cx5 'write 64K inbound peers=4' --network 'star 5 100G 150ns'"
        })
public final class CardTryCommand extends ToolCommand {
    @Parameters(index = "0", paramLabel = "CARD", description = "A file, a name, or one line.")
    private String card = "";

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "LOAD",
            defaultValue = "write 64 threads=4 qps=4 inline",
            description = "One line. Default: ${DEFAULT-VALUE}.")
    private String load = "";

    @Option(
            names = "--network",
            paramLabel = "NETWORK",
            description = "A file or a line, as for 'network try': the cards are at its first hosts. Otherwise a wire"
                    + " is between them.")
    private @Nullable String network;

    @Option(
            names = {"-n", "--requests"},
            paramLabel = "N",
            defaultValue = "200000",
            description = "How many requests, 100 to 100,000,000. Default: ${DEFAULT-VALUE}.")
    private long requests;

    @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "The seed. Default: 1.")
    private long seed;

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page with the figures, for a browser.")
    private @Nullable Path html;

    @Option(names = "--json", description = "Print one JSON object, and nothing else.")
    private boolean json;

    @Override
    public Integer call() {
        OutcomeReport.checkPage(this, html);
        range("--requests", requests, 100, 100_000_000);
        Card of = CardWords.card(this, "CARD", card);
        Load what;
        try {
            what = Load.of(load);
        } catch (IllegalArgumentException e) {
            throw wrong("LOAD: " + e.getMessage());
        }
        long began = System.nanoTime();
        var outcome = new Outcome.Builder();
        Measured measured = network == null
                ? CardRun.of(of, what, seed, requests)
                : overNetwork(of, what, NetworkTryCommand.lines(network, this), outcome);
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("card", card);
        facts.put("load", load);
        if (network != null) {
            facts.put("network", network);
        }
        facts.put("seed", Long.toString(seed));
        facts.put("bound", measured.bound());
        new OutcomeReport(this, json, html)
                .tell("Card, " + of.name(), facts, outcome(measured, outcome), (System.nanoTime() - began) / 1e9);
        if (!json) {
            print("  bound: " + measured.bound());
        }
        return 0;
    }

    private Measured overNetwork(Card of, Load what, List<String> lines, Outcome.Builder outcome) {
        CardRun.Networked run;
        try {
            run = CardRun.over(of, what, seed, requests, lines);
        } catch (IllegalArgumentException e) {
            throw wrong("--network: " + e.getMessage());
        }
        outcome.figure("pauses that switches asked for", run.pauses(), "")
                .figure("the most bytes in a switch", run.mostUsed(), "bytes");
        return run.cards();
    }

    private static Outcome outcome(Measured measured, Outcome.Builder outcome) {
        outcome.figure("rate", measured.rate(), "M/s")
                .figure("latency, median", measured.median(), "ns")
                .figure("latency, 99 %", measured.slowest(), "ns")
                .figure("reads over PCIe for a request", measured.pcieReads(), "")
                .figure("packets written over PCIe for a request", measured.pcieWrites(), "")
                .figure("look-ups of queue pairs that missed", measured.contextMisses() * 100, "%")
                .figure("look-ups of pages that missed", measured.tableMisses() * 100, "%");
        measured.busy().forEach((part, share) -> outcome.figure("busy: " + part, share * 100, "%"));
        return outcome.done();
    }
}

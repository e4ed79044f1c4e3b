package verbena.tools.demo;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.tools.demo.DemoRounds.Tally;
import verbena.tools.kit.CommandFailed;
import verbena.tools.report.Spread;

/// The figures of one device: throughput and latency of this run, and those of a plain TCP socket between the same
/// two processes, in turn.
final class DemoFigures {
    private final DemoOutput output;
    private final String device;
    private final DemoLane lane;
    private final DemoPeerProcess peer;
    private final DemoRounds rounds;

    /// @param rounds in which all contenders take turns
    DemoFigures(DemoOutput output, String device, DemoLane lane, DemoPeerProcess peer, DemoRounds rounds) {
        this.output = output;
        this.device = device;
        this.lane = lane;
        this.peer = peer;
        this.rounds = rounds;
    }

    void run() throws IOException, InterruptedException {
        output.table(DemoRounds.title(), "Verbena", "least - most", "TCP socket", "least - most", "ratio");
        try (var tcp = DemoTcp.to(peer)) {
            Tally write = rounds.new Tally(lane::writes);
            Tally stream =
                    rounds.new Tally(_ -> DemoRounds.stream(tcp, write.last().messages()));
            String writesWarm = rounds.inTurn(write, stream);
            throughput("WRITE of 64 KiB, " + DemoLane.WINDOW + " outstanding", write.figure(), stream.figure());

            Tally polled = rounds.new Tally(n -> lane.messages(rounds, n, true));
            Tally awaited = rounds.new Tally(n -> lane.messages(rounds, n, false));
            Tally echo = rounds.new Tally(n -> rounds.echo(tcp, n));
            String messagesWarm = rounds.inTurn(polled, awaited, echo);
            latency("8 bytes one way, polled", polled.figure(), echo.figure());
            latency("    99th percentile", polled.tail(), echo.tail());
            latency("8 bytes one way, awaited", awaited.figure(), echo.figure());
            latency("    99th percentile of awaited", awaited.tail(), echo.tail());
            output.note("Where the ratio is over 1, Verbena is better. WRITEs are awaited, and the TCP socket blocks.");
            output.note("Warm-up of the WRITEs: " + writesWarm + ".");
            output.note("Warm-up of the messages: " + messagesWarm + ".");
            output.note("");
            var verdict = new DemoVerdict(
                    device,
                    Runtime.getRuntime().availableProcessors(),
                    write.figure().median() / stream.figure().median(),
                    write.kernel(),
                    echo.figure().median() / polled.figure().median(),
                    echo.figure().median() / awaited.figure().median(),
                    sleeps(polled, awaited, echo));
            verdict.lines().forEach(output::note);
        } catch (IOException e) {
            throw new CommandFailed("TCP: " + e.getMessage(), e);
        }
    }

    private static DemoVerdict.@Nullable Sleeps sleeps(Tally polled, Tally awaited, Tally echo) {
        Double byPolling = polled.sleeps();
        Double byAwaiting = awaited.sleeps();
        Double byTcp = echo.sleeps();
        return byPolling == null || byAwaiting == null || byTcp == null
                ? null
                : new DemoVerdict.Sleeps(byPolling, byAwaiting, byTcp);
    }

    private void throughput(String name, Spread verbena, Spread tcp) {
        DemoUnit unit = DemoUnit.ofBytesPerSecond(Math.max(verbena.median(), tcp.median()));
        row(name, "bytes_per_second", 1, unit, verbena, tcp, verbena.median() / tcp.median());
    }

    private void latency(String name, Spread verbena, Spread tcp) {
        DemoUnit unit = DemoUnit.ofNanos(Math.min(verbena.median(), tcp.median()));
        row(name, "seconds_1e6", 1e-3, unit, verbena, tcp, tcp.median() / verbena.median());
    }

    private void row(String name, String key, double keyUnit, DemoUnit unit, Spread verbena, Spread tcp, double ratio) {
        var numbers = new LinkedHashMap<String, Double>();
        Map.of("verbena_", verbena, "tcp_", tcp).forEach((who, spread) -> {
            numbers.put(who + key, spread.median() * keyUnit);
            numbers.put(who + key + "_least", spread.least() * keyUnit);
            numbers.put(who + key + "_most", spread.most() * keyUnit);
        });
        numbers.put("ratio", ratio);
        output.row(
                name,
                numbers,
                unit.format(verbena.median()),
                unit.range(verbena),
                unit.format(tcp.median()),
                unit.range(tcp),
                DemoVerdict.digits(ratio) + " x");
    }
}

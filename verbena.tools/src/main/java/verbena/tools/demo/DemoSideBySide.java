package verbena.tools.demo;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import verbena.tools.demo.DemoRounds.Tally;
import verbena.tools.kit.CommandFailed;
import verbena.tools.report.Spread;
import verbena.verbs.Context;
import verbena.verbs.Device;

/// The figures of several devices and of a TCP socket in one table, all between the same two processes and in turn,
/// with what is to be known of each.
final class DemoSideBySide {
    private static final String SOCKET = "TCP socket";

    private final DemoOutput output;
    private final double seconds;
    private final List<String> peerBy;

    /// @param peerBy the words of a command that starts the peer where it is to run; none for this host
    DemoSideBySide(DemoOutput output, double seconds, List<String> peerBy) {
        this.output = output;
        this.seconds = seconds;
        this.peerBy = peerBy;
    }

    /// Two devices that are measured together.
    ///
    /// @param name in the table
    record Pair(String name, String ours, String peers) {}

    /// The figures of one row; the socket has none by polling.
    private record Row(Tally bytes, Tally awaited, List<Tally> polled) {}

    void run(List<Pair> pairs) throws IOException, InterruptedException {
        var opened = new ArrayDeque<Runnable>();
        try (var peer = new DemoPeerProcess(peerBy, pairs.getFirst().peers(), System.nanoTime())) {
            var lanes = new LinkedHashMap<String, DemoLane>();
            long pid = 0;
            for (Pair pair : pairs) {
                boolean isFirst = lanes.isEmpty();
                String[] at = isFirst ? peer.started() : peer.order("also", pair.peers());
                Context context = Device.named(pair.ours()).open();
                opened.push(context::close);
                DemoEnd we = DemoEnd.connect(context, at[0], at[1]);
                opened.push(we::close);
                if (isFirst) {
                    pid = Long.parseLong(at[2]);
                } else {
                    peer.answer("also");
                }
                lanes.put(pair.name(), new DemoLane(we, peer, lanes.size(), peer.memory(lanes.size())));
            }
            measure(peer, new DemoRounds(peer, pid, seconds), lanes);
        } finally {
            opened.forEach(Runnable::run);
        }
    }

    private void measure(DemoPeerProcess peer, DemoRounds rounds, Map<String, DemoLane> lanes)
            throws InterruptedException {
        output.table(
                DemoRounds.title(), "WRITE of 64 KiB", "least - most", "8 bytes awaited", "least - most", "polled");
        try (var tcp = DemoTcp.to(peer)) {
            var rows = new LinkedHashMap<String, Row>();
            lanes.forEach((name, lane) -> rows.put(
                    name,
                    new Row(
                            rounds.new Tally(lane::writes),
                            rounds.new Tally(n -> lane.messages(rounds, n, false)),
                            List.of(rounds.new Tally(n -> lane.messages(rounds, n, true))))));
            var devices = List.copyOf(rows.entrySet());
            Tally first = rows.values().iterator().next().bytes();
            var socket = new Row(
                    rounds.new Tally(_ -> DemoRounds.stream(tcp, first.last().messages())),
                    rounds.new Tally(n -> rounds.echo(tcp, n)),
                    List.of());
            rows.put(SOCKET, socket);
            rounds.inTurn(rows.values().stream().map(Row::bytes).toArray(Tally[]::new));
            var messages = new ArrayList<Tally>();
            rows.values().forEach(row -> messages.addAll(row.polled()));
            rows.values().forEach(row -> messages.add(row.awaited()));
            rounds.inTurn(messages.toArray(Tally[]::new));

            row(SOCKET, socket);
            devices.forEach(each -> row(each.getKey(), each.getValue()));
            output.note("");
            output.note(sentence(SOCKET, "the kernel copies at both ends, and both applications take part."));
            devices.forEach(each -> output.note(sentence(
                    each.getKey(),
                    DemoVerdict.digits(each.getValue().bytes().figure().median()
                                    / socket.bytes().figure().median())
                            + " x the socket: " + about(each.getKey()))));
        } catch (IOException e) {
            throw new CommandFailed("TCP: " + e.getMessage(), e);
        }
    }

    private static String sentence(String name, String text) {
        return String.format("%-12s%s", name, text);
    }

    private static String about(String name) {
        if (name.startsWith("rocev")) {
            return name.contains("link=") || name.startsWith("rocev1")
                    ? "a frame for each 4 KiB, and its checksum by the processor; a card does both."
                    : "a UDP packet for each 4 KiB, and its checksum by the processor; a card does both.";
        }
        if (name.startsWith("iwarp")) {
            return "TCP as well, with frames and a CRC on top.";
        }
        if (name.startsWith("shm")) {
            return "memory that two processes share, which is not a network.";
        }
        return "a device of the system's.";
    }

    private void row(String name, Row row) {
        Spread bytes = row.bytes().figure();
        Spread awaited = row.awaited().figure();
        DemoUnit rate = DemoUnit.ofBytesPerSecond(bytes.median());
        DemoUnit time = DemoUnit.ofNanos(awaited.median());
        var numbers = new LinkedHashMap<String, Double>();
        put(numbers, "bytes_per_second", 1, bytes);
        put(numbers, "seconds_1e6_awaited", 1e-3, awaited);
        row.polled().forEach(polled -> put(numbers, "seconds_1e6_polled", 1e-3, polled.figure()));
        output.row(
                name,
                numbers,
                rate.format(bytes.median()),
                rate.range(bytes),
                time.format(awaited.median()),
                time.range(awaited),
                row.polled().isEmpty()
                        ? "-"
                        : DemoUnit.micros(row.polled().getFirst().figure().median()));
    }

    private static void put(Map<String, Double> numbers, String key, double unit, Spread spread) {
        numbers.put(key, spread.median() * unit);
        numbers.put(key + "_least", spread.least() * unit);
        numbers.put(key + "_most", spread.most() * unit);
    }
}

package verbena.cm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.SidrRep;
import verbena.wire.notation.CmText;

/// Two communication managers in virtual time, told as a sequence diagram; TESTING.md shows the lines. Every
/// message that is sent has to stand in the script, in each end's order, and so has every event that an end's owner
/// is told.
final class CmScript {
    private static final long MICROS = 1_000;
    private static final long MILLIS = 1_000_000;
    private static final long SECONDS = 1_000_000_000;
    private static final long START = 10 * SECONDS;
    /// When nothing has been sent for so long, nothing will be.
    private static final long TIMEOUT = 3_600 * SECONDS;

    /// How many scripts have run in this process.
    private static int count;

    private record Flight(long arrival, long order, End to, CmMessage message) {}

    /// One side.
    private final class End {
        final String name;
        final Gid address;
        CommunicationManager manager;

        @Nullable
        CmConnection connection;

        @Nullable
        SidrInquiry inquiry;

        @Nullable
        SidrRequest sidrRequest;

        int starts;
        final ArrayDeque<CmMessage> sent = new ArrayDeque<>();
        final ArrayDeque<String> told = new ArrayDeque<>();
        /// The last message of each kind that it has sent.
        final Map<String, CmMessage> last = new HashMap<>();

        End(String name, String address) {
            this.name = name;
            this.address = Gid.parse(address);
            manager = start();
        }

        CommunicationManager start() {
            sent.clear();
            connection = null;
            return new CommunicationManager(
                    name.charAt(0), CommunicationManager.NO_SLOT, new Random(name.charAt(0) + starts++), limits);
        }

        End peer() {
            return this == a ? b : a;
        }

        CmRoute route() {
            return new CmRoute(address, peer().address);
        }

        void onEvent(CmConnection of, CmEvent event) {
            if (event instanceof CmEvent.Requested) {
                connection = of;
            }
            told.add(text(event));
        }

        void collect() {
            for (CmDeparture departure = manager.poll(); departure != null; departure = manager.poll()) {
                sent.add(departure.message());
                last.put(CmText.format(departure.message()).split(" ", -1)[0], departure.message());
            }
        }
    }

    private final CmLimits limits;
    private final End a;
    private final End b;
    private final CmCall call;
    private final PriorityQueue<Flight> flights =
            new PriorityQueue<>(Comparator.comparingLong(Flight::arrival).thenComparingLong(Flight::order));
    private final List<String> happened = new ArrayList<>();
    private long now = START;
    private long order;

    private CmScript(CmLimits limits, String addressOfA, String addressOfB) {
        this.limits = limits;
        this.a = new End("a", addressOfA);
        this.b = new End("b", addressOfB);
        this.call = TwoManagers.CALL;
        b.manager.listen(TwoManagers.SERVICE, 2, b::onEvent);
        b.manager.answer(TwoManagers.SERVICE + 1, inquiry -> {
            b.inquiry = inquiry;
            b.told.add("asked");
        });
    }

    /// Runs a script; what does not happen as it says is an assertion error that shows where.
    static void run(String script) {
        count++;
        new CmScript(CmLimits.DEFAULT, "10.0.0.1", "10.0.0.2").play(script);
    }

    /// The same between two processes of a host, with one address.
    static void runWithinHost(String script) {
        count++;
        new CmScript(CmLimits.DEFAULT, "10.0.0.1", "10.0.0.1").play(script);
    }

    static int count() {
        return count;
    }

    private void play(String script) {
        for (String line : script.lines().toList()) {
            int comment = line.indexOf('#');
            String text = (comment < 0 ? line : line.substring(0, comment)).strip();
            if (text.isEmpty()) {
                continue;
            }
            try {
                step(text);
                happened.add("  " + text);
            } catch (AssertionError | IllegalStateException e) {
                throw new AssertionError(
                        script + "\nafter\n" + String.join("\n", happened) + "\n> " + text + "\n! " + e.getMessage(),
                        e);
            }
        }
        collect();
        for (End end : List.of(a, b)) {
            if (!end.sent.isEmpty() || !end.told.isEmpty()) {
                throw new AssertionError(script + "\n! at the end " + end.name + " has also sent "
                        + end.sent.stream().map(CmText::format).toList() + " and was told " + end.told);
            }
        }
    }

    private void step(String line) {
        String[] words = line.split("\\s+", 3);
        if (words[0].equals("nothing")) {
            nothing(nanos(words[2]));
            return;
        }
        End end = end(words[0]);
        if (words[1].startsWith("-")) {
            String[] rest = words[2].split("\\s+", 2);
            if (!rest[0].equals(end.peer().name)) {
                throw new IllegalStateException("from " + end.name + " to " + end.peer().name);
            }
            message(end, words[1], rest[1]);
        } else {
            verb(end, words[1], words.length > 2 ? words[2] : "");
        }
    }

    private End end(String name) {
        return switch (name) {
            case "a" -> a;
            case "b" -> b;
            default -> throw new IllegalStateException("there is no end " + name);
        };
    }

    // ---- messages

    private void message(End from, String arrow, String pattern) {
        if (pattern.startsWith("again ")) {
            arrive(new Flight(now, 0, from.peer(), Objects.requireNonNull(from.last.get(pattern.substring(6)))));
            return;
        }
        CmMessage message = next(from);
        List<String> differences = CmText.differences(pattern, message);
        if (!differences.isEmpty()) {
            throw new AssertionError(CmText.format(message) + "\n! " + String.join("\n! ", differences));
        }
        if (arrow.equals("-x")) {
            return;
        }
        if (arrow.startsWith("->>")) {
            flights.add(new Flight(now + nanos(arrow.substring(3)), order++, from.peer(), message));
            return;
        }
        int times = arrow.equals("-2>") ? 2 : 1;
        for (int i = 0; i < times; i++) {
            arrive(new Flight(now, 0, from.peer(), message));
        }
    }

    /// The next message of this end, when its time comes; those of the other have to be told before.
    private CmMessage next(End from) {
        long end = now + TIMEOUT;
        collect();
        while (from.sent.isEmpty()) {
            if (!from.peer().sent.isEmpty()) {
                throw new AssertionError(from.name + " sends nothing; " + from.peer().name + " sends "
                        + CmText.format(from.peer().sent.getFirst()));
            }
            if (!advance(end)) {
                throw new AssertionError("nothing is sent any more");
            }
        }
        return from.sent.removeFirst();
    }

    private void collect() {
        a.collect();
        b.collect();
    }

    private void arrive(Flight flight) {
        End to = flight.to;
        to.manager.onMessage(flight.message, to.route(), now);
        now += MICROS;
        collect();
    }

    /// To the next arrival or deadline; false when there is none until `end`.
    private boolean advance(long end) {
        long deadline = Math.min(a.manager.deadlineNanos(), b.manager.deadlineNanos());
        Flight flight = flights.peek();
        long next = Math.min(deadline, flight == null ? Long.MAX_VALUE : flight.arrival);
        if (next > end) {
            now = Math.max(now, end);
            return false;
        }
        now = Math.max(now, next);
        if (flight != null && flight.arrival <= deadline) {
            flights.remove();
            arrive(flight);
        } else {
            a.manager.onDeadline(now);
            b.manager.onDeadline(now);
        }
        collect();
        return true;
    }

    private void nothing(long nanos) {
        long end = now + nanos;
        do {
            collect();
            for (End one : List.of(a, b)) {
                if (!one.sent.isEmpty()) {
                    throw new AssertionError(one.name + " sends " + CmText.format(one.sent.getFirst()) + " "
                            + (now - end + nanos) / MILLIS + " ms after");
                }
            }
        } while (advance(end));
    }

    // ---- owners

    private void verb(End end, String verb, String rest) {
        switch (verb) {
            case "told" -> {
                long until = now + TIMEOUT;
                while (end.told.isEmpty() && a.sent.isEmpty() && b.sent.isEmpty() && advance(until)) {
                    // time passes until an end is told, or sends something
                }
                String was = end.told.isEmpty() ? "nothing" : end.told.removeFirst();
                if (!was.equals(rest)) {
                    throw new AssertionError(end.name + " is told " + was);
                }
            }
            case "state" -> {
                String was =
                        end.connection == null ? "NONE" : end.connection.state().name();
                if (!was.equals(rest)) {
                    throw new AssertionError("the state is " + was);
                }
            }
            case "gone" -> {
                if (end.manager.size() != 0) {
                    throw new AssertionError(end.manager.toString());
                }
            }
            case "counts" -> {
                String[] words = rest.split(" ", -1);
                long was = end.manager.counters().get(words[0]);
                if (was != Long.parseLong(words[1])) {
                    throw new AssertionError(words[0] + " is " + was);
                }
            }
            case "connect" ->
                end.connection = Objects.requireNonNull(
                        end.manager.connect(end.route(), call, TwoManagers.END_A, end::onEvent, now));
            case "accept" -> connection(end).accept(TwoManagers.END_B, now);
            case "reject" -> connection(end).reject(reason(rest), PrivateData.of((byte) 9), now);
            case "ready" -> connection(end).ready(PrivateData.NONE, now);
            case "established" -> connection(end).communicationEstablished();
            case "ask-path" -> connection(end).paths().ask(path(rest), now);
            case "answer-path" -> connection(end).paths().answer(Integer.parseInt(rest));
            case "disconnect" -> connection(end).disconnect(PrivateData.NONE, now);
            case "ask" ->
                end.sidrRequest = end.manager.ask(
                        end.route(),
                        TwoManagers.SERVICE + 1,
                        17,
                        3,
                        PrivateData.NONE,
                        new SidrRequest.Listener() {
                            @Override
                            public void onAnswer(SidrRep answer) {
                                end.told.add("answer " + answer.status());
                            }

                            @Override
                            public void onSilence() {
                                end.told.add("silence");
                            }
                        },
                        now);
            case "cancel" -> Objects.requireNonNull(end.sidrRequest).cancel();
            case "answer" ->
                Objects.requireNonNull(end.inquiry).answer(Integer.parseInt(rest), 0x77, 0x88, PrivateData.NONE);
            case "unlisten" -> {
                end.manager.unlisten(TwoManagers.SERVICE);
                end.manager.unanswer(TwoManagers.SERVICE + 1);
            }
            case "restart" -> {
                end.manager = end.start();
                end.manager.listen(TwoManagers.SERVICE, 2, end::onEvent);
            }
            default -> throw new IllegalStateException("no verb " + verb);
        }
        collect();
    }

    private static CmConnection connection(End end) {
        return Objects.requireNonNull(end.connection, "a connection");
    }

    private static RejectReason reason(String text) {
        return text.isEmpty()
                ? RejectReason.CONSUMER_REJECT
                : RejectReason.valueOf(text.toUpperCase(java.util.Locale.ROOT).replace('-', '_'));
    }

    private static String text(CmEvent event) {
        return switch (event) {
            case CmEvent.Requested _ -> "requested";
            case CmEvent.Accepted _ -> "accepted";
            case CmEvent.Established _ -> "established";
            case CmEvent.Rejected(Rej rej) ->
                "rejected "
                        + Objects.requireNonNull(RejectReason.of(rej.reason()))
                                .name()
                                .toLowerCase(java.util.Locale.ROOT)
                                .replace('_', '-');
            case CmEvent.Unreachable _ -> "unreachable";
            case CmEvent.Disconnected end -> end.byPeer() ? "disconnected by peer" : "disconnected";
            case CmEvent.TimewaitExit _ -> "timewait-exit";
            case CmEvent.AlternateAsked(CmPath path) -> "path " + path.localLid() + "-" + path.remoteLid();
            case CmEvent.AlternateAnswered(CmPath path, int status) ->
                "path " + path.localLid() + "-" + path.remoteLid() + " status " + status;
        };
    }

    /// A path by the LIDs of its ends: `5-9`.
    private static CmPath path(String lids) {
        String[] ends = lids.split("-", -1);
        return new CmPath(Integer.parseInt(ends[0]), Integer.parseInt(ends[1]), 0, 1, 0, 2, 0, 3, 0, 0, 0, true, 14);
    }

    private static long nanos(String text) {
        if (text.endsWith("ms")) {
            return Long.parseLong(text.substring(0, text.length() - 2)) * MILLIS;
        }
        if (text.endsWith("s")) {
            return Long.parseLong(text.substring(0, text.length() - 1)) * SECONDS;
        }
        throw new IllegalStateException("no time: " + text);
    }
}

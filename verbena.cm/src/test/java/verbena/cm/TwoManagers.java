package verbena.cm;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import verbena.verbs.Gid;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.RejectReason;

/// Two communication managers in virtual time, and a wire between them that can lose, double and delay.
final class TwoManagers {
    static final long SERVICE = IpCmHeader.serviceId(IpCmHeader.PORT_SPACE_TCP, 7471);
    static final CmCall CALL = new CmCall(SERVICE, 0, 3, 14, 7, 0, 64, 0, 17, 15);
    static final CmEnd END_A =
            new CmEnd(0x1111, 100, 4, 5, 6, false, CmExtension.NONE, PrivateData.of((byte) 1, (byte) 2));
    static final CmEnd END_B = new CmEnd(0x2222, 200, 7, 3, 5, false, CmExtension.NONE, PrivateData.of((byte) 3));
    static final long MILLIS = 1_000_000;

    private static final Gid ADDRESS_A = Gid.parse("10.0.0.1");
    private static final Gid ADDRESS_B = Gid.parse("10.0.0.2");
    static final CmRoute A_TO_B = new CmRoute(ADDRESS_A, ADDRESS_B);
    static final CmRoute B_TO_A = new CmRoute(ADDRESS_B, ADDRESS_A);

    private record Flight(long arrival, boolean toB, CmMessage message) {}

    final CommunicationManager a;
    final CommunicationManager b;
    final Random random;
    /// What was sent, `a REQ`, `b REP` and so on, lost ones with an `x`.
    final List<String> said = new ArrayList<>();
    /// What owners were told, in words.
    final Map<String, List<String>> told = new HashMap<>();
    long now = 1_000;

    /// Which messages get lost.
    Predicate<String> loses = _ -> false;
    double loss;
    double duplicate;
    /// What becomes of a message, when [#loses] does not say: see [AnyWireTest].
    ToIntFunction<String> fate = _ -> 0;
    /// Less than the timewait of [#call], or a late REQ begins anew.
    long delayMax = 1;

    CmCall call = CALL;

    private final List<Flight> flights = new ArrayList<>();

    TwoManagers(long seed) {
        random = new Random(seed);
        a = new CommunicationManager(0xA, CommunicationManager.NO_SLOT, new Random(seed + 1), CmLimits.DEFAULT);
        b = new CommunicationManager(0xB, CommunicationManager.NO_SLOT, new Random(seed + 2), CmLimits.DEFAULT);
    }

    /// Notes what an end is told.
    CmEvent.Listener note(String end) {
        return (_, event) -> told.computeIfAbsent(end, _ -> new ArrayList<>())
                .add(event.getClass().getSimpleName());
    }

    List<String> told(String end) {
        return told.getOrDefault(end, List.of());
    }

    /// B accepts whatever comes, at once.
    void serve() {
        serve(false, new CmConnection[1]);
    }

    /// B accepts or rejects whatever comes, at once.
    void serve(boolean rejects, CmConnection[] made) {
        b.listen(SERVICE, 100, (connection, event) -> {
            note("b").onEvent(connection, event);
            if (event instanceof CmEvent.Requested) {
                made[0] = connection;
                if (rejects) {
                    told.get("b").removeLast();
                    connection.reject(RejectReason.CONSUMER_REJECT, PrivateData.NONE, now);
                } else {
                    connection.accept(END_B, now);
                }
            }
        });
    }

    /// A connects, and is ready at once when it may.
    CmConnection connect() {
        return connect(false);
    }

    CmConnection connect(boolean refuses) {
        CmConnection made = a.connect(
                A_TO_B,
                call,
                END_A,
                (connection, event) -> {
                    note("a").onEvent(connection, event);
                    if (event instanceof CmEvent.Accepted && refuses) {
                        connection.reject(RejectReason.CONSUMER_REJECT, PrivateData.NONE, now);
                    } else if (event instanceof CmEvent.Accepted) {
                        connection.ready(PrivateData.NONE, now);
                    }
                },
                now);
        if (made == null) {
            throw new AssertionError("no room for a connection");
        }
        return made;
    }

    /// Lets that time pass, message by message.
    void run(long nanos) {
        long end = now + nanos;
        while (true) {
            depart(a, true);
            depart(b, false);
            long next = Math.min(a.deadlineNanos(), b.deadlineNanos());
            Flight first = null;
            for (Flight flight : flights) {
                first = first == null || flight.arrival < first.arrival ? flight : first;
            }
            if (first != null && first.arrival <= next) {
                next = first.arrival;
            } else {
                first = null;
            }
            if (next > end) {
                now = end;
                return;
            }
            now = Math.max(now, next);
            if (first != null) {
                flights.remove(first);
                arrive(first);
            } else {
                a.onDeadline(now);
                b.onDeadline(now);
            }
        }
    }

    private void arrive(Flight flight) {
        if (flight.toB) {
            b.onMessage(flight.message, B_TO_A, now);
        } else {
            a.onMessage(flight.message, A_TO_B, now);
        }
    }

    private void depart(CommunicationManager from, boolean toB) {
        for (var departure = from.poll(); departure != null; departure = from.poll()) {
            String name = (toB ? "a " : "b ")
                    + departure.message().getClass().getSimpleName().toUpperCase(java.util.Locale.ROOT);
            int what = fate.applyAsInt(name);
            boolean lost = what == 1 || loses.test(name) || random.nextDouble() < loss;
            said.add(lost ? name + " x" : name + (what > 1 ? " " + what : ""));
            if (!lost) {
                long late = what == 3 ? 300 * MILLIS : what == 4 ? 1_000 * MILLIS : 0;
                flights.add(new Flight(now + 1 + late + random.nextLong(delayMax), toB, departure.message()));
                if (what == 2 || random.nextDouble() < duplicate) {
                    flights.add(new Flight(now + 1 + random.nextLong(delayMax), toB, departure.message()));
                }
            }
        }
    }

    /// Loses the first `n` messages of this name.
    Predicate<String> first(int n, String name) {
        int[] seen = {0};
        return one -> one.equals(name) && seen[0]++ < n;
    }
}

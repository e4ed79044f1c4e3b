package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import verbena.verbs.Gid;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.RejectReason;

/// Many communication managers in virtual time, whose owners do what chance says, on a wire that loses a fifth.
final class ManyManagers {
    private record Flight(long arrival, long order, int to, Gid from, CmMessage message) {}

    private final Random random;
    private final List<CommunicationManager> managers = new ArrayList<>();
    private final List<Gid> addresses = new ArrayList<>();
    private final List<CmConnection> live = new ArrayList<>();
    private final Map<CmConnection, Integer> ends = new HashMap<>();
    private final PriorityQueue<Flight> flights =
            new PriorityQueue<>(Comparator.comparingLong(Flight::arrival).thenComparingLong(Flight::order));
    private double loss = 0.2;
    private long order;
    private long now = 1_000;
    private int qpn = 1;
    long established;

    ManyManagers(int size, long seed) {
        random = new Random(seed);
        for (int i = 0; i < size; i++) {
            var manager = new CommunicationManager(
                    100 + i, CommunicationManager.NO_SLOT, new Random(seed * 1_000 + i), new CmLimits(400, 64, 16));
            manager.listen(TwoManagers.SERVICE, 16, this::onEvent);
            managers.add(manager);
            addresses.add(Gid.parse("10.0.1." + i));
        }
    }

    private void onEvent(CmConnection connection, CmEvent event) {
        switch (event) {
            case CmEvent.Requested _ -> live.add(connection);
            case CmEvent.Established _ -> established++;
            case CmEvent.Rejected _, CmEvent.Unreachable _, CmEvent.Disconnected _ ->
                assertThat(ends.merge(connection, 1, Integer::sum))
                        .as("an end comes once: %s", connection)
                        .isEqualTo(1);
            case CmEvent.Accepted _, CmEvent.AlternateAsked _, CmEvent.AlternateAnswered _, CmEvent.TimewaitExit _ -> {}
        }
    }

    private CmEnd end() {
        qpn = qpn % 0xFF_FFFE + 1;
        return new CmEnd(qpn, random.nextInt(1 << 24), 1, 1, 7, false, CmExtension.NONE, PrivateData.NONE);
    }

    void something() {
        switch (random.nextInt(4)) {
            case 0 -> {
                int from = random.nextInt(managers.size());
                int to = random.nextInt(managers.size());
                CmConnection made = managers.get(from)
                        .connect(
                                new CmRoute(addresses.get(from), addresses.get(to)),
                                TwoManagers.CALL,
                                end(),
                                this::onEvent,
                                now);
                if (made != null) {
                    live.add(made);
                }
            }
            case 1, 2 -> {
                if (!live.isEmpty()) {
                    decide(live.get(random.nextInt(live.size())));
                }
            }
            default -> pass(random.nextInt(200) * TwoManagers.MILLIS);
        }
        live.removeIf(connection -> connection.state() == CmConnection.State.CLOSED);
    }

    private void decide(CmConnection connection) {
        boolean yes = random.nextInt(10) != 0;
        switch (connection.state()) {
            case REQ_RECEIVED -> {
                if (yes) {
                    connection.accept(end(), now);
                } else {
                    connection.reject(RejectReason.CONSUMER_REJECT, PrivateData.NONE, now);
                }
            }
            case REP_RECEIVED -> {
                if (yes) {
                    connection.ready(PrivateData.NONE, now);
                } else {
                    connection.reject(RejectReason.CONSUMER_REJECT, PrivateData.NONE, now);
                }
            }
            case REP_SENT -> {
                if (!yes) {
                    connection.communicationEstablished();
                }
            }
            case ESTABLISHED -> connection.disconnect(PrivateData.NONE, now);
            case REQ_SENT -> {
                if (!yes) {
                    connection.disconnect(PrivateData.NONE, now);
                }
            }
            case DREQ_SENT, TIMEWAIT, CLOSED -> {}
        }
    }

    private void pass(long nanos) {
        long until = now + nanos;
        while (true) {
            depart();
            long next = managers.stream()
                    .mapToLong(CommunicationManager::deadlineNanos)
                    .min()
                    .orElseThrow();
            Flight flight = flights.peek();
            if (flight != null && flight.arrival <= next) {
                next = flight.arrival;
            } else {
                flight = null;
            }
            if (next > until) {
                now = until;
                return;
            }
            now = Math.max(now, next);
            if (flight == null) {
                managers.forEach(manager -> manager.onDeadline(now));
            } else {
                flights.remove();
                managers.get(flight.to)
                        .onMessage(flight.message, new CmRoute(addresses.get(flight.to), flight.from), now);
            }
        }
    }

    private void depart() {
        for (int i = 0; i < managers.size(); i++) {
            for (var out = managers.get(i).poll();
                    out != null;
                    out = managers.get(i).poll()) {
                int to = addresses.indexOf(out.route().remote());
                for (int n = random.nextDouble() < loss ? 0 : random.nextDouble() < loss ? 2 : 1; n > 0; n--) {
                    flights.add(new Flight(
                            now + 1 + random.nextLong(50 * TwoManagers.MILLIS),
                            order++,
                            to,
                            addresses.get(i),
                            out.message()));
                }
            }
        }
    }

    /// The wire is good again, and all owners end what they have.
    void heal() {
        loss = 0;
        for (int i = 0; i < 200 && !live.isEmpty(); i++) {
            for (CmConnection connection : List.copyOf(live)) {
                if (connection.state() == CmConnection.State.REP_SENT) {
                    connection.disconnect(PrivateData.NONE, now);
                } else {
                    decide(connection);
                    connection.disconnect(PrivateData.NONE, now);
                }
            }
            pass(2_000 * TwoManagers.MILLIS);
            live.removeIf(connection -> connection.state() == CmConnection.State.CLOSED);
        }
        pass(100_000 * TwoManagers.MILLIS);
    }

    void assertNothingIsLeft() {
        for (CommunicationManager manager : managers) {
            assertThat(manager.toString())
                    .contains(": 0 connections, 0 of them half open and 0 in timewait; 1 services");
            assertThat(manager.deadlineNanos()).isEqualTo(Long.MAX_VALUE);
        }
    }
}

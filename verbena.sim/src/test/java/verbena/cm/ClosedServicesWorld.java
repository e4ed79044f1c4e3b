package verbena.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;
import verbena.verbs.Gid;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.IpCmHeader;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Req;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;

/// A client that asks for a connection or for the queue pair of a datagram service, and a server that closes its
/// listener at any moment. Another manager at the server's address gets each request for the service once the name
/// is free, and refuses it. Messages are lost, come twice and overtake each other.
final class ClosedServicesWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// The name is free as soon as the listener is closed.
        FREES_AT_ONCE,
        /// It is free when the server has decided.
        FREES_WHEN_DECIDED,
        /// It is never free.
        NEVER_FREES
    }

    private static final long SERVICE = IpCmHeader.serviceId(IpCmHeader.PORT_SPACE_TCP, 7471);
    private static final Gid ADDRESS_A = Gid.parse("10.0.0.1");
    private static final Gid ADDRESS_B = Gid.parse("10.0.0.2");
    private static final CmRoute A_TO_B = new CmRoute(ADDRESS_A, ADDRESS_B);
    private static final CmRoute B_TO_A = new CmRoute(ADDRESS_B, ADDRESS_A);
    private static final int RESPONSE_TIMEOUT = 17;
    private static final int RETRIES = 1;
    private static final CmCall CALL = new CmCall(SERVICE, Req.RC, 3, 14, 7, 0, 64, 0, RESPONSE_TIMEOUT, RETRIES);

    private static final int SLOT_SHIFT = 24;
    private static final int BACKLOG = 2;

    private enum Client {
        BEGINS,
        ASKS,
        ACCEPTED,
        ESTABLISHED,
        ENDED
    }

    private enum Server {
        IDLE,
        ASKED,
        ACCEPTED,
        ESTABLISHED,
        ENDED
    }

    private final boolean isDatagram;
    private final Plant plant;
    private final CommunicationManager a = manager(1);
    private final CommunicationManager b = manager(2);
    /// Another process at the server's address.
    private final CommunicationManager c = manager(3);
    private final ArrayDeque<CmMessage> toServer = new ArrayDeque<>();
    private final ArrayDeque<CmMessage> toClient = new ArrayDeque<>();
    private long now = Fingerprint.BEGINNING;

    private Client client = Client.BEGINS;
    private Server server = Server.IDLE;
    private @Nullable CmConnection ofClient;
    private @Nullable CmConnection ofServer;
    private @Nullable SidrInquiry inquiry;
    private boolean isOpen = true;
    /// Whether the server's manager has the name of the service.
    private boolean isNamed = true;

    /// @param isDatagram whether the client asks for a datagram service, which needs no connection
    ClosedServicesWorld(boolean isDatagram, Plant plant) {
        this.isDatagram = isDatagram;
        this.plant = plant;
        b.listen(SERVICE, BACKLOG, this::onServerEvent);
        b.answer(SERVICE, this::onInquiry);
    }

    private static CommunicationManager manager(int slot) {
        return new CommunicationManager(slot, slot, new SplittableRandom(slot), CmLimits.DEFAULT);
    }

    static Fingerprint fingerprint() {
        return new Fingerprint()
                .without("java.util.SplittableRandom")
                .without("verbena.cm.CmOutbox", "counters", "timerOrder")
                .without("verbena.cm.Timed", "order");
    }

    private static CmEnd end(int qpn) {
        return new CmEnd(qpn, 100, 4, 5, 6, false, CmExtension.NONE, PrivateData.NONE);
    }

    /// Whether the client may repeat a request that the server has.
    private boolean isWaiting() {
        return isDatagram ? server == Server.ASKED : ofServer != null && ofServer.isHalfOpen();
    }

    // ---- programs

    private void ask() {
        client = Client.ASKS;
        if (!isDatagram) {
            ofClient = a.connect(A_TO_B, CALL, end(0x1111), this::onClientEvent, now);
            return;
        }
        a.ask(
                A_TO_B,
                SERVICE,
                RESPONSE_TIMEOUT,
                RETRIES,
                PrivateData.NONE,
                new SidrRequest.Listener() {
                    @Override
                    public void onAnswer(SidrRep answer) {
                        onSilence();
                    }

                    @Override
                    public void onSilence() {
                        assertThat(client).as("the client is told once").isEqualTo(Client.ASKS);
                        client = Client.ENDED;
                    }
                },
                now);
    }

    private void onInquiry(SidrInquiry asked) {
        assertThat(isOpen).as("the listener is open").isTrue();
        assertThat(server).as("the request comes once").isEqualTo(Server.IDLE);
        inquiry = asked;
        server = Server.ASKED;
    }

    private void onClientEvent(CmConnection connection, CmEvent event) {
        switch (event) {
            case CmEvent.Accepted _ -> client = Client.ACCEPTED;
            case CmEvent.Established _ -> client = Client.ESTABLISHED;
            case CmEvent.Rejected(Rej why) -> {
                boolean isByOther = RejectReason.of(why.reason()) == RejectReason.INVALID_SERVICE_ID;
                if (isByOther && (server == Server.ACCEPTED || server == Server.ESTABLISHED)) {
                    throw new AssertionError("the client is refused by another, and the server has accepted");
                }
                client = Client.ENDED;
            }
            case CmEvent.Unreachable _, CmEvent.Disconnected _ -> client = Client.ENDED;
            case CmEvent.TimewaitExit _ -> {}
            case CmEvent.Requested _, CmEvent.AlternateAsked _, CmEvent.AlternateAnswered _ ->
                throw new AssertionError(event);
        }
    }

    private void onServerEvent(CmConnection connection, CmEvent event) {
        switch (event) {
            case CmEvent.Requested _ -> {
                assertThat(isOpen).as("the listener is open").isTrue();
                // One that was refused leaves nothing behind, and may come again.
                assertThat(server).as("the request comes once").isIn(Server.IDLE, Server.ENDED);
                ofServer = connection;
                server = Server.ASKED;
            }
            case CmEvent.Established _ -> server = Server.ESTABLISHED;
            case CmEvent.Rejected _, CmEvent.Unreachable _, CmEvent.Disconnected _ -> server = Server.ENDED;
            case CmEvent.TimewaitExit _ -> {}
            case CmEvent.Accepted _, CmEvent.AlternateAsked _, CmEvent.AlternateAnswered _ ->
                throw new AssertionError(event);
        }
    }

    private void closeListener() {
        isOpen = false;
        b.unlisten(SERVICE);
        b.unanswer(SERVICE);
        if (plant == Plant.FREES_AT_ONCE || (plant == Plant.FREES_WHEN_DECIDED && server != Server.ASKED)) {
            isNamed = false;
        } else {
            b.whenQuiet(SERVICE, ADDRESS_B, () -> {
                assertThat(isNamed).as("the name is freed once").isTrue();
                isNamed = plant == Plant.NEVER_FREES;
            });
        }
    }

    private void decide(boolean isYes) {
        server = isYes && !isDatagram ? Server.ACCEPTED : Server.ENDED;
        if (inquiry != null) {
            inquiry.answer(isYes ? SidrRep.VALID : SidrRep.REJECTED, 0x2222, 0, PrivateData.NONE);
        } else if (isYes) {
            connection(ofServer).accept(end(0x2222), now);
        } else {
            connection(ofServer).reject(RejectReason.CONSUMER_REJECT, PrivateData.NONE, now);
        }
        if (plant == Plant.FREES_WHEN_DECIDED && !isOpen) {
            isNamed = false;
        }
    }

    /// The end of an attempt is not told to the program that gives it up.
    private void giveUp() {
        client = client == Client.ESTABLISHED ? client : Client.ENDED;
        connection(ofClient).disconnect(PrivateData.NONE, now);
    }

    private static CmConnection connection(@Nullable CmConnection one) {
        assertThat(one).isNotNull();
        return one;
    }

    // ---- steps

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        if (client == Client.BEGINS) {
            steps.add(Step.usual(() -> "the client asks", () -> moves(this::ask)));
        }
        if (client == Client.ACCEPTED) {
            steps.add(Step.usual(
                    () -> "the client is ready",
                    () -> moves(() -> connection(ofClient).ready(PrivateData.NONE, now))));
        }
        if (ofClient != null && client != Client.ENDED) {
            steps.add(Step.fault(() -> "the client gives up", () -> moves(this::giveUp)));
        }
        if (server == Server.ASKED) {
            steps.add(Step.usual(() -> "the server accepts", () -> moves(() -> decide(true))));
            steps.add(Step.usual(() -> "the server refuses", () -> moves(() -> decide(false))));
        }
        if (server == Server.ACCEPTED || server == Server.ESTABLISHED) {
            steps.add(Step.fault(
                    () -> "the server ends it",
                    () -> moves(() -> connection(ofServer).disconnect(PrivateData.NONE, now))));
        }
        if (isOpen) {
            steps.add(Step.usual(() -> "the server closes its listener", () -> moves(this::closeListener)));
        }
        addFlights(steps, toServer, this::arriveAtServer, "server");
        addFlights(steps, toClient, message -> a.onMessage(message, A_TO_B, now), "client");
        addTimes(steps);
        return steps;
    }

    private interface Arrival {
        void arrive(CmMessage message);
    }

    private void addFlights(List<Step> steps, ArrayDeque<CmMessage> way, Arrival at, String where) {
        if (way.isEmpty()) {
            return;
        }
        String name = way.getFirst().getClass().getSimpleName();
        steps.add(Step.usual(() -> name + " comes to the " + where, () -> moves(() -> at.arrive(way.removeFirst()))));
        steps.add(Step.fault(() -> name + " is lost", way::removeFirst));
        steps.add(Step.fault(() -> name + " comes twice", () -> way.addLast(way.getFirst())));
        if (way.size() > 1) {
            steps.add(Step.fault(() -> name + " is overtaken", () -> way.addLast(way.removeFirst())));
        }
    }

    private void addTimes(List<Step> steps) {
        long next = Long.MAX_VALUE;
        for (CommunicationManager each : List.of(a, b)) {
            if (each.deadlineNanos() <= now) {
                steps.add(Step.usual(
                        () -> (each == a ? "the client" : "the server") + " looks at its timers",
                        () -> moves(() -> each.onDeadline(now))));
            }
            next = Math.min(next, each.deadlineNanos());
        }
        long then = next;
        if (then != Long.MAX_VALUE && then > now) {
            steps.add(Step.time(() -> (then - now) / 1_000_000 + " ms pass", () -> now = then));
        }
    }

    private void moves(Runnable what) {
        what.run();
        collect(a, toServer);
        collect(b, toClient);
        collect(c, toClient);
    }

    private static void collect(CommunicationManager from, ArrayDeque<CmMessage> way) {
        for (CmDeparture next = from.poll(); next != null; next = from.poll()) {
            way.add(next.message());
        }
    }

    /// As links of a shared address pass messages on: requests by the name of their service, others by their
    /// number.
    private void arriveAtServer(CmMessage message) {
        switch (message) {
            case Req _, SidrReq _ -> {
                (isNamed ? b : c).onMessage(message, B_TO_A, now);
            }
            case SidrRep _ -> throw new AssertionError(message);
            default -> {
                int number = receiver(message);
                if (number == 0) {
                    b.onMessage(message, B_TO_A, now);
                    c.onMessage(message, B_TO_A, now);
                } else {
                    (number >>> SLOT_SHIFT == 2 ? b : c).onMessage(message, B_TO_A, now);
                }
            }
        }
    }

    private static int receiver(CmMessage message) {
        return switch (message) {
            case verbena.wire.cm.Rtu rtu -> rtu.remoteCommId();
            case Rej rej -> rej.remoteCommId();
            case verbena.wire.cm.Mra mra -> mra.remoteCommId();
            case verbena.wire.cm.Dreq dreq -> dreq.remoteCommId();
            case verbena.wire.cm.Drep drep -> drep.remoteCommId();
            default -> throw new AssertionError(message);
        };
    }

    // ---- what has to be

    @Override
    public void check() {
        if (isWaiting()) {
            assertThat(isNamed)
                    .as("the name is kept as long as the client may ask again")
                    .isTrue();
        }
    }

    @Override
    public void checkAtRest() {
        assertThat(isOpen || isNamed).as("the name is kept for ever").isFalse();
        assertThat(client).as("the client waits for ever").isIn(Client.ESTABLISHED, Client.ENDED);
        assertThat(server).as("the server waits for ever").isIn(Server.IDLE, Server.ESTABLISHED, Server.ENDED);
    }

    @Override
    public long now() {
        return now;
    }
}

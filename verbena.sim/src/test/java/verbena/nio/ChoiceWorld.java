package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import verbena.nio.Choice.Failure;
import verbena.nio.Choice.Turn;
import verbena.nio.KnownPeers.Reach;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;

/// One attempt to connect, whose peer answers, refuses or dies, and whose program may give up. The choice is the
/// real one; the exchange by RDMA is a model of IBTA 12.9 (REQ, REP, then RTU or REJ), of which the server repeats
/// the REP until it is answered.
final class ChoiceWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// An answer is confirmed whosever turn it is.
        CONFIRMS_ALWAYS,
        /// No thread waits for the end of the head start.
        NO_TIMER,
        /// The threads that connect go on though the program has given up.
        CANCEL_IS_LOST
    }

    static final long WAIT = Duration.ofMillis(250).toNanos();
    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.ofLiteral("10.1.2.3"), 7_000);

    /// How far RDMA is at the client.
    private enum Client {
        OPENS,
        ASKED,
        CONFIRMED,
        ENDED
    }

    /// How far it is at the server.
    private enum Server {
        IDLE,
        ASKED,
        ACCEPTED,
        HAS_IT,
        REFUSED,
        DEAD
    }

    private final Plant plant;
    private final long limit;
    private final long begun;
    private final Choice choice;
    private long now = -7; // the clock of the JVM may begin below zero
    private Client client = Client.OPENS;
    private Server server = Server.IDLE;
    private String toServer = "";
    private String toClient = "";
    /// What the client answers a repeated REP with.
    private String confirmation = "";
    private int repetitions = 2;
    private boolean isCancelled;
    private boolean hasFailed;
    private String programHas = "";
    private final List<String> serverHas = new ArrayList<>();

    /// @param limit how long the program waits at most
    ChoiceWorld(long limit, Plant plant) {
        this.plant = plant;
        this.limit = limit;
        this.begun = now;
        this.choice = new Choice(new KnownPeers(WAIT), PEER, Reach.HOST, true, limit, now);
    }

    static Fingerprint fingerprint() {
        return new Fingerprint();
    }

    // ---- steps

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        addStepsOfClient(steps);
        if (!toServer.isEmpty()) {
            steps.add(Step.usual(() -> toServer + " arrives", this::arriveAtServer));
        }
        if (!toClient.isEmpty()) {
            steps.add(Step.usual(() -> toClient + " arrives", this::arriveAtClient));
        }
        if (server == Server.ASKED) {
            steps.add(Step.usual(() -> "the server accepts", () -> answer(Server.ACCEPTED, "REP")));
            steps.add(Step.usual(() -> "the server refuses", () -> answer(Server.REFUSED, "REJ")));
        }
        if (server == Server.ACCEPTED && toClient.isEmpty() && toServer.isEmpty()) {
            steps.add(Step.usual(() -> "the server repeats its REP", () -> toClient = "REP"));
        }
        if (!(toServer + toClient).isEmpty()) {
            steps.add(Step.fault(() -> "what is under way is lost", this::lose));
        }
        if (server != Server.DEAD && !serverHas.contains("RDMA")) {
            steps.add(Step.fault(() -> "the server dies", () -> server = Server.DEAD));
        }
        if (choice.turn() == Turn.TCP && !hasFailed) {
            steps.add(Step.usual(() -> "TCP connects", this::tcp));
            steps.add(Step.fault(() -> "TCP fails", () -> {
                choice.onFailed();
                hasFailed = true;
            }));
        }
        if (!isCancelled && programHas.isEmpty() && !hasFailed) {
            steps.add(Step.fault(() -> "the program gives up", this::cancel));
        }
        if (choice.turn() == Turn.RDMA && choice.nanosLeft(now) != Long.MAX_VALUE && plant != Plant.NO_TIMER) {
            steps.add(Step.time(() -> "the time is over", () -> {
                now += choice.nanosLeft(now);
                choice.onTime(now);
            }));
        }
        return steps;
    }

    private void addStepsOfClient(List<Step> steps) {
        if (client == Client.OPENS) {
            steps.add(Step.usual(() -> "the device is open, REQ leaves", this::ask));
            steps.add(Step.fault(() -> "the device cannot be opened", () -> fail(Failure.OWN)));
        }
        if (client == Client.ASKED && isGivenUp()) {
            steps.add(Step.usual(() -> "the stream is closed, a withdrawal leaves", () -> {
                client = Client.ENDED;
                toServer = "REJ";
            }));
        }
        if (client == Client.ASKED && repetitions > 0 && (toServer + toClient).isEmpty()) {
            steps.add(Step.usual(() -> "REQ is repeated", () -> {
                repetitions--; // all of them take longer than any head start
                toServer = "REQ";
            }));
        }
        if (client == Client.CONFIRMED) {
            steps.add(Step.usual(() -> "the connection by RDMA is there", this::made));
        }
    }

    private boolean isGivenUp() {
        return choice.turn() != Turn.RDMA;
    }

    private void ask() {
        if (isGivenUp()) {
            client = Client.ENDED;
            return;
        }
        client = Client.ASKED;
        toServer = "REQ";
        choice.onAsked(now);
    }

    private void fail(Failure how) {
        client = Client.ENDED;
        boolean _ = choice.onRdmaFailed(how, now);
    }

    private void arriveAtServer() {
        String what = toServer;
        toServer = "";
        switch (what) {
            case "REQ" -> {
                server = server == Server.IDLE ? Server.ASKED : server;
                toClient = server == Server.REFUSED ? "REJ" : toClient;
            }
            case "RTU" -> {
                if (server == Server.ACCEPTED) {
                    server = Server.HAS_IT;
                    serverHas.add("RDMA");
                }
            }
            case "DREQ" -> serverHas.remove("RDMA");
            default -> server = server == Server.DEAD ? server : Server.REFUSED; // withdrawn
        }
    }

    private void answer(Server how, String message) {
        server = how;
        toClient = message;
    }

    private void arriveAtClient() {
        String what = toClient;
        toClient = "";
        if (client == Client.ASKED && what.equals("REP")) {
            boolean isConfirmed = choice.onAnswer(now) || plant == Plant.CONFIRMS_ALWAYS;
            confirmation = isConfirmed ? "RTU" : "REJ";
            toServer = confirmation;
            client = isConfirmed ? Client.CONFIRMED : Client.ENDED;
        } else if (client == Client.ASKED) {
            fail(Failure.REFUSED);
        } else if (what.equals("REP")) {
            toServer = confirmation.isEmpty() ? "REJ" : confirmation;
        }
    }

    private void made() {
        client = Client.ENDED;
        if (choice.onRdma()) {
            programHas += "RDMA ";
        } else {
            confirmation = "REJ";
            toServer = serverHas.contains("RDMA") ? "DREQ" : "REJ";
        }
    }

    private void lose() {
        toServer = toServer.equals("DREQ") ? toServer : ""; // that is repeated
        toClient = "";
    }

    private void tcp() {
        if (choice.onTcp(now)) {
            serverHas.add("TCP");
            programHas += "TCP ";
        }
    }

    private void cancel() {
        isCancelled = true;
        if (plant != Plant.CANCEL_IS_LOST) {
            choice.onCancel(now);
        }
    }

    // ---- what has to be

    @Override
    public void check() {
        assertThat(programHas.length()).as("one connection: %s", programHas).isLessThanOrEqualTo(5);
        if (programHas.equals("TCP ")) {
            assertThat(serverHas).as("what the server has").containsExactly("TCP");
        }
        if (programHas.equals("RDMA ") || choice.turn() == Turn.RDMA) {
            assertThat(serverHas).as("what the server has").doesNotContain("TCP");
        }
        if (isCancelled) {
            assertThat(programHas).as("after the program has given up").isEmpty();
        }
        long latest = Math.min(4 * WAIT, limit / 4);
        if (choice.turn() == Turn.RDMA && choice.nanosLeft(now) != Long.MAX_VALUE) {
            assertThat(now + choice.nanosLeft(now) - begun)
                    .as("TCP begins in time")
                    .isLessThanOrEqualTo(latest);
        }
    }

    @Override
    public void checkAtRest() {
        assertThat(choice.turn()).as("the wait ends").isEqualTo(Turn.OVER);
        assertThat(programHas.isEmpty()).as("nothing to wait for").isEqualTo(isCancelled || hasFailed);
        if (programHas.isEmpty() && server != Server.DEAD) {
            assertThat(serverHas).as("a connection that no client has").isEmpty();
        }
    }

    /// The times of the choice are compared as they are: all begin at the same one.
    @Override
    public long now() {
        return Fingerprint.BEGINNING;
    }
}

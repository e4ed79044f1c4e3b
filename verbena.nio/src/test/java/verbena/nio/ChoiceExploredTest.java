package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import verbena.nio.Choice.Failure;
import verbena.nio.Choice.Turn;
import verbena.nio.KnownPeers.Reach;

/// Every order of what may happen to an attempt to connect: answers, refusals, losses, time, the program's cancelling,
/// the end of the server. The choice is the real one; the exchange by RDMA is a model of IBTA 12.9 (REQ, REP, then RTU
/// or REJ), of which the server repeats the REP until it is answered.
class ChoiceExploredTest {
    private static final long WAIT = Duration.ofMillis(250).toNanos();
    private static final InetSocketAddress PEER = new InetSocketAddress(InetAddress.ofLiteral("10.1.2.3"), 7_000);

    /// Steps that nothing may wait for.
    private static final Set<String> OF_OTHERS = Set.of("the server dies", "the program gives up");

    /// What may be wrong on purpose.
    private enum Planted {
        NOTHING,
        /// An answer is confirmed whosever turn it is.
        CONFIRMS_ALWAYS,
        /// No thread waits for the end of the head start.
        NO_TIMER,
        /// The threads that connect go on though the program has given up.
        CANCEL_IS_LOST
    }

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

    private static final class World {
        private final Planted planted;
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
        private int losses;
        private int repetitions = 2;
        private boolean isCancelled;
        private boolean hasFailed;
        private String programHas = "";
        private final List<String> serverHas = new ArrayList<>();

        World(Planted planted, long limit) {
            this.planted = planted;
            this.limit = limit;
            this.begun = now;
            this.choice = new Choice(new KnownPeers(WAIT), PEER, Reach.HOST, true, limit, now);
        }

        /// What may happen next.
        Map<String, Runnable> steps() {
            var steps = new LinkedHashMap<String, Runnable>();
            if (client == Client.OPENS) {
                steps.put("the device is open, REQ leaves", this::ask);
                steps.put("the device cannot be opened", () -> fail(Failure.OWN));
            }
            if (client == Client.ASKED && isGivenUp()) {
                steps.put("the stream is closed, a withdrawal leaves", () -> {
                    client = Client.ENDED;
                    toServer = "REJ";
                });
            }
            if (client == Client.ASKED && repetitions > 0 && (toServer + toClient).isEmpty()) {
                steps.put("REQ is repeated", () -> {
                    repetitions--; // all of them take longer than any head start
                    toServer = "REQ";
                });
            }
            if (client == Client.CONFIRMED) {
                steps.put("the connection by RDMA is there", this::made);
            }
            if (!toServer.isEmpty()) {
                steps.put(toServer + " arrives", this::arriveAtServer);
            }
            if (!toClient.isEmpty()) {
                steps.put(toClient + " arrives", this::arriveAtClient);
            }
            if (server == Server.ASKED) {
                steps.put("the server accepts", () -> answer(Server.ACCEPTED, "REP"));
                steps.put("the server refuses", () -> answer(Server.REFUSED, "REJ"));
            }
            if (server == Server.ACCEPTED && toClient.isEmpty() && toServer.isEmpty()) {
                steps.put("the server repeats its REP", () -> toClient = "REP");
            }
            if (losses > 0 && !(toServer + toClient).isEmpty()) {
                steps.put("what is under way is lost", this::lose);
            }
            if (server != Server.DEAD && !serverHas.contains("RDMA")) {
                steps.put("the server dies", () -> server = Server.DEAD);
            }
            if (choice.turn() == Turn.TCP && !hasFailed) {
                steps.put("TCP connects", this::tcp);
                steps.put("TCP fails", () -> {
                    choice.onFailed();
                    hasFailed = true;
                });
            }
            if (choice.turn() == Turn.RDMA && choice.nanosLeft(now) != Long.MAX_VALUE && planted != Planted.NO_TIMER) {
                steps.put("the time is over", () -> {
                    now += choice.nanosLeft(now);
                    choice.onTime(now);
                });
            }
            if (!isCancelled && programHas.isEmpty() && !hasFailed) {
                steps.put("the program gives up", this::cancel);
            }
            return steps;
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
                boolean isConfirmed = choice.onAnswer(now) || planted == Planted.CONFIRMS_ALWAYS;
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
            losses--;
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
            if (planted != Planted.CANCEL_IS_LOST) {
                choice.onCancel(now);
            }
        }

        void check() {
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

        void checkAtRest() {
            assertThat(choice.turn()).as("the wait ends").isEqualTo(Turn.OVER);
            assertThat(programHas.isEmpty()).as("nothing to wait for").isEqualTo(isCancelled || hasFailed);
            if (programHas.isEmpty() && server != Server.DEAD) {
                assertThat(serverHas).as("a connection that no client has").isEmpty();
            }
        }

        /// What the future depends on.
        String state() throws IllegalAccessException {
            var all = new StringBuilder();
            for (Object of : new Object[] {this, choice}) {
                for (Field field : of.getClass().getDeclaredFields()) {
                    if (!Modifier.isStatic(field.getModifiers())
                            && (field.getType().isPrimitive()
                                    || field.getType().isEnum()
                                    || field.getType() == String.class
                                    || field.getType() == List.class)) {
                        field.setAccessible(true);
                        all.append(field.get(of)).append('|');
                    }
                }
            }
            return all.toString();
        }
    }

    /// Takes every order of the steps; returns how many states there are.
    private static int explore(Supplier<World> worlds) throws IllegalAccessException {
        Set<String> seen = new HashSet<>();
        var ways = new ArrayDeque<List<String>>();
        ways.add(List.of());
        while (!ways.isEmpty()) {
            List<String> way = ways.poll();
            World world = worlds.get();
            try {
                for (String step : way) {
                    world.steps().get(step).run();
                    world.check();
                }
                if (!seen.add(world.state())) {
                    continue;
                }
                Set<String> next = world.steps().keySet();
                if (OF_OTHERS.containsAll(next)) {
                    world.checkAtRest();
                }
                for (String step : next) {
                    var longer = new ArrayList<>(way);
                    longer.add(step);
                    ways.add(longer);
                }
            } catch (AssertionError e) {
                throw new AssertionError(String.join("\n", way) + "\n" + e.getMessage(), e);
            }
        }
        return seen.size();
    }

    private static World world(Planted planted, long limit, int losses) {
        var made = new World(planted, limit);
        made.losses = losses;
        return made;
    }

    @Test
    void inEveryOrderOneConnectionComesAboutAndEveryWaitEndsInTime() throws IllegalAccessException {
        for (long limit : new long[] {Long.MAX_VALUE, 5 * WAIT}) {
            int states = explore(() -> world(Planted.NOTHING, limit, 2));
            assertThat(states).isGreaterThan(500);
        }
    }

    @Test
    void anAnswerThatIsConfirmedTooLateIsFound() {
        assertThatThrownBy(() -> explore(() -> world(Planted.CONFIRMS_ALWAYS, Long.MAX_VALUE, 0)))
                .hasMessageContaining("what the server has");
    }

    @Test
    void aTimerThatNoThreadWaitsForIsFound() {
        assertThatThrownBy(() -> explore(() -> world(Planted.NO_TIMER, Long.MAX_VALUE, 0)))
                .hasMessageContaining("the wait ends");
    }

    @Test
    void aCancelThatIsLostIsFound() {
        assertThatThrownBy(() -> explore(() -> world(Planted.CANCEL_IS_LOST, Long.MAX_VALUE, 0)))
                .hasMessageContaining("given up");
    }
}

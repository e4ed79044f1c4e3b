package verbena.lab;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/// The sign that a server is there.
interface Ready {
    /// Waits until it is.
    ///
    /// @throws AssertionError it ended before, or takes too long
    void await(Attempt attempt, Running server) throws InterruptedException;

    /// A slow host takes its time to start a JVM.
    int SECONDS = 40;

    /// The sign of Verbena's own servers: a line that they print.
    Ready SAYS_SO = (attempt, server) -> {
        if (!server.awaitLine(Pattern.compile("; there: |^receiving data"), SECONDS)) {
            throw new AssertionError("the server does not say that it is there");
        }
    };

    /// The sign of the C servers, which do not print that they listen; the guest's kernel knows it. mckey does not
    /// listen: it is there.
    Ready CM_ID = inGuest("rdma resource show cm_id | grep -q -e 'state LISTEN' -e 'comm mckey'");

    /// A C program over our libraries has opened its device. A request that comes before it listens waits there
    /// a moment (decision 20).
    Ready OUR_DEVICE = here("ss -lunH 'sport = :4791' | grep -q .");

    /// Returns the sign that a TCP server listens in the guest at the attempt's port.
    static Ready guestListens() {
        return (attempt, server) ->
                inGuest("ss -ltn | grep -q ':" + attempt.port() + " '").await(attempt, server);
    }

    /// Returns the sign that a TCP server listens on our side, at the attempt's port.
    static Ready weListen() {
        return (attempt, server) -> weListen(attempt.port()).await(attempt, server);
    }

    static Ready weListen(int port) {
        return here("ss -ltn | grep -q ':" + port + " '");
    }

    /// Returns the sign that a command in the guest ends with 0.
    static Ready inGuest(String condition) {
        return (attempt, server) ->
                await(server, attempt.lab().theirs(SECONDS, "sh", "-c", until(condition)), condition);
    }

    /// Returns the sign that a command on our side ends with 0.
    static Ready here(String condition) {
        return (attempt, server) ->
                await(server, attempt.lab().here("probe", List.of("sh", "-c", until(condition))), condition);
    }

    private static String until(String condition) {
        return "until " + condition + "; do sleep 0.05; done";
    }

    private static void await(Running server, Running probe, String condition) throws InterruptedException {
        try {
            CompletableFuture.anyOf(server.onExit(), probe.onExit()).get(SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("the server is not there after " + SECONDS + " s: " + condition, e);
        } finally {
            if (probe.isAlive()) {
                probe.end();
            }
        }
        if (!server.isAlive()) {
            throw new AssertionError("the server ended before it was there: " + condition);
        }
    }
}

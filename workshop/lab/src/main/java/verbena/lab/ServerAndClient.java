package verbena.lab;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// A server, and a client that is started when the server is there. Both have to end with 0.
///
/// @param expected what the client ends with instead, or null
/// @param stays whether the server serves until it is ended: it is not judged then
record ServerAndClient(
        Command server,
        Ready ready,
        Command client,
        @Nullable Ending expected,
        boolean stays) implements Check.Act {
    /// Above a program's own time: for the lab to end it.
    private static final int GRACE_SECONDS = 15;
    /// The time for a server whose client has failed.
    private static final int REST_SECONDS = 5;

    /// A status, and a pattern that a line of the output has to have.
    record Ending(int status, Pattern words) {}

    ServerAndClient(Command server, Ready ready, Command client) {
        this(server, ready, client, null, false);
    }

    /// Returns the check of a program by itself, which is to end with this status and these words.
    static Check.Act alone(Command command, int status, String words) {
        return attempt -> {
            Running it = attempt.start(command);
            judge(command, it, it.await(command.seconds() + GRACE_SECONDS), new Ending(status, Pattern.compile(words)));
        };
    }

    /// Returns this pair with a server that goes on until the client has ended.
    ServerAndClient whoseServerStays() {
        return new ServerAndClient(server, ready, client, expected, true);
    }

    ServerAndClient whoseClientEnds(int status, String words) {
        return new ServerAndClient(server, ready, client, new Ending(status, Pattern.compile(words)), true);
    }

    @Override
    public void run(Attempt attempt) throws InterruptedException {
        Running serving = attempt.start(server);
        ready.await(attempt, serving);
        Running asking = attempt.start(client);
        int status = asking.await(client.seconds() + GRACE_SECONDS);
        if (expected != null) {
            judge(client, asking, status, expected);
        }
        boolean good = expected != null || isGood(asking, status);
        if (stays) {
            serving.end();
        } else {
            int theirs = serving.await(good ? server.seconds() + GRACE_SECONDS : REST_SECONDS);
            if (!isGood(serving, theirs)) {
                throw new AssertionError("the server ended with " + theirs + ", the client with " + status);
            }
        }
        if (!good) {
            throw new AssertionError("the client ended with " + status);
        }
    }

    private static void judge(Command command, Running it, int status, Ending expected) {
        if (status != expected.status()) {
            throw new AssertionError(command.line() + " ended with " + status + ", not with " + expected.status());
        }
        if (!it.says(expected.words())) {
            throw new AssertionError(command.line() + " does not say \"" + expected.words() + "\"");
        }
    }

    /// Returns whether the status of a process is good. Two C programs now and then end with an error after a good
    /// run:
    /// - rping with 255, when its thread for events meets a channel that is closed already. It does so over our
    ///   libraries as over the kernel's.
    /// - perftest's server over siw with 1, behind its figures. Its last word is a SEND. The client that has
    ///   heard it ends the connection, which can be before siw has told the server of that SEND.
    static boolean isGood(Running it, int status) {
        return status == 0 || it.says(RPING_CLOSED) || it.says(LAST_WORD_UNTOLD);
    }

    private static final Pattern RPING_CLOSED = Pattern.compile("rdma_get_cm_event: Bad file descriptor");
    /// The line of figures, at whose end the program continues: IBV_WC_LOC_QP_OP_ERR of siw.
    private static final Pattern LAST_WORD_UNTOLD =
            Pattern.compile("^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+ .*Bad wc status 2\\s*$");

    /// Returns the check of some pairs that run at the same time.
    static Check.Act together(List<ServerAndClient> pairs) {
        return attempt -> {
            List<Running> servers =
                    pairs.stream().map(pair -> attempt.start(pair.server())).toList();
            for (int i = 0; i < pairs.size(); i++) {
                pairs.get(i).ready().await(attempt, servers.get(i));
            }
            List<Running> clients =
                    pairs.stream().map(pair -> attempt.start(pair.client())).toList();
            for (int i = 0; i < pairs.size(); i++) {
                int client = clients.get(i).await(pairs.get(i).client().seconds() + GRACE_SECONDS);
                int server = servers.get(i).await(client == 0 ? GRACE_SECONDS : REST_SECONDS);
                if (client != 0 || server != 0) {
                    throw new AssertionError(
                            "of pair " + i + " the server ended with " + server + ", the client with " + client);
                }
            }
        };
    }
}

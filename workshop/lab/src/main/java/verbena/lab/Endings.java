package verbena.lab;

import static verbena.lab.Command.ours;
import static verbena.lab.Command.theirs;
import static verbena.lab.Lab.OURS4;
import static verbena.lab.Lab.THEIRS4;

import java.util.regex.Pattern;

/// Ends that die in the middle, and the doctor, who looks in between.
final class Endings {
    private static final Pattern NINTH_PING = Pattern.compile("rdma-ping-9");
    private static final int SECONDS = 60;

    private Endings() {}

    /// Kills a server that has received the request and does not answer.
    static void serverKilledInTheHandshake(Attempt attempt) throws InterruptedException {
        Lab lab = attempt.lab();
        String job = "stopped" + attempt.port();
        job(attempt, job, "rdma_xserver -p 7997");
        signal(lab, job, 19);
        Running us = attempt.start(ours("xclient -s " + THEIRS4 + " -p 7997 --timeout 20"));
        us.awaitLine(Pattern.compile("start"), Ready.SECONDS);
        lab.outcome(lab.theirs(20, "sleep", "1"), 30); // for the request to get there
        signal(lab, job, 9);
        end(us, "refuses");
    }

    /// @param words what we say then
    static Check.Act serverKilledWhileWePing(String server, String client, String words) {
        return attempt -> {
            String job = "server" + attempt.port();
            job(attempt, job, server);
            Running us = attempt.start(ours(client));
            us.awaitLine(NINTH_PING, Ready.SECONDS);
            signal(attempt.lab(), job, 9);
            end(us, words);
        };
    }

    static void clientKilledWhileItPingsUs(Attempt attempt) throws InterruptedException {
        Lab lab = attempt.lab();
        Running us = attempt.start(ours("rping -s -a " + OURS4 + " -p 7995 -v"));
        Ready.SAYS_SO.await(attempt, us);
        String job = "client" + attempt.port();
        must(lab.outcome(lab.lab("lab", "exec", "--name", job, "--", "rping", "-c", "-a", OURS4, "-p", "7995"), 30));
        us.awaitLine(NINTH_PING, Ready.SECONDS);
        signal(lab, job, 9);
        us.await(SECONDS); // 0 or 255: a kernel disconnects for the dead, between two pings or within one
        if (!us.says(Pattern.compile("server DISCONNECT EVENT"))) {
            throw new AssertionError("we are not told of the disconnect");
        }
    }

    /// Checks the report of the doctor about a kernel, whose listener is not disturbed: it serves a client
    /// afterwards.
    static void doctor(Attempt attempt) throws InterruptedException {
        Running server = attempt.start(theirs(60, "rping -s -a " + THEIRS4 + " -p 7996"));
        Ready.CM_ID.await(attempt, server);
        Running doctor = attempt.start(ours("doctor " + THEIRS4 + ":7996"));
        int found = doctor.await(SECONDS);
        if (found != 0 || !doctor.says(Pattern.compile("OK    port 7996: a program listens"))) {
            throw new AssertionError("the doctor ended with " + found);
        }
        int pinged =
                attempt.start(ours("rping -c -a " + THEIRS4 + " -p 7996 -C 3")).await(SECONDS);
        int served = server.await(SECONDS);
        if (pinged != 0 || !ServerAndClient.isGood(server, served)) {
            throw new AssertionError("afterwards the client ended with " + pinged + ", the server with " + served);
        }
    }

    private static void job(Attempt attempt, String name, String line) throws InterruptedException {
        Lab lab = attempt.lab();
        Running started = lab.lab("lab", arguments(name, line));
        must(lab.outcome(started, 30));
        Lab.Outcome listens = lab.outcome(
                lab.theirs(
                        20, "sh", "-c", "until rdma resource show cm_id | grep -q 'state LISTEN'; do sleep 0.05; done"),
                30);
        must(listens);
    }

    private static String[] arguments(String name, String line) {
        return ("exec --name " + name + " -- " + line).split(" ");
    }

    private static void signal(Lab lab, String job, int signal) throws InterruptedException {
        must(lab.outcome(lab.lab("lab", "kill", job, "-s", String.valueOf(signal)), 30));
    }

    private static void must(Lab.Outcome outcome) {
        if (outcome.status() != 0) {
            throw new AssertionError("the lab: " + outcome.text());
        }
    }

    private static void end(Running us, String words) throws InterruptedException {
        int status = us.await(SECONDS);
        if (status != 255 || !us.says(Pattern.compile(words))) {
            throw new AssertionError("we ended with " + status + ", and should end with 255 and say \"" + words + "\"");
        }
    }
}

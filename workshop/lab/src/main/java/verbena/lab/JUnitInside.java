package verbena.lab;

import static verbena.lab.Lab.THEIRS4;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// The check of every operation and every refusal by itself, in both directions, from the tests of verbena.nic.
/// verbsd is the lab's peer that takes orders. It serves one JVM at a time, and each run has one of its own: to give
/// up what it still holds at the end of a run takes rxe a while.
///
/// @param device ours
/// @param tests of Surefire
/// @param isLossy whether packets are lost meanwhile
record JUnitInside(String device, String tests, boolean isLossy) implements Check.Act {
    private static final int SECONDS = 300;

    @Override
    public void run(Attempt attempt) throws InterruptedException {
        Lab lab = attempt.lab();
        int port = attempt.port();
        Running peer = attempt.started(
                lab.theirs(SECONDS + 60, "/usr/bin/python3", "/run/lab/verbsd.py", "--tcp", String.valueOf(port)));
        Ready.guestListens().await(attempt, peer);
        var words = new ArrayList<>(List.of(
                "test",
                "-o",
                "-pl",
                "verbena.nic",
                "-am",
                "-Dtest=" + tests,
                "-Dsurefire.failIfNoSpecifiedTests=false",
                "-Dverbena.lab.peer=" + THEIRS4 + ":" + port,
                "-Dverbena.lab.device=" + device,
                "-Dverbena.lab.program=" + lab.program(),
                "-Dverbena.lab.kernel=" + lab.kernel(),
                "-Dtest.jvm.count=1"));
        if (isLossy) {
            words.add("-Dverbena.lab.loss=true");
        }
        Running run = attempt.started(lab.verbena(words));
        int status = run.await(SECONDS);
        run.lines().reversed().stream().limit(1).forEach(attempt::note);
        if (status != 0 || !run.says(Pattern.compile("^[1-9][0-9]* passed"))) {
            throw new AssertionError("the tests ended with " + status);
        }
    }
}

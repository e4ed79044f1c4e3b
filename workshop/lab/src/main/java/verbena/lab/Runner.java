package verbena.lab;

import java.util.function.BiConsumer;

/// Runs checks in one guest, one after the other.
///
/// A check that fails has failed: it is not tried again. Two things are no failure of Verbena's, and both are
/// reported. A guest that hangs is replaced, and the check begins anew in the next one, once. Services that lose
/// what the network loses have the attempts that their rows say.
final class Runner {
    /// The kinds of reports: a line about a check that ran, an attempt that failed before another, a guest that was
    /// replaced.
    enum Kind {
        NOTE,
        AGAIN,
        HUNG
    }

    private final Lab lab;
    private final BiConsumer<Kind, String> report;
    private Weather weather = Weather.FAIR;
    private int port = 18601;

    Runner(Lab lab, BiConsumer<Kind, String> report) {
        this.lab = lab;
        this.report = report;
    }

    /// Runs a check, and returns when all is as it should be.
    ///
    /// @throws AssertionError what is wrong, and what the processes printed
    void run(Check check) throws InterruptedException, Lab.Absent {
        boolean hung = false;
        int number = 1;
        while (true) {
            String wrong = attempt(check);
            if (wrong.isEmpty()) {
                return;
            }
            String trouble = lab.trouble();
            if (!trouble.isEmpty()) {
                report.accept(Kind.HUNG, check.name() + ": the guest hung (" + trouble + ") and was replaced");
                lab.restart();
                weather = Weather.FAIR;
                if (hung) {
                    throw new AssertionError("the guest hung twice; the second time " + trouble + ", and " + wrong);
                }
                hung = true;
            } else if (number == check.attempts()) {
                throw new AssertionError(wrong);
            } else {
                report.accept(
                        Kind.AGAIN,
                        check.name() + ": attempt " + number + " of " + check.attempts() + " failed: " + wrong);
                number++;
            }
        }
    }

    /// Makes an attempt of a check. Returns the failure; empty when there is none.
    private String attempt(Check check) throws InterruptedException {
        try (var attempt = new Attempt(lab, port, text -> report.accept(Kind.NOTE, text))) {
            port += Attempt.PORTS;
            try {
                if (check.weather() != weather) {
                    weather.end(lab);
                    weather = Weather.FAIR;
                    check.weather().begin(lab);
                    weather = check.weather();
                }
                check.act().run(attempt);
                return "";
            } catch (AssertionError e) {
                return e.getMessage() + attempt.told();
            }
        }
    }
}

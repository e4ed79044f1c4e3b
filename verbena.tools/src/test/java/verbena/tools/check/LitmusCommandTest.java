package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.check.litmus.Litmus;
import verbena.check.litmus.Litmuses;
import verbena.tools.Cli;

class LitmusCommandTest {
    @Test
    void allAreListedWithTheirQuestions() {
        Cli cli = Cli.run("check", "litmus");

        assertThat(cli.status()).as(cli.err()).isZero();
        assertThat(cli.outLines()).hasSize(Litmuses.all().size() + 3);
        assertThat(cli.outLines())
                .contains("message-passing    no       no       yes      Can the flag be there without the data?");
    }

    @Test
    void oneIsExplainedAndTried() {
        Cli cli = Cli.run("check", "litmus", "message-passing", "-d", "shm", "--runs", "5");

        assertThat(cli.status()).as(cli.err()).isZero();
        assertThat(cli.out()).contains("""
                            thread A            thread B
                            WRITE q data <- 1   await flag == 1
                            WRITE q flag <- 1   r = load data

                          can r == 0?  The standards allow it; cards of today do not show it.

                          * r == 0  standard     0 x  unordered-writes: WRITEs of one queue pair become visible in any order
                            r == 1  strong       5 x

                          shm (strong), 5 runs: 1 of 1 outcomes that it may show, and no other
                        """).contains("Cure: A SEND after the WRITE");
    }

    @Test
    void theModelAloneIsAskedWithoutRuns() {
        Cli cli = Cli.run("check", "litmus", "torn-word", "-d", "nothing", "--runs", "0");

        assertThat(cli.status()).as(cli.err()).isZero();
        assertThat(cli.out()).contains("r == 0x11").doesNotContain(" x  ", "runs");
    }

    @Test
    void atTheEndOfAllIsTheirSum() {
        Cli cli = Cli.run("check", "litmus", "all", "-d", "shm", "--runs", "1");

        assertThat(cli.status()).as(cli.err()).isZero();
        assertThat(cli.outLines().getLast())
                .matches(
                        "shm \\(strong\\): \\d+ of \\d+ programs and cures ran; \\d+ of \\d+ outcomes that it may show,"
                                + " and 0 that it may not");
    }

    @Test
    void aPageHasAllOfThem(@TempDir Path folder) throws Exception {
        Path page = folder.resolve("litmus.html");
        Cli cli = Cli.run("check", "litmus", "--html", page.toString());

        assertThat(cli.status()).as(cli.err()).isZero();
        String html = Files.readString(page);
        for (Litmus litmus : Litmuses.all()) {
            assertThat(html).contains("<section id=\"" + litmus.name() + "\">", "#" + litmus.name());
        }
        assertThat(html).contains("<code>WRITE q data &lt;- 1</code>").doesNotContain("src=", "http");
    }

    @Test
    void whatIsUnknownIsWrongUsage() {
        assertThat(Cli.run("check").status()).isEqualTo(2);
        Cli cli = Cli.run("check", "litmus", "none");
        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.err()).contains("NAME: name: no litmus is called 'none', of message-passing, ");
        assertThat(Cli.run("check", "litmus", "ring", "--runs", "-1").status()).isEqualTo(2);
    }
}

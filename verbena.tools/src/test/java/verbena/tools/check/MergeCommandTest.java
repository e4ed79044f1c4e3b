package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.Cli;

class MergeCommandTest {
    @TempDir
    private Path folder;

    private String log;

    /// A process with both ends of two connections.
    @BeforeEach
    void write() throws Exception {
        Path file = folder.resolve("p.log");
        Files.writeString(file, """
                V 1 1 100
                P 1 0 a.One;main;One.java;1
                P 1 1 a.Two;main;Two.java;2
                R 1 1 77 4096 4096 4096 memory g1
                Q 1 2 1 g1
                Q 1 3 2 g1
                Q 1 4 11 g1
                Q 1 5 12 g1
                C 2 2 11 g1
                C 2 4 1 g1
                C 2 3 12 g1
                C 2 5 2 g1
                S 3 4 1 WRITE WRITE false false 0 4100 77 64 -
                S 4 5 1 WRITE WRITE false false 1 4100 77 64 -
                """.replace(' ', '\t'));
        log = file.toString();
    }

    @Test
    void aRaceIsToldAndIsTheStatus() {
        Cli cli = Cli.run("check", "merge", log);

        assertThat(cli.status()).as(cli.err()).isEqualTo(1);
        assertThat(cli.out())
                .contains(
                        "V-RACE-WRITE luck: a WRITE writes 64 bytes from byte 4 of memory of process 100",
                        "here: a.Two.main(Two.java:2)",
                        "the other was: a.One.main(One.java:1)",
                        "0 errors, 1 by luck, 0 costs");
    }

    @Test
    void aRuleThatIsOffIsNotTold() {
        assertThat(Cli.run("check", "merge", "-o", "without=V-RACE-WRITE", log).status())
                .isZero();
    }

    @Test
    void mistakesAreNamed() {
        assertThat(Cli.run("check", "merge", "-o", "loud", log).err()).contains("there is no option \"loud\"");
        Cli cli = Cli.run("check", "merge", folder.resolve("none").toString());
        assertThat(cli.status()).isNotZero();
        assertThat(cli.err()).contains("none");
        assertThat(Cli.run("check", "merge").status()).isEqualTo(2);
    }
}

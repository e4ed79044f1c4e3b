package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import verbena.sim.traffic.Profile;
import verbena.tools.Cli;

class SimCommandTest {
    private static String digest(Cli cli) {
        return cli.outLines().stream()
                .filter(line -> line.contains("sha-256"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void theSameSeedShowsTheSameWorld() {
        String[] args = {"sim", "--seed", "7", "--profile", "storm", "--operations", "300"};
        Cli once = Cli.run(args);
        Cli again = Cli.run(args);
        Cli other = Cli.run("sim", "--seed", "8", "--profile", "storm", "--operations", "300");

        assertThat(once.status()).as(once.out()).isZero();
        assertThat(once.out()).contains("seed 7, profile storm: 30 % lost", "virtual time", "nothing wrong");
        assertThat(digest(once)).matches("  sha-256 [0-9a-f]{64}").isEqualTo(digest(again));
        assertThat(digest(other)).isNotEqualTo(digest(once));
    }

    @Test
    void aRowOfSeedsHasALineForEach() {
        Cli cli = Cli.run("sim", "--seed", "20", "--seeds", "3", "--operations", "50");

        assertThat(cli.status()).as(cli.out()).isZero();
        assertThat(cli.outLines()).hasSize(4);
        assertThat(cli.outLines().get(2)).startsWith("seed 22 ");
        assertThat(cli.outLines().get(3)).startsWith("3 worlds in ");
    }

    @Test
    void everyProfileIsListedAndRuns() {
        Cli list = Cli.run("sim", "--profiles");

        assertThat(list.outLines()).hasSameSizeAs(Profile.all());
        for (Profile profile : Profile.all()) {
            assertThat(list.out()).contains(profile.name(), profile.explanation());
            Cli cli = Cli.run("sim", "--profile", profile.name(), "--operations", "50");
            assertThat(cli.status()).as(cli.out()).isZero();
        }
    }

    @Test
    void anUnknownProfileIsWrongUsageAndNamesTheOthers() {
        Cli cli = Cli.run("sim", "--profile", "sunny");

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.error()).contains("'sunny'", "storm");
    }
}

package verbena.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.tools.Background;
import verbena.tools.Cli;

/// Ping-pongs whose ends find each other by address and port.
@Timeout(120)
class PingpongCmTest {
    private record Both(Cli server, Cli client) {}

    private static Both play(String service, String server, String client) throws Exception {
        Background serving = Background.run("pingpong " + service + " --cm --bind 127.0.0.1 -p 0 " + server);
        String[] arguments = ("pingpong " + service + " --cm -p " + serving.port() + " " + client)
                .strip()
                .concat(" 127.0.0.1")
                .split(" ", -1);
        Cli playing = Cli.run(arguments);
        return new Both(serving.result(), playing);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                rc  | ``                          | 1
                rc  | -s 65536 -n 50 -e -c        | 1
                uc  | -n 200 -c                   | 1
                ud  | -n 200 -c                   | 0
                srq | -q 4 -n 200                 | 4
                srq | -q 100 -r 200 -n 300 -s 100 | 100
                """)
    void twoEndsPlay(String service, String options, int queuePairs) throws Exception {
        Both both = play(service, options, options);

        for (Cli end : List.of(both.server, both.client)) {
            assertThat(end.status()).as(both.toString()).isZero();
            assertThat(end.outLines()).hasSize(2 * queuePairs + 2);
            assertThat(end.outLines().getLast()).matches("\\d+ iters in .* usec/iter");
        }
        // What is local here is remote there, packet numbers too.
        for (int i = 0; i < queuePairs; i++) {
            String local = both.client.outLines().get(i).substring("  local address:  ".length());
            assertThat(both.server.outLines().get(queuePairs + i)).isEqualTo("  remote address: " + local);
        }
    }

    @Test
    void fewerQueuePairsAtTheClientAreNotWaitedForWithoutEnd() throws Exception {
        Both both = play("srq", "-q 3 --timeout 2", "-q 2 --timeout 4");

        assertThat(both.server.status()).isEqualTo(1);
        assertThat(both.server.err()).contains("connection 3 of 3 (-q, the same at both ends): nothing heard for 2 s");
        assertThat(both.client.status()).isEqualTo(1);
        assertThat(both.client.error()).contains("RDMA_CM_EVENT_REJECTED");
    }

    @Test
    void nobodyListens() {
        Cli cli = Cli.run("pingpong", "rc", "--cm", "-p", "9", "127.0.0.1");

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error()).contains("RDMA_CM_EVENT_REJECTED, error 8");
    }

    @ParameterizedTest
    @CsvSource({"-m 2048", "-g 0", "-l 3", "-i 1"})
    void whatTheConnectionManagerFindsIsNotForChoosing(String option) {
        Cli cli = Cli.run(("pingpong rc --cm " + option).split(" ", -1));

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.error()).contains(option.substring(0, 2) + ": not with --cm");
    }

    @Test
    void aHostThatIsUnknownIsSaid() {
        Cli cli = Cli.run("pingpong", "rc", "--cm", "no-such-host.invalid");

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error()).contains("unknown host no-such-host.invalid");
    }
}

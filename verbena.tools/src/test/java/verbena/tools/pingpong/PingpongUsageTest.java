package verbena.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.tools.Cli;

class PingpongUsageTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
                -m 1000         | -m: 256, 512, 1024, 2048 or 4096, got 1000
                -m 8192         | -m: 256, 512, 1024, 2048 or 4096, got 8192
                -s 0            | -s: 1 to 2147483647, got 0
                -s -5           | -s: 1 to 2147483647, got -5
                -s many         | got "many"
                -n 0            | -n: 1 to
                -r 0            | -r: 1 to
                -l 16           | -l: 0 to 15, got 16
                -p 65536        | -p: 0 to 65535, got 65536
                -i 0            | -i: 1 to 255, got 0
                -g -1           | -g: 0 to 65535, got -1
                --timeout 0     | --timeout: 1 to
                --bind ::1 host | --bind is for a server, HOST for a client
                a b             | one argument too many: 'b'
                """)
    void wrongUsageIsStatus2(String args, String message) {
        Cli cli = Cli.run(("pingpong rc " + args).split(" ", -1));

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.error()).startsWith("verbena pingpong rc: ").contains(message);
        assertThat(cli.out()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                uc -m 1000      | -m: 256, 512, 1024, 2048 or 4096, got 1000
                uc -o           | unknown option '-o'
                ud -m 1024      | unknown option '-m'
                ud -s 0         | -s: 1 to 2147483607, got 0
                srq -q 0        | -q: 1 to 255, got 0
                srq -q 256      | -q: 1 to 255, got 256
                srq -r 15       | -r: at least one receive for each of the 16 queue pairs (-q), got 15
                srq -m 1000     | -m: 256, 512, 1024, 2048 or 4096, got 1000
                """)
    void everyServiceHasItsOwnOptions(String args, String message) {
        Cli cli = Cli.run(("pingpong " + args).split(" ", -1));

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.error()).startsWith("verbena pingpong ").contains(message);
    }

    @Test
    void aSharedReceiveQueueNeedsNoOnDemandPagingEither() {
        Cli cli = Cli.run("pingpong", "srq", "-o");

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error()).contains("it needs no on demand paging");
    }

    @ParameterizedTest
    @CsvSource({
        "-o, on demand paging",
        "-O, on demand paging",
        "-P, prefetching",
        "-t, time stamps",
        "-j, memory of its" + " own"
    })
    void whatASoftwareDeviceCannotHaveIsRefused(String option, String message) {
        Cli cli = Cli.run("pingpong", "rc", option);

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error()).contains(option, message);
    }

    @Test
    void anUnknownDeviceIsSaid() {
        Cli cli = Cli.run("pingpong", "rc", "-d", "mlx9_0");

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error()).contains("\"mlx9_0\"");
    }

    @Test
    void aServerThatIsNotThereIsSaid() throws IOException {
        int port;
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }

        Cli cli = Cli.run("pingpong", "rc", "-p", Integer.toString(port), "127.0.0.1");

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error())
                .contains("cannot connect to 127.0.0.1 port " + port, "refused", "is the server running there");
    }

    @Test
    void anUnknownHostIsSaid() {
        Cli cli = Cli.run("pingpong", "rc", "no-such-host.invalid");

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error()).contains("unknown host no-such-host.invalid");
    }
}

package verbena.tools.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.tools.Cli;

/// The tools of librdmacm, called wrongly: nothing of the network is touched.
class CmUsageTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                rping                              | 22 | -s to be the server or -c to be the client
                rping -s -c                        | 22 | -s to be the server or -c to be the client
                rping -c                           | 22 | -a: where the server is
                rping -s -S 22                     | 22 | -S: 23 to 65535, got 22
                rping -s -S 65536                  | 22 | -S: 23 to 65535, got 65536
                rping -s -S much                   | 22 | got "much"
                rping -c -a 127.0.0.1 -C -1        | 22 | -C: 0 to 2147483647, got -1
                rping -s -p 65536                  | 22 | -p: 0 to 65535, got 65536
                rping -c -a 127.0.0.1 -p 0         | 22 | -p: 1 to 65535, got 0
                rping -s --timeout 0               | 22 | --timeout: 1 to 86400, got 0
                rping -s now                       | 22 | one argument too many: 'now'
                rping -x                           | 22 | unknown option '-x'
                ucmatose -c 0                      | 1  | -c: 1 to 100000, got 0
                ucmatose -C -1                     | 1  | -C: 0 to
                ucmatose -S -1                     | 1  | -S: 0 to
                ucmatose -t 256                    | 1  | -t: 0 to 255, got 256
                ucmatose -a 32                     | 1  | -a: 0 to 31, got 32
                ucmatose -P udp                    | 1  | -P: tcp or ib, got udp
                ucmatose -f dns                    | 1  | -f: name, ip, ipv6 or gid, got dns
                ucmatose -p 65536                  | 1  | -p: 0 to 65535, got 65536
                udaddy -p 7174                     | 1  | -p: 0x111 for UDP or 0x2 for IPOIB, got 0x1c06
                udaddy -P tcp                      | 1  | -P: udp or ipoib, got tcp
                mckey                              | 1  | -m or -M: which group
                mckey -m 239.1.1.1 -M ff0e::1      | 1  | -m or -M: which group
                mckey -M ff0e::1                   | 1  | unmapped multicast address requires binding
                mckey -m 239.1.1.1 -p 5            | 1  | -p: 0x111 for UDP or 0x2 for IPOIB, got 0x5
                mckey -m 239.1.1.1 --pause -1      | 1  | --pause: 0 to 3600, got -1
                """)
    void wrongUsageEndsAsTheCProgramsDo(String args, int status, String message) {
        Cli cli = Cli.run(args.split(" ", -1));

        assertThat(cli.status()).isEqualTo(status);
        assertThat(cli.error())
                .startsWith("verbena " + args.split(" ", 2)[0] + ": ")
                .contains(message);
        assertThat(cli.out()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                rping -c -a no-such-host.invalid             | -a: no such host or address: no-such-host.invalid
                rping -s -a no-such-host.invalid             | -a: no such host or address: no-such-host.invalid
                rping -c -a 127.0.0.1 -I no-such-host.invalid | -I: no such host or address: no-such-host.invalid
                rping -s --device mlx9_0                     | "mlx9_0"
                ucmatose -s no-such-host.invalid             | -s: no such host or address: no-such-host.invalid
                ucmatose -f ip -s localhost                  | -s: no address: localhost
                ucmatose -f gid -b localhost                 | -b: no address: localhost
                udaddy -b no-such-host.invalid               | -b: no such host or address: no-such-host.invalid
                mckey -m no-such-host.invalid                | -m: no such host or address: no-such-host.invalid
                mckey -m 10.1.1.1                            | -m: 224.0.0.0 to 239.255.255.255 or ff00::/8, got 10.1.1.1
                mckey -M localhost -b 127.0.0.1              | -M: no address: localhost
                mckey -m 239.1.1.1 -l                        | -l: a software device has no way
                """)
    void whatCannotBeIsSaid(String args, String message) {
        Cli cli = Cli.run(args.split(" ", -1));

        assertThat(cli.status()).isEqualTo(255);
        assertThat(cli.error())
                .startsWith("verbena " + args.split(" ", 2)[0] + ": ")
                .contains(message);
    }

    @Test
    void rpingHasACapitalVOfItsOwn() {
        assertThat(Cli.run("rping", "-V").status()).isEqualTo(22);
        assertThat(Cli.run("rping", "--version").status()).isZero();
        assertThat(Cli.run("ucmatose", "-V").out()).startsWith("verbena ");
    }
}

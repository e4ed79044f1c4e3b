package verbena.abi;

import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Programs of perftest, as the distribution has them, over our libraries: two of a kind find each other. Their own
/// ACK timeout is 67 ms, so a peer that has no processor for half a second is dead for them. A card answers
/// meanwhile. So they are given 4.3 s (`-u 20`). Of those by address half are drawn.
class PerftestTest {
    private static Stream<String> drawn() {
        return Programs.draw(
                2,
                "ib_write_bw -s 65536 -n 50",
                "ib_write_lat -n 50",
                "ib_send_bw -n 50", // leaves a completion queue behind
                "ib_send_bw -e -n 50 -c UD -s 1024",
                "ib_read_bw -n 50 -s 4096",
                "ib_atomic_lat -n 50",
                "ib_atomic_bw -n 50",
                "ib_write_bw -n 50 --odp",
                "ib_send_lat -n 50 --odp",
                "ib_read_bw -n 50 --odp",
                "ib_send_bw -c XRC -n 50",
                "ib_send_lat -c XRC -n 50",
                "ib_write_bw -c XRC -n 50",
                "ib_write_lat -c XRC -n 50",
                "ib_read_bw -c XRC -n 50",
                "ib_read_lat -c XRC -n 50",
                "ib_atomic_bw -c XRC -n 50",
                "ib_atomic_lat -c XRC -n 50");
    }

    @ParameterizedTest
    @MethodSource("drawn")
    void byAddress(String command) throws IOException {
        try (var programs = Programs.over("rocev2_lo")) {
            String port = Programs.freePort();
            String program = command + " -F -u 20 -p " + port;
            programs.pairByTcp("perftest", port, program, program + " 127.0.0.1");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ib_send_lat -n 50",
                "ib_write_bw -n 50",
                "ib_read_lat -n 50",
                "ib_send_bw -n 50 -c UD -s 1024",
            })
    void byTheConnectionManager(String command) throws IOException {
        // its own device, and that of its connections, at one address
        try (var programs = Programs.over("rocev2@127.0.0.1")) {
            String program = command + " -F -R -u 20 -p " + Programs.freePort();
            programs.pair("perftest", program, program + " 127.0.0.1");
        }
    }
}

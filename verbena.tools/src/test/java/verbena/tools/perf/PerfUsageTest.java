package verbena.tools.perf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.tools.Cli;

/// Options of `perf` that are refused, and with which words.
class PerfUsageTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
                    write-bw -n 4             | -n: 5 to 100000000, got 4
                    write-bw -n many          | 'many' is not a number
                    write-bw -s 0             | 1 to 2147483647 bytes, got 0
                    write-bw -s 2G            | '2G' is too large
                    write-bw -s 4G            | '4G' is too large
                    write-bw -s 4294967296K   | '4294967296K' is too large
                    write-bw -s K             | got "K"
                    write-bw -s 999999999999  | '999999999999' is too large
                    write-bw --timeout 1G     | '1G' is not a number
                    write-bw -q 0             | -q: 1 to 16384, got 0
                    write-bw -t 0             | -t: 1 to 15000, got 0
                    write-bw -m 1000          | -m: 256, 512, 1024, 2048 or 4096, got 1000
                    write-bw -S 16            | -S: 0 to 15, got 16
                    write-bw -u 32            | -u: 0 to 31, got 32
                    write-bw -I 913           | -I: 0 to 912, got 913
                    write-bw -e               | unknown option '-e'
                    write-lat -e              | unknown option '-e'
                    write-bw -c UD            | -c UD: datagrams are for send-bw and send-lat only
                    read-bw -c UC             | -c UC: has no READs and no atomics
                    write-bw -c XRC           | -c XRC: Verbena has no such connections
                    send-bw -c SRD            | -c SRD: Verbena has no such connections
                    send-bw -c FOO            | -c: RC, UC or UD, got FOO
                    send-bw -c UC -R          | -c UC: not with -R
                    write-bw -T 4             | -T: only with -R
                    write-bw -l 3 -n 10       | -n: a multiple of -l, got 10
                    write-bw -l 4 -n 8 -Q 3   | -Q: divides -l, which is 4, got 3
                    write-bw -D 2 -n 100      | -D: not with -n
                    write-bw -D 2 -a          | -D: not with -a
                    write-bw -D 2 -f 1        | -D: longer than twice -f, which is 1
                    write-bw -f 1             | -f: only with -D
                    read-bw -D 2 -e           | -D: not with -e
                    read-bw -I 8              | unknown option '-I'
                    write-bw -o 3             | unknown option '-o'
                    write-bw -A FETCH_AND_ADD | unknown option '-A'
                    atomic-bw -A ADD          | -A: FETCH_AND_ADD or CMP_AND_SWAP, got ADD
                    atomic-bw -s 16           | unknown option '-s'
                    atomic-lat -a             | unknown option '-a'
                    write-lat -b              | unknown option '-b'
                    write-lat -q 2            | unknown option '-q'
                    write-bw -H               | unknown option '-H'
                    write-bw -r 8             | unknown option '-r'
                    write-bw --output=latency | --output: bandwidth or message_rate, got latency
                    read-lat --output=x       | --output: latency, got x
                    write-bw --loopback HOST  | --loopback: is the server's host too, so without HOST
                    write-bw -p 0 HOST        | -p: 1 to 65535, got 0
                    send-bw --use-srq -q 4 -r 2 | --use-srq: -r has to be at least -q
                    send-bw -b --run_infinitely | --run_infinitely: not with -b
                    write-bw --html /nowhere/x.html | --html: cannot write /nowhere/x.html
                    write-bw --report /nowhere/x.html | --html: cannot write /nowhere/x.html
                    write-bw --warm-up -1     | --warm-up: 0 to 600, got -1
                    write-bw --warm-up x      | --warm-up
                    write-bw --out_json_file /nowhere/x | --out_json_file: cannot write /nowhere/x
                    write-bw one two          | one argument too many: 'two'
                    """)
    void isRefused(String command, String words) {
        Cli cli = Cli.run(("perf " + command).split(" +", -1));

        assertThat(cli.status()).isEqualTo(2);
        assertThat(cli.error()).startsWith("verbena perf ").contains(words);
        assertThat(cli.out()).isEmpty();
    }

    @Test
    void theMeasurementsAreListed() {
        assertThat(Cli.run("perf", "--help").out())
                .contains(
                        "send-bw",
                        "send-lat",
                        "write-bw",
                        "write-lat",
                        "write-imm-bw",
                        "write-imm-lat",
                        "read-bw",
                        "read-lat",
                        "atomic-bw",
                        "atomic-lat",
                        "ib_write_bw",
                        "--loopback");
        assertThat(Cli.run("perf", "write-bw", "--help").out())
                .contains("--iters", "--report_gbits", "--html", "--warm-up")
                .doesNotContain("--report-histogram", "--with-parent", "--report=");
        assertThat(Cli.run("perf").status()).isEqualTo(2);
    }

    @Test
    void aServerThatIsNotThere() {
        Cli cli = Cli.run("perf", "write-bw", "-p", "1", "127.0.0.1");

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error())
                .isEqualTo("verbena perf write-bw: cannot connect to 127.0.0.1 port 1 (TCP): Connection refused;"
                        + " is the server running there, with the same -p?");
    }

    @Test
    void aDeviceThatIsNotThere() {
        Cli cli = Cli.run("perf", "write-bw", "-d", "nodev", "127.0.0.1");

        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.error()).contains("nodev");
    }
}

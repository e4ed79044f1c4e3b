package verbena.subnet.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.subnet.topology.Topology.Link;

/// Topologies as text.
class TopologyTest {
    @Test
    void portsWithoutANumberAreTheFirstFreeOnes() {
        Topology read = TopologyText.parse("""
                # two hosts
                switch s1 3
                hca a
                hca b   # one port
                link a s1:1
                link b s1 1xQDR
                """);
        assertThat(read.nodes()).extracting(Topology.Node::name).containsExactly("s1", "a", "b");
        assertThat(read.nodes()).extracting(Topology.Node::ports).containsExactly(3, 1, 1);
        assertThat(read.links())
                .containsExactly(new Link("a", 1, "s1", 1), new Link("b", 1, "s1", 2, new LinkSpeed(1, 4, 0)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            switch                       | line 1: switch NAME [PORTS] expected
            switch s1 64                 | line 1: ports: 1 to 63, got 64
            switch s1 0                  | line 1: a number from 1 expected, got 0
            hca a 2                      | line 1: hca NAME expected
            hca a;hca b;link a           | line 3: link A[:PORT] B[:PORT] [SPEED] expected
            hca a;hca b;link a b 4xHDR   | line 3: 1x or 4x with SDR, DDR, QDR, FDR or EDR expected, as 4xEDR, got 4xHDR
            hca a;hca b;link a b 4xEDR 1 | line 3: more words than link has
            router r                     | line 1: switch, hca or link expected, got router
            hca a;hca a                  | line 2: a is there twice
            hca a;link a b               | line 2: there is no node b before this line
            hca a;link a a               | line 2: a cable from a to itself
            hca a;hca b;link a:2 b       | line 3: a has ports 1 to 1
            hca a;hca b;hca c;link a b;link a c | line 5: a has no free port
            hca a;hca b;hca c;link a b;link a:1 c | line 5: port 1 of a has a cable already
            hca a/b                      | line 1: a name has letters, digits, '.', '_' and '-', got a/b
            """)
    void aMistakeIsNamedWithItsLine(String text, String message) {
        assertThatThrownBy(() -> TopologyText.parse(text.replace(';', '\n')))
                .isInstanceOf(TopologyException.class)
                .hasMessage(message);
    }

    @Test
    void whatIbnetdiscoverPrintsIsReadToo() {
        Topology read = TopologyText.parse("""
                #
                # Topology file: generated on Mon Jan  6 10:00:00 2025
                #
                vendid=0x2c9
                devid=0xbd36
                switchguid=0x2c90000000001(2c90000000001)
                Switch\t36 "S-0002c90000000001"\t\t# "leaf one" enhanced port 0 lid 3 lmc 0
                [1]\t"H-0002c90000000010"[1](2c90000000011) \t\t# "a HCA-1" lid 4 1xFDR
                [2]\t"H-0002c90000000020"[1](2c90000000021) \t\t# "b HCA-1" lid 5 4xQDR

                caguid=0x2c90000000010
                Ca\t1 "H-0002c90000000010"\t\t# "a HCA-1"
                [1](2c90000000011) \t"S-0002c90000000001"[1]\t\t# lid 4 lmc 0 "leaf one" lid 3 1xFDR

                Ca\t1 "H-0002c90000000020"\t\t# "b HCA-1"
                [1](2c90000000021) \t"S-0002c90000000001"[2]\t\t# lid 5 lmc 0 "leaf one" lid 3 4xQDR
                """);
        assertThat(read.nodes()).extracting(Topology.Node::name).containsExactly("leaf_one", "a_HCA-1", "b_HCA-1");
        assertThat(read.nodes().getFirst().guid()).isEqualTo(0x2_C900_0000_0001L);
        assertThat(read.links())
                .containsExactly(
                        new Link("leaf_one", 1, "a_HCA-1", 1, new LinkSpeed(1, 4, 1)),
                        new Link("leaf_one", 2, "b_HCA-1", 1, new LinkSpeed(2, 4, 0)));
    }

    @Test
    void anyTextIsATopologyOrATopologyException() {
        var random = new Random(5);
        String[] words = {"switch", "hca", "link", "a", "b", "s:1", "a:9", "4", "\n", "\n", "Ca\t1 \"H-", "[1]", "#"};
        for (int round = 0; round < 20_000; round++) {
            var text = new StringBuilder();
            for (int i = random.nextInt(20); i > 0; i--) {
                text.append(words[random.nextInt(words.length)]).append(' ');
            }
            try {
                assertThat(TopologyText.parse(text.toString()).nodes()).hasSizeLessThan(20);
            } catch (TopologyException e) {
                assertThat(e.getMessage()).startsWith("line ");
            }
        }
    }
}

package verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GidTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                10.77.0.11              | 10.77.0.11           | 0000:0000:0000:0000:0000:ffff:0a4d:000b
                fd77:0:0:0:0:0:0:11     | fd77::11             | fd77:0000:0000:0000:0000:0000:0000:0011
                fe80:0:0:0:77:ff:fe00:b | fe80::77:ff:fe00:b   | fe80:0000:0000:0000:0077:00ff:fe00:000b
                0:0:0:0:0:0:0:0         | ::                   | 0000:0000:0000:0000:0000:0000:0000:0000
                2001:db8:0:1:1:1:1:1    | 2001:db8:0:1:1:1:1:1 | 2001:0db8:0000:0001:0001:0001:0001:0001
                2001:0:0:1:0:0:0:1      | 2001:0:0:1::1        | 2001:0000:0000:0001:0000:0000:0000:0001
                """)
    void textIsTheShortestFormAndReadsBack(String literal, String shortest, String groups) {
        Gid gid = Gid.parse(literal);

        assertThat(gid).hasToString(shortest);
        assertThat(gid.groups()).isEqualTo(groups);
        assertThat(Gid.parse(shortest)).isEqualTo(gid);
        assertThat(Gid.parse(groups)).isEqualTo(gid);
    }

    @ParameterizedTest
    @CsvSource({
        "223.255.255.255, false",
        "224.0.0.0, true",
        "239.255.255.255, true",
        "240.0.0.0, false",
        "ff02::1, true",
        "fe80::1, false",
        "::e000:1, false",
    })
    void groupsAreKnownByTheirPrefix(String literal, boolean multicast) {
        assertThat(Gid.parse(literal).isMulticast()).isEqualTo(multicast);
    }
}

package verbena.tools.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.verbs.Gid;

class AddressesTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                10.77.0.11                                  | ::ffff:10.77.0.11
                fd77::11                                    | fd77::11
                fe80:0:0:0:77:ff:fe00:b                     | fe80::77:ff:fe00:b
                0:0:0:0:0:0:0:1                             | ::1
                0:0:0:0:0:0:0:0                             | ::
                2001:db8:0:1:1:1:1:1                        | 2001:db8:0:1:1:1:1:1
                2001:0:0:1:0:0:0:1                          | 2001:0:0:1::1
                2001:db8:0:0:1:0:0:1                        | 2001:db8::1:0:0:1
                1:2:3:4:5:6:0:0                             | 1:2:3:4:5:6::
                """)
    void gidsAreWrittenAsInetNtopDoes(String literal, String expected) {
        assertThat(Addresses.gid(Gid.parse(literal))).isEqualTo(expected);
    }

    @Test
    void plainAddressesAreShort() {
        assertThat(Gid.parse("10.0.0.1").toString()).isEqualTo("10.0.0.1");
        assertThat(Addresses.ip(InetAddress.ofLiteral("10.0.0.1"))).isEqualTo("10.0.0.1");
        assertThat(Addresses.ip(InetAddress.ofLiteral("fd77:0:0:0:0:0:0:1"))).isEqualTo("fd77::1");
    }

    @Test
    void guidsHaveFourGroups() {
        assertThat(Addresses.guid(0x0077_00FF_FE00_000BL)).isEqualTo("0077:00ff:fe00:000b");
    }
}

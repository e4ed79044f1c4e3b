package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Which address gets how many places.
class PlacesTest {
    @ParameterizedTest
    @CsvSource({"1, 1", "2, 1", "3, 2", "4, 3", "8, 6", "16, 12", "1000, 750"})
    void anAddressLeavesALastQuarterToOthers(int all, int share) throws Exception {
        var places = Places.shared(all);

        assertThat(taken(places, "10.0.0.1", all)).isEqualTo(share);
        assertThat(taken(places, "10.0.0.2", all)).isEqualTo(Math.min(share, all - share));
        assertThat(taken(places, "10.0.0.3", all)).isEqualTo(Math.max(0, all - 2 * share));

        places.giveBack(InetAddress.getByName("10.0.0.1"));
        assertThat(taken(places, "10.0.0.3", all)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({
        "2001:db8::1,  2001:db8::2:3,  true",
        "2001:db8::1,  2001:db8:0:1::1, false",
        "127.0.0.1,    127.9.9.9,      true",
        "127.0.0.1,    ::1,            true",
        "10.0.0.1,     10.0.0.2,       false",
        "fe80::1,      fe80::2,        false"
    })
    void someAddressesAreOneWhenItComesToPlaces(String one, String other, boolean areOne) throws Exception {
        var places = new Places(2, 1);

        assertThat(places.take(InetAddress.getByName(one))).isTrue();
        assertThat(places.take(InetAddress.getByName(other))).isEqualTo(!areOne);
    }

    @Test
    void whereNobodyElseIsServedAllPlacesAreForOneAddress() throws Exception {
        assertThat(taken(Places.unshared(8), "127.0.0.1", 100)).isEqualTo(8);
    }

    private static int taken(Places places, String address, int wanted) throws Exception {
        int taken = 0;
        for (int i = 0; i < wanted; i++) {
            taken += places.take(InetAddress.getByName(address)) ? 1 : 0;
        }
        return taken;
    }
}

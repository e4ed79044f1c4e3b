package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/// Link-local addresses mean something together with their interface only: two interfaces have the same, and so
/// have the hosts behind them.
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class LinkLocalTest {
    private static final String NETWORK = """
            ip link set lo up
            for i in v w; do
                ip link add ${i}a type veth peer name ${i}b || exit
                for end in a:1 b:2; do
                    at=$i${end%:*}
                    echo 1 > /proc/sys/net/ipv6/conf/$at/addr_gen_mode
                    ip link set $at up && ip address add fe80::${end#*:}/64 dev $at nodad
                done
            done
            exec "$@"
            """;

    @Test
    void aConnectionGoesThroughTheInterfaceThatItsAddressNames() throws Exception {
        assertThat(NetworkOfItsOwn.run(NETWORK, LinkLocalProcess.class))
                .containsExactly(
                        "va: north, from fe80:0:0:0:0:0:0:1%3, seen as fe80:0:0:0:0:0:0:1%2",
                        "wa: west, from fe80:0:0:0:0:0:0:1%5, seen as fe80:0:0:0:0:0:0:1%4",
                        "va: north, from fe80:0:0:0:0:0:0:1%3, seen as fe80:0:0:0:0:0:0:1%2",
                        "vb: north, from fe80:0:0:0:0:0:0:2%2, seen as fe80:0:0:0:0:0:0:2%2",
                        "wb: west, from fe80:0:0:0:0:0:0:2%4, seen as fe80:0:0:0:0:0:0:2%4");
    }
}

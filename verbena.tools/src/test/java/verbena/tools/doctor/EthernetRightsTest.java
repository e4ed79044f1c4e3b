package verbena.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.tools.doctor.Finding.Level;

/// What the doctor says of devices on Ethernet itself, for each set of rights.
class EthernetRightsTest {
    private static final String HOSTS_OWN = "         0          0 4294967295\n";
    private static final String ALL = "000001ffffffffff";

    @TempDir
    private Path root;

    private Finding look(String rights, String users) throws IOException {
        FakeSurroundings host = new FakeSurroundings(root)
                .file("proc/self/status", "Name:\tjava\nCapPrm:\t" + ALL + "\nCapEff:\t" + rights + "\n")
                .file("proc/self/uid_map", users);
        host.interfaces.add(ethernet("eth1", 1_500));
        host.interfaces.add(ethernet("eth2", 9_000));
        List<Finding> findings = new EthernetRights().look(host);
        assertThat(findings).hasSize(1);
        assertThat(findings.getFirst().level()).isEqualTo(Level.OK);
        return findings.getFirst();
    }

    private static HostInterface ethernet(String name, int mtu) {
        HostInterface like = FakeSurroundings.nic(name, mtu, true, "10.0.1.1");
        return new HostInterface(name, 2, mtu, 0x0200_0000_0001L, true, false, OptionalLong.empty(), like.gids());
    }

    @Test
    void rootMayDoAll() throws IOException {
        Finding finding = look(ALL, HOSTS_OWN);
        assertThat(finding.seen()).isEqualTo("rocev1 and link=raw have their right; link=xdp has its rights");
        assertThat(finding.details())
                .containsExactly(
                        "rocev1_eth1: path MTU 1024; for 4096: ip link set eth1 mtu 9000",
                        "rocev1_eth2: path MTU 4096");
    }

    @Test
    void theRootOfAUserNamespaceMayNotLoadPrograms() throws IOException {
        assertThat(look(ALL, "0 1000 1\n").seen())
                .startsWith("rocev1 and link=raw have their right; link=xdp lacks its rights in the host's own");
    }

    @Test
    void anOrdinaryUserIsToldWhatIsMissingAndAWayWithoutRoot() throws IOException {
        assertThat(look("0000000000000000", HOSTS_OWN).seen())
                .contains("lack CAP_NET_RAW (run as root, or in a network of one's own: unshare --map-root-user --net)")
                .endsWith("link=xdp lacks CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF");
    }

    @Test
    void theRightToFramesIsNotThatToPrograms() throws IOException {
        assertThat(look("0000000000002000", HOSTS_OWN).seen()) // CAP_NET_RAW
                .endsWith("link=xdp lacks CAP_NET_ADMIN, CAP_BPF");
        assertThat(look("0000000000203000", HOSTS_OWN).seen()) // and CAP_NET_ADMIN, CAP_SYS_ADMIN
                .endsWith("link=xdp has its rights");
    }

    @Test
    void nothingIsSaidWhereNoSuchDeviceCanBe() {
        var host = new FakeSurroundings(root);
        assertThat(new EthernetRights().look(host)).as("no Linux").isEmpty();
        host.whyPortable = Optional.of("no native access");
        assertThat(new EthernetRights().look(host)).isEmpty();
    }
}

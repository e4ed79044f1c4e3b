package verbena.tools.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.nic.roce.RoceV2Provider;
import verbena.tools.Cli;

class DeviceCommandsTest {
    @Test
    void devicesAreListedAsIbvDevicesDoes() {
        Cli cli = Cli.run("devices");

        assertThat(cli.status()).isZero();
        assertThat(cli.outLines().get(0)).startsWith("    device          \t   node GUID");
        assertThat(cli.outLines().get(1)).startsWith("    ------          \t----------------");
        assertThat(cli.outLines()).hasSizeGreaterThan(2);
        assertThat(cli.outLines().subList(2, cli.outLines().size()))
                .allSatisfy(line ->
                        assertThat(line).matches("    \\S+ *\t\\p{XDigit}{16}\t(rocev2|rocev1|iwarp|shm) +\t\\S.*"));
    }

    /// The line below the table is there when there is a policy for all devices, and a wrong one is an error.
    @Test
    void aPolicyOfProtectionIsShown(@TempDir Path folder) throws IOException {
        assertThat(Cli.run("devices").out()).doesNotContain("encrypts");
        Path policy = Files.writeString(folder.resolve("psp"), "secret s\n10.0.0.0/8 required\ndefault off\n");
        assertThat(under(policy.toString()).out())
                .endsWith("    rocev2 encrypts, by VERBENA_PSP or verbena.psp: 10.0.0.0/8 required, others off; "
                        + RoceV2Provider.pspPort() + "\n")
                .containsAnyOf(
                        "; UDP port 1000, with peers that have it too\n",
                        "; UDP port 4791, because port 1000 needs CAP_NET_BIND_SERVICE");
        assertThat(under("off").out()).doesNotContain("encrypts");
        Cli wrong = under("sometimes");
        assertThat(wrong.status()).isEqualTo(1);
        assertThat(wrong.error()).contains("property verbena.psp: on, aes256, offered, off", "\"sometimes\"");
    }

    private static Cli under(String policy) {
        System.setProperty("verbena.psp", policy);
        try {
            return Cli.run("devices");
        } finally {
            System.clearProperty("verbena.psp");
        }
    }

    @Test
    void infoHasTheLinesOfIbvDevinfo() {
        Cli cli = Cli.run("info", "rocev2");

        assertThat(cli.status()).isZero();
        assertThat(cli.out())
                .startsWith("hca_id:\t")
                .contains("\ttransport:\t\t\tInfiniBand (0)\n")
                .containsPattern("\tnode_guid:\t\t\t\\p{XDigit}{4}(:\\p{XDigit}{4}){3}\n")
                .contains("\tphys_port_cnt:\t\t\t1\n")
                .contains("\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n")
                .contains("\t\t\tmax_mtu:\t\t4096 (5)\n")
                .contains("\t\t\tlink_layer:\t\tEthernet\n")
                .doesNotContain("max_qp");
        assertThat(Cli.run("info", "-d", "rocev2", "-i", "1").outLines()).hasSameSizeAs(cli.outLines());
        assertThat(Cli.run("info", "iwarp").out()).contains("\ttransport:\t\t\tiWARP (1)\n");
    }

    @Test
    void verboseInfoHasLimitsAndTheGidTable() {
        Cli cli = Cli.run("info", "-v", "rocev2");

        assertThat(cli.out())
                .containsPattern("\tmax_qp:\t\t\t\t[1-9]\\d*\n")
                .containsPattern("\tatomic_cap:\t\t\tATOMIC_HCA \\(1\\)\n")
                .containsPattern("\t\t\tGID\\[  0\\]:\t\t::ffff:127\\.\\d+\\.\\d+\\.\\d+, RoCE v2")
                .contains("\t\t\tP_Key[  0]:\t\t0xffff\n")
                .contains("\t\t\tphys_state:\t\tLINK_UP (5)\n");
    }

    @Test
    void namesAloneAreListed() {
        List<String> lines = Cli.run("info", "-l").outLines();

        assertThat(lines.getFirst()).matches("\\d+ HCAs? found:");
        assertThat(lines.get(1)).startsWith("\t");
    }

    @Test
    void whatIsNotThereIsSaid() {
        assertThat(Cli.run("info", "mlx9_0").error()).contains("mlx9_0", "rocev2");
        assertThat(Cli.run("info", "mlx9_0").status()).isEqualTo(1);
        assertThat(Cli.run("info", "-i", "2", "rocev2").error()).contains("has port 1 only, not port 2");
        assertThat(Cli.run("info", "rocev2@203.0.113.1").error()).contains("203.0.113.1");
        assertThat(Cli.run("info", "-i", "0").status()).isEqualTo(2);
        assertThat(Cli.run("info", "-d", "a", "b").error()).contains("two devices given: b, a");
    }
}

package verbena.nic.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.InetSocketAddress;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.nic.link.Namespace;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.wire.psp.PspHeader;
import verbena.wire.roce.RoceV2;

/// The UDP port of devices with `psp=on` over sockets, with and without the right to that of PSP.
@Timeout(120)
class ProtectedPortTest {
    private static final String SECRET = "0123456789abcdef0123456789abcdef";

    @TempDir
    Path folder;

    /// Two devices of one process, whose ports are those that are said.
    static final class Pair {
        private Pair() {}

        /// Exchanges data and asserts the ports.
        ///
        /// @param arguments options of the devices, the port of each, and that of packets between them
        public static void main(String[] arguments) throws Exception {
            String options = arguments[0];
            try (Context server = Device.named("rocev2@127.0.0.71" + options).open();
                    Context client = Device.named("rocev2@127.0.0.72" + options).open()) {
                ProtectedDeviceTest.exchange(server, client);
                check(server, arguments[1], arguments[3]);
                check(client, arguments[2], arguments[3]);
            }
        }

        private static void check(Context device, String own, String used) throws Exception {
            assertThat(device.counters()).containsEntry("psp.port.now", Long.parseLong(own));
            assertThat(ProtectedDeviceTest.peers(device))
                    .singleElement()
                    .satisfies(peer -> assertThat(peer.port()).isEqualTo(Integer.parseInt(used)));
        }
    }

    /// A system on which the first ports need a right that this process does not have.
    @ParameterizedTest
    @CsvSource({"1000, 1000", "1001, 4791"})
    void thePortOfPspIsUsedWhereItNeedsNoRight(int firstWithoutRight, String port) throws Exception {
        Namespace namespace = Namespace.with("ip link set lo up && echo " + firstWithoutRight
                + " > /proc/sys/net/ipv4/ip_unprivileged_port_start"
                + " && set -- setpriv --bounding-set -net_bind_service \"$@\"");
        assumeTrue(namespace != null, "no right to a network namespace, or no tool to set it up");
        assertThat(namespace.run(Pair.class, SecretFile.options(folder, SECRET), port, port, port))
                .isEmpty();
    }

    /// Here another program has the port of one device.
    @Test
    void whereOneDeviceLacksItBothUseThePortOfRoce() throws Exception {
        assumeTrue(RoceV2Provider.pspPort().contains("1000, with"), "no right to port 1000");
        try (var other = DatagramChannel.open()) {
            other.bind(new InetSocketAddress("127.0.0.71", PspHeader.UDP_PORT));
            String own = String.valueOf(PspHeader.UDP_PORT);
            String roce = String.valueOf(RoceV2.UDP_PORT);
            Pair.main(new String[] {SecretFile.options(folder, SECRET), roce, own, roce});
        }
    }
}

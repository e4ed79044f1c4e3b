package verbena.nic.link.ethernet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static verbena.nic.link.LinkBench.filled;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;

import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkException;
import verbena.nic.link.Namespace;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.Frame;
import verbena.wire.roce.Ethernet;

/// No wire of Ethernet allocates an object for a packet, in a network namespace of a child process.
@EnabledOnOs(value = OS.LINUX, disabledReason = "packet sockets and AF_XDP are Linux's")
@Timeout(120)
class EthernetAllocationTest {
    private static final String CABLES = "ip link set lo up"
            + " && ip link add veth0 type veth peer name veth1"
            + " && ip link add jumbo0 mtu 9000 type veth peer name jumbo1 mtu 9000"
            + " && for i in veth0 veth1 jumbo0 jumbo1; do ip link set $i addrgenmode none"
            + " && ip address add 10.7.${#i}.${i#${i%?}}/32 dev $i && ip link set $i up; done";
    private static final String FORBIDDEN = "cannot: ";
    private static final int BATCH = 64;
    private static final int ROUNDS = 100;
    private static final int ATTEMPTS_MAX = 200;

    @Test
    void thePacketPathAllocatesNothing() throws Exception {
        Namespace cables = Namespace.with(CABLES);
        assumeTrue(cables != null, "no network namespace of one's own here (unshare, ip)");
        String output = cables.runCompiled(Program.class);
        assumeTrue(!output.contains(FORBIDDEN), output);
        assertThat(output).isEmpty();
    }

    /// The program inside the namespace.
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            allocatesNothing("veth", EthernetWay.PACKET_SOCKET, 256);
            try {
                allocatesNothing("veth", EthernetWay.XDP, 256);
            } catch (LinkException e) {
                if (e.kind() == LinkException.Kind.NOT_PERMITTED) {
                    System.out.println(FORBIDDEN + e.getMessage());
                    System.exit(1);
                }
                throw e;
            }
            allocatesNothing("jumbo", EthernetWay.XDP, 4_000); // frames in pieces
        }

        private static void allocatesNothing(String cable, EthernetWay way, int length) {
            var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
            try (EthernetLink a = open(cable + "0", way);
                    EthernetLink b = open(cable + "1", way)) {
                Frame[] sent = filled(BATCH, gidOf(a), gidOf(b), length);
                Frame[] received = frames(BATCH);
                long least = Long.MAX_VALUE;
                // Until the compiler has done its work; then thousands of packets must allocate
                // nothing.
                for (int attempt = 0; attempt < ATTEMPTS_MAX && least > 0; attempt++) {
                    long before = threads.getCurrentThreadAllocatedBytes();
                    for (int i = 0; i < ROUNDS; i++) {
                        exchange(a, sent, b, received);
                    }
                    least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
                }
                assertThat(least).as(cable + " " + way).isZero();
            }
        }

        private static void exchange(EthernetLink a, Frame[] sent, EthernetLink b, Frame[] received) {
            int left = BATCH;
            while (left > 0) {
                left -= a.transmit(sent, BATCH - left, left);
            }
            for (int arrived = 0; arrived < BATCH; ) {
                arrived += b.receive(received, 0, BATCH);
                if (arrived < BATCH) {
                    b.await(LinkBench.TIMEOUT_NANOS);
                }
            }
            a.wakeup();
            a.await(0);
        }

        private static EthernetLink open(String name, EthernetWay way) {
            HostInterface host = Interfaces.all().stream()
                    .filter(one -> one.name().equals(name))
                    .findFirst()
                    .orElseThrow();
            var local = new Gid(Ethernet.linkLocalPrefix(), Ethernet.interfaceId(host.mac()));
            var entry = new GidEntry(0, local, GidType.ROCE_V1, name, host.index());
            EthernetLink link = EthernetLink.open(host, List.of(entry), Ethernet.NO_TAG, way, false, 0);
            link.claim();
            return link;
        }
    }
}

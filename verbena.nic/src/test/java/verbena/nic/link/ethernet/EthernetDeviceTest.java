package verbena.nic.link.ethernet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.nic.SoftContext;
import verbena.nic.link.Namespace;
import verbena.nic.roce.RoceV1Provider;
import verbena.nic.roce.RoceV2Provider;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.Mtu;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WorkCompletion;

/// Devices on Ethernet itself, in a network namespace of a child process: a cable, both of whose ends are here.
@EnabledOnOs(value = OS.LINUX, disabledReason = "packet sockets are Linux's")
@Timeout(120)
class EthernetDeviceTest {
    private static final String CABLE =
            "ip link set lo up && ip link add veth0 address 02:00:00:00:00:0a type veth peer"
                    + " name veth1 && ip link set veth0 addrgenmode none && ip link set veth1 addrgenmode none"
                    + " && ip address add 10.7.0.1/24 dev veth0 && ip address add 10.8.0.1/24 dev veth1 && ip link set veth0 up && ip link set veth1 up"
                    + " && echo 5 > /proc/sys/net/ipv4/neigh/veth0/retrans_time_ms";

    @Test
    void devicesAreWhatTheirInterfaceIs() throws Exception {
        Namespace cable = Namespace.with(CABLE);
        assumeTrue(cable != null, "no network namespace of one's own here (unshare, ip)");
        assertThat(cable.run(Program.class)).isEmpty();
    }

    /// The program inside the namespace.
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) throws Exception {
            anInterfaceHasTheGidOfItsOwnBesideThoseOfIp();
            refusalsSayWhatToDo();
            manyDevicesAreOpenAtOneInterfaceAndOneHasQueuePairs();
            bytesGoOverTheCable();
            aPeerThatIsNotThereIsAskedForAndGivenUp();
        }

        private static Device v1(String name) {
            return new RoceV1Provider().device(name).orElseThrow();
        }

        private static Device v2(String name) {
            return new RoceV2Provider().device(name).orElseThrow();
        }

        private static void anInterfaceHasTheGidOfItsOwnBesideThoseOfIp() {
            assertThat(new RoceV1Provider().devices().stream().map(Device::name))
                    .containsExactlyInAnyOrder("rocev1_veth0", "rocev1_veth1");
            List<GidEntry> gids = v1("rocev1_veth0").gids();
            assertThat(gids.stream().map(GidEntry::gid))
                    .containsExactly(Gid.parse("fe80::ff:fe00:a"), Gid.parse("10.7.0.1"));
            assertThat(gids).allMatch(entry -> entry.type() == GidType.ROCE_V1);
            assertThat(v2("rocev2_veth0,link=raw").gids()).allMatch(entry -> entry.type() == GidType.ROCE_V2);
        }

        private static void refusalsSayWhatToDo() {
            assertThatThrownBy(() -> v1("rocev1").open())
                    .isInstanceOf(DeviceException.class)
                    .hasMessageContaining("lo is no Ethernet interface");
            assertThatThrownBy(() -> v1("rocev1_veth0,mtu=4096").open())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("4096 needs 4176 (ip link set veth0 mtu 9000)");
            assertThatThrownBy(() -> v1("rocev1_veth0,engines=2")).hasMessageContaining("link=raw has one engine");
            assertThatThrownBy(() -> v1("rocev1_veth0,vlan=4095")).hasMessageContaining("0 to 4094, got 4095");
            assertThatThrownBy(() -> v2("rocev2_veth0,vlan=3")).hasMessageContaining("needs link=raw");
            assertThatThrownBy(() -> v2("rocev2_veth0,link=raw,engines=2")).hasMessageContaining("one engine");
        }

        /// A program that opens all devices takes none of them from others.
        private static void manyDevicesAreOpenAtOneInterfaceAndOneHasQueuePairs() {
            try (Context user = v1("rocev1_veth0").open();
                    Context watcher = v1("rocev1_veth0").open()) {
                assertThat(watcher.gids(1)).isEqualTo(user.gids(1));
                withQueuePair(user, () -> {
                    assertThatThrownBy(() -> withQueuePair(watcher, () -> {}))
                            .isInstanceOf(DeviceException.class)
                            .hasMessageContaining("createQueuePair: RoCE v1 on veth0 is in use");
                    assertThatThrownBy(() -> ((SoftContext) watcher).manage(0x55, (_, _, _, _) -> {}))
                            .isInstanceOf(DeviceException.class)
                            .hasMessageContaining("queue pair 1: RoCE v1 on veth0 is in use");
                });
            }
            try (Context raw = v2("rocev2_veth0,link=raw").open();
                    Context _ = v2("rocev2_veth0").open()) {
                assertThatThrownBy(() -> withQueuePair(raw, () -> {}))
                        .isInstanceOf(DeviceException.class)
                        .hasMessageContaining("UDP port 4791 at 10.7.0.1 is in use");
            }
            try (Context next = v1("rocev1_veth0").open()) {
                withQueuePair(next, () -> {});
            }
        }

        private static void withQueuePair(Context context, Runnable meanwhile) {
            try (var domain = context.allocateProtectionDomain();
                    var cq = context.createCompletionQueue(16);
                    var _ = domain.createQueuePair(QueuePairOptions.rc(cq))) {
                meanwhile.run();
            }
        }

        private static void bytesGoOverTheCable() throws Exception {
            for (String options : List.of("", ",vlan=100", ",faults=loss:3%,seed:7")) {
                try (var a = v1("rocev1_veth0" + options).open();
                        var b = v1("rocev1_veth1" + options).open();
                        var domainA = a.allocateProtectionDomain();
                        var domainB = b.allocateProtectionDomain();
                        var cqA = a.createCompletionQueue(16);
                        var cqB = b.createCompletionQueue(16);
                        var one = domainA.createQueuePair(QueuePairOptions.rc(cqA));
                        var other = domainB.createQueuePair(QueuePairOptions.rc(cqB));
                        var from = domainA.allocate(100_000, Access.remoteAll());
                        var to = domainB.allocate(100_000, Access.remoteAll())) {
                    assertThat(a.port(1).activeMtu()).isEqualTo(Mtu.MTU_1024);
                    one.connect(other.endpoint());
                    other.connect(one.endpoint());
                    for (int i = 0; i < 100_000; i++) {
                        from.segment().set(java.lang.foreign.ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
                    }
                    one.postWrite(1, from.slice(0, 100_000), to.remote());
                    var wc = new WorkCompletion();
                    assertThat(cqA.await(wc, Duration.ofSeconds(30))).isTrue();
                    assertThat(wc.ok()).as(wc.toString()).isTrue();
                    assertThat(to.segment().mismatch(from.segment())).isEqualTo(-1);
                    assertThat(a.counters()).containsEntry("ethernet.dropped.foreign", 0L);
                }
            }
        }

        private static void aPeerThatIsNotThereIsAskedForAndGivenUp() throws Exception {
            for (Device device : List.of(v1("rocev1_veth0"), v2("rocev2_veth0,link=raw"))) {
                try (var context = device.open();
                        var domain = context.allocateProtectionDomain();
                        var cq = context.createCompletionQueue(16);
                        var qp = domain.createQueuePair(QueuePairOptions.rc(cq));
                        var memory = domain.allocate(100, Access.remoteAll())) {
                    qp.connect(new Endpoint(
                            Gid.parse("10.7.0.77"), device.gids().getFirst().type(), 0x1234, 1, Mtu.MTU_1024));
                    qp.postWrite(1, memory.slice(0, 100), new RemoteMemory(0, 0, 100));
                    var wc = new WorkCompletion();
                    assertThat(cq.await(wc, Duration.ofSeconds(30))).isTrue();
                    assertThat(wc.status().name()).isEqualTo("RETRY_EXC_ERR");
                    assertThat(context.counters().get("ethernet.dropped.unresolved"))
                            .isPositive();
                }
            }
            assertThat(Files.readString(Path.of("/proc/net/arp"))).contains("10.7.0.77");
        }
    }
}

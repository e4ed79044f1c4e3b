package verbena.nic.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.management.JMX;
import javax.management.ObjectName;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.link.Namespace;
import verbena.nic.link.psp.TestAuthority;
import verbena.nic.management.DeviceMXBean;
import verbena.nic.management.PeerStatus;
import verbena.verbs.Access;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.VerbsException;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.counting.LateBeans;

/// Devices with `psp=on` over sockets.
@Timeout(180)
class ProtectedDeviceTest {
    private static final String SECRET = "0123456789abcdef0123456789abcdef";
    private static final int BYTES = 1 << 20;
    /// A cable with both ends here, whose addresses are not the kernel's own: it would find the way to them inside.
    private static final String CABLE = "ip link set lo up"
            + " && ip link add veth0 address 02:00:00:00:00:0a type veth peer name veth1 address 02:00:00:00:00:0b"
            + " && for i in veth0 veth1; do ip link set $i addrgenmode none && ip link set $i up; done"
            + " && ip address add 10.7.0.1/32 dev veth0 && ip address add 10.8.0.1/32 dev veth1"
            + " && ip route del table local 10.7.0.1 && ip route del table local 10.8.0.1"
            + " && ip route add 10.8.0.1 dev veth0 && ip route add 10.7.0.1 dev veth1"
            + " && ip neighbour add 10.8.0.1 lladdr 02:00:00:00:00:0b dev veth0 nud permanent"
            + " && ip neighbour add 10.7.0.1 lladdr 02:00:00:00:00:0a dev veth1 nud permanent"
            + " && echo 1 > /proc/sys/net/ipv4/ip_nonlocal_bind";

    private static final int QKEY = 0x1234;

    @TempDir
    Path folder;

    /// Two devices of one process, in a namespace where IPv6 has two addresses.
    static final class OverIpv6 {
        private OverIpv6() {}

        public static void main(String[] arguments) throws Exception {
            try (Context server = Device.named("rocev2@fd00::1" + arguments[0]).open();
                    Context client =
                            Device.named("rocev2@fd00::2" + arguments[0]).open()) {
                exchange(server, client);
            }
        }
    }

    /// Two devices of one process at the ends of a cable.
    static final class OverCable {
        private OverCable() {}

        public static void main(String[] arguments) throws Exception {
            try (Context server = Device.named("rocev2_veth0" + arguments[0]).open();
                    Context client = Device.named("rocev2_veth1" + arguments[0]).open()) {
                exchange(server, client);
            }
        }
    }

    /// Connects two devices, and moves memory there and back, protected.
    static void exchange(Context serverDevice, Context clientDevice) throws Exception {
        move(serverDevice, clientDevice);
        for (Context one : new Context[] {serverDevice, clientDevice}) {
            one.counters().forEach((counter, count) -> {
                boolean isDrop = counter.startsWith("psp.dropped.") && !counter.endsWith(".repeated"); // by the faults
                if (isDrop && count != 0) {
                    throw new AssertionError(counter + " is " + count);
                }
            });
            if (one.counters().get("psp.peers.now") != 1) {
                throw new AssertionError(one.counters().toString());
            }
        }
    }

    private static void move(Context serverDevice, Context clientDevice) throws Exception {
        var at = new InetSocketAddress(serverDevice.gid(1, 0).gid().address(), 0);
        var options = ConnectionOptions.defaults();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind(at, options.withDevice(serverDevice))) {
            var accepted = threads.submit((Callable<Connection>) listener::accept);
            try (var client = Connection.connect(listener.localAddress(), options.withDevice(clientDevice));
                    var server = accepted.get(30, TimeUnit.SECONDS)) {
                MemoryRegion there = server.allocate(BYTES, Access.remoteAll());
                MemoryRegion from = client.allocate(BYTES);
                MemoryRegion back = client.allocate(BYTES);
                byte[] content = new byte[BYTES];
                new Random(54).nextBytes(content);
                from.segment().copyFrom(MemorySegment.ofArray(content));
                client.write(from, there.remote());
                client.read(there.remote(), back);
                if (back.segment().mismatch(from.segment()) >= 0) {
                    throw new AssertionError("other bytes came back");
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",psp=aes256", ",link=portable", ",faults=loss:2%,duplicate:2%,reorder:2%,seed:54"})
    void twoDevicesTalk(String more) throws Exception {
        String options = SecretFile.options(folder, SECRET) + more;
        try (Context server = Device.named("rocev2" + options).open();
                Context client = Device.named("rocev2" + options).open()) {
            exchange(server, client);
        }
    }

    /// A wire that damages packets: what was damaged is dropped as forged, and sent again.
    @Test
    void damageIsRepaired() throws Exception {
        String options = SecretFile.options(folder, SECRET);
        try (Context server = Device.named("rocev2" + options + ",faults=corrupt:2%,seed:54")
                        .open();
                Context client = Device.named("rocev2" + options).open()) {
            assertThatThrownBy(() -> exchange(server, client)).hasMessageContaining("psp.dropped.");
            assertThat(server.counters().get("psp.dropped.forged")).isPositive();
            assertThat(server.counters().get("dropped.icrc")).isZero();
        }
    }

    @Test
    void twoDevicesTalkOverIpv6() throws Exception {
        Namespace namespace = Namespace.with(
                "ip link set lo up && ip addr add fd00::1/128 dev lo nodad && ip addr add fd00::2/128 dev lo nodad");
        assumeTrue(namespace != null, "no right to a network namespace, or no tool to set it up");
        assertThat(namespace.run(OverIpv6.class, SecretFile.options(folder, SECRET)))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {",link=raw", ",link=xdp", ",link=raw,vlan=7"})
    void twoDevicesOnEthernetTalk(String link) throws Exception {
        Namespace namespace = Namespace.with(CABLE);
        assumeTrue(namespace != null, "no right to a network namespace, or no tool to set it up");
        assertThat(namespace.run(OverCable.class, link + SecretFile.options(folder, SECRET)))
                .isEmpty();
    }

    /// The log has each key once, and only its owner may read it.
    @Test
    void keysAreLoggedOnRequest() throws Exception {
        String options = SecretFile.options(folder, SECRET) + ",psp=aes256";
        Path log = folder.resolve("keys");
        try (Context server = Device.named("rocev2" + options).open();
                Context client =
                        Device.named("rocev2" + options + ",keylog=" + log).open()) {
            exchange(server, client);
        }
        assertThat(Files.readAllLines(log))
                .hasSize(2)
                .doesNotHaveDuplicates()
                .allMatch(line -> line.matches("0x[0-9a-f]{8} [0-9a-f]{64}"));
        assertThat(Files.getPosixFilePermissions(log)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        Files.setPosixFilePermissions(log, PosixFilePermissions.fromString("rw-r--r--"));
        refused("rocev2" + options + ",keylog=" + log, "others may read");
        refused("rocev2,keylog=" + log, "needs psp=on");
    }

    /// Devices of several processes at one address are told apart by a field that is encrypted, so there is one.
    @Test
    void anAddressIsForOneDevice() {
        String options = SecretFile.options(folder, SECRET);
        try (Context first = Device.named("rocev2@127.0.0.77" + options).open()) {
            assertThat(first.gids(1)).hasSize(1);
            assertThat(first.attributes().has(Capability.MULTICAST)).isFalse();
            assertThat(first.attributes().has(Capability.RAW_PACKET)).isFalse(); // they would leave as they are
            refused("rocev2@127.0.0.77" + options, "shares its address with no other");
        }
        try (Context plain = Device.named("rocev2@127.0.0.77").open()) {
            assertThat(plain.gids(1)).hasSize(1);
            assertThat(plain.attributes().has(Capability.MULTICAST)).isTrue();
            refused("rocev2@127.0.0.77" + options, "shares its address with no other");
        }
    }

    /// Reads about keys and peers in JMX and in the Flight Recorder.
    @Test
    void whoIsProtectedCanBeSeen() throws Exception {
        String options = SecretFile.options(folder, SECRET).replace("psp=on", "psp=offered");
        Path file = folder.resolve("recording.jfr");
        try (var recording = new Recording()) {
            recording.start();
            try (Context server = Device.named("rocev2" + options).open();
                    Context client = Device.named("rocev2" + options).open();
                    Context plain = Device.named("rocev2,psp=off").open()) {
                exchange(server, client);
                move(plain, client);
                List<PeerStatus> peers = peers(client);
                assertThat(peers).extracting(PeerStatus::state).containsExactlyInAnyOrder("encrypted", "in the clear");
                PeerStatus encrypted = peers.stream()
                        .filter(one -> one.state().equals("encrypted"))
                        .findFirst()
                        .orElseThrow();
                assertThat(encrypted.peer()).isEqualTo(server.gid(1, 0).gid().toString());
                assertThat(encrypted.policy()).isEqualTo("offered");
                assertThat(encrypted.agreements()).isOne();
                assertThat(encrypted.sealedPackets()).isGreaterThan(200);
            }
            recording.dump(file);
        }
        assertThat(RecordingFile.readAllEvents(file))
                .extracting(event -> event.getEventType().getName())
                .contains("verbena.KeysAgreed", "verbena.PeerInTheClear");
    }

    /// Returns what JMX says of the peers of a device.
    static List<PeerStatus> peers(Context device) throws Exception {
        LateBeans.begin();
        var beans = ManagementFactory.getPlatformMBeanServer();
        var name = beans.queryNames(new ObjectName(DeviceMXBean.DOMAIN + ":type=Device,*"), null).stream()
                .filter(one ->
                        one.getKeyProperty("name").contains(device.device().name()))
                .max(Comparator.comparingInt(one -> Integer.parseInt(one.getKeyProperty("id"))))
                .orElseThrow();
        return JMX.newMXBeanProxy(beans, name, DeviceMXBean.class).getPeers();
    }

    @Test
    void datagramsArrive() throws Exception {
        String options = SecretFile.options(folder, SECRET);
        try (Context here = Device.named("rocev2" + options).open();
                Context there = Device.named("rocev2" + options).open();
                var queue = here.createCompletionQueue(16);
                var arrivals = there.createCompletionQueue(16);
                var domain = here.allocateProtectionDomain();
                var domainThere = there.allocateProtectionDomain();
                var from = domain.createQueuePair(QueuePairOptions.ud(queue));
                var to = domainThere.createQueuePair(QueuePairOptions.ud(arrivals));
                var memory = domain.allocate(BYTES, Access.remoteAll());
                var place = domainThere.allocate(BYTES, Access.remoteAll());
                var way = domain.createAddressHandle(
                        AddressVector.to(there.gid(1, 0).gid(), 0))) {
            for (QueuePair one : List.of(from, to)) {
                one.modify(new Transition.ToInitUd(1, 0, QKEY));
                one.modify(new Transition.ToRtrUd());
                one.modify(new Transition.ToRtsUnreliable(0));
            }
            memory.segment().set(ValueLayout.JAVA_INT, 0, 4711);
            var wc = new WorkCompletion();
            for (int i = 1; i <= 16; i++) {
                to.postReceive(i, place.slice(0, 140));
                try (SendBatch batch = from.sendBatch()) {
                    batch.send(i)
                            .sge(memory, 0, 100)
                            .to(way, to.qpn(), QKEY)
                            .signaled()
                            .submit();
                }
                assertThat(queue.await(wc, Duration.ofSeconds(30)) && wc.ok()).isTrue();
                assertThat(arrivals.await(wc, Duration.ofSeconds(30)) && wc.ok())
                        .isTrue();
                assertThat(wc.byteLength()).isEqualTo(140);
                assertThat(place.segment().get(ValueLayout.JAVA_INT, 40)).isEqualTo(4711);
            }
            assertThat(there.counters().get("psp.peers.now")).isOne();
            assertThat(there.counters().get("psp.dropped.plain")).isZero();
        }
    }

    @Test
    void aPlainPeerAndOneWithAnotherSecretDoNotGetIn() throws Exception {
        String options = SecretFile.options(folder, SECRET);
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        String others = SecretFile.options(elsewhere, SECRET.replace('0', '1'));
        for (String peer : new String[] {"", others, options + ",psp=aes256"}) {
            try (Context server = Device.named("rocev2" + options).open();
                    Context client = Device.named("rocev2" + peer).open()) {
                var at = new InetSocketAddress(server.gid(1, 0).gid().address(), 0);
                var way = ConnectionOptions.defaults().withConnectTimeout(Duration.ofSeconds(2));
                try (var listener = ConnectionListener.bind(at, way.withDevice(server))) {
                    assertThatThrownBy(() -> Connection.connect(listener.localAddress(), way.withDevice(client)))
                            .isInstanceOf(VerbsException.class)
                            .hasMessageContaining(
                                    peer.isEmpty() ? "takes encrypted packets only (its policy is \"required\"" : "");
                }
                assertThat(server.counters().get(peer.isEmpty() ? "psp.dropped.plain" : "psp.keys.unproven"))
                        .isPositive();
            }
        }
    }

    /// The file has a policy by address; a program learns why it cannot connect.
    @Test
    void aPolicyIsReadFromAFile() throws Exception {
        String secret = SecretFile.options(folder, SECRET).replace(",psp=on", "");
        Path policy = Files.writeString(folder.resolve("policy"), """
                # the loopback of one host
                secret  secret
                cipher  aes256
                offset  5
                127.0.0.0/8 offered # as long as the others are old
                default required
                """);
        try (Context server = Device.named("rocev2,psp=" + policy).open();
                Context client = Device.named("rocev2,psp=" + policy).open()) {
            exchange(server, client);
            assertThat(server.counters()).containsEntry("psp.peers.plain.now", 0L);
        }
        try (Context server = Device.named("rocev2,psp=" + policy).open();
                Context client = Device.named("rocev2,psp=off").open()) {
            move(server, client);
            move(client, server);
            assertThat(server.counters()).containsEntry("psp.peers.plain.now", 1L);
            assertThat(server.counters().get("psp.received.plain")).isPositive();
        }
        try (Context server = Device.named("rocev2,psp=off").open();
                Context client = Device.named("rocev2,psp=aes256" + secret).open()) {
            assertThatThrownBy(() -> move(server, client))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("agrees on no keys")
                    .hasMessageContaining("\"required\"");
        }
    }

    /// Files in PEM, as OpenSSL writes them; the certificate of another address does not open a device.
    @Test
    void devicesShowCertificates() throws Exception {
        var authority = new TestAuthority("authority", "Ed25519");
        Files.writeString(
                folder.resolve("ca.pem"),
                TestAuthority.pem("CERTIFICATE", authority.certificate().getEncoded()));
        String here = certified(authority, "127.0.0.81", "EC");
        String there = certified(authority, "127.0.0.82", "Ed25519");
        try (Context server = Device.named("rocev2@127.0.0.81" + here).open();
                Context client = Device.named("rocev2@127.0.0.82" + there).open()) {
            exchange(server, client);
        }
        refused("rocev2@127.0.0.83" + there, "names no address of this device");
        Files.writeString(folder.resolve("policy"), "certificate 127.0.0.82.pem\nkey 127.0.0.81.key\nauthority ca.pem");
        refused("rocev2@127.0.0.82,psp=" + folder.resolve("policy"), "127.0.0.81.key");
        Files.writeString(folder.resolve("policy"), "certificate 127.0.0.82.pem");
        refused("rocev2@127.0.0.82,psp=" + folder.resolve("policy"), "a certificate needs three lines");
        Files.setPosixFilePermissions(folder.resolve("127.0.0.81.key"), PosixFilePermissions.fromString("rw-r-----"));
        refused("rocev2@127.0.0.81" + here, "others may read");
    }

    private String certified(TestAuthority authority, String address, String algorithm) throws Exception {
        KeyPair keys = TestAuthority.keys(algorithm);
        Files.writeString(
                folder.resolve(address + ".pem"),
                TestAuthority.pem(
                        "CERTIFICATE",
                        authority.issue(keys.getPublic(), address).getEncoded()));
        Path key = Files.writeString(
                folder.resolve(address + ".key"),
                TestAuthority.pem("PRIVATE KEY", keys.getPrivate().getEncoded()));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        Path policy = Files.writeString(
                folder.resolve("policy-" + address),
                "certificate %1$s.pem\nkey %1$s.key\nauthority ca.pem\n".formatted(address));
        return ",psp=" + policy;
    }

    @Test
    void aWrongPolicyNamesLineAndWord() throws Exception {
        wrong("secret secret\n10.0.0.0/8 offerd\n", "policy line 2: \"offerd\" is no mode");
        wrong(
                "\n\nciphers aes128",
                "line 3: \"ciphers\": secret, certificate, key, authority, cipher, offset, default");
        wrong("offset 6", "line 1: \"6\" is no offset; there are 0 to 5");
        wrong("sekret x", "line 1: \"sekret\"");
        wrong("cipher des", "line 1: \"des\" is no cipher");
        wrong("secret", "line 1: two words, got 1: \"secret\"");
        wrong("default off\ndefault offered", "line 2: \"default\" stands there a second time");
        wrong("10.0.0.0/40 off", "line 1: \"10.0.0.0/40\": a prefix has 0 to 32 bits");
        wrong("10.0.0.0/8 off", "secret FILE");
        refused("rocev2,psp=" + folder.resolve("nothing"), "cannot read");
    }

    private void wrong(String text, String why) throws Exception {
        Path policy = Files.writeString(folder.resolve("policy"), text);
        refused("rocev2,psp=" + policy, why);
    }

    @Test
    void whatCannotBeProtectedIsRefusedWithTheReason() throws Exception {
        String options = SecretFile.options(folder, SECRET);
        refused("rocev2,psp=on", "needs secret=FILE");
        refused("rocev2,secret=" + folder, "needs psp=on");
        refused("rocev2" + options + ",engines=2", "one engine");
        refused("rocev2,psp=aes512", "on, aes256, offered, off");
        assertThatThrownBy(() -> DeviceOptions.parseOnEthernet("rocev1_eth0", options.substring(1)))
                .hasMessageContaining("RoCE v1 has none");
        Path file = folder.resolve("secret");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        refused("rocev2" + options, "others may read");
        refused("rocev2" + SecretFile.options(folder, "short"), "32 to 1024 bytes");
        Files.delete(file);
        refused("rocev2" + options, "cannot read");
    }

    private static void refused(String device, String why) {
        assertThatThrownBy(() -> Device.named(device).open())
                .isInstanceOfAny(IllegalArgumentException.class, DeviceException.class)
                .hasMessageContaining(why);
    }
}

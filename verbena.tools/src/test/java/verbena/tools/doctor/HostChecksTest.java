package verbena.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.tools.doctor.FakeSurroundings.about;
import static verbena.tools.doctor.FakeSurroundings.nic;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import verbena.nic.link.udp.UdpOptions;
import verbena.tools.doctor.Finding.Level;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;

/// Each thing that can be wrong on this host is made wrong, and found.
class HostChecksTest {
    private static final String UDP_HEADING =
            "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    @TempDir
    private Path root;

    private FakeSurroundings host() {
        return new FakeSurroundings(root);
    }

    private static Finding only(List<Finding> findings) {
        assertThat(findings).hasSize(1);
        return findings.getFirst();
    }

    // ---- Java and the link

    @Test
    void javaAndSystemAreTold() {
        List<Finding> findings = new JavaRuntime().look(host());

        assertThat(findings).extracting(Finding::level).containsOnly(Level.OK);
        assertThat(findings.getFirst().seen()).contains("25.0.3+9", "Somebody", "Linux amd64");
    }

    @Test
    void nativeAccessThatIsNotGrantedIsAWarningThatNamesTheOption() {
        FakeSurroundings host = host();
        host.whyPortable = Optional.of("start java with --enable-native-access=verbena.foreign");

        Finding link = only(about("link", new JavaRuntime().look(host)));

        assertThat(link.level()).isEqualTo(Level.WARN);
        assertThat(link.seen()).contains("--enable-native-access=verbena.foreign");
        assertThat(link.remedy()).startsWith("use it");
    }

    @Test
    void anotherSystemThanLinuxIsAWarning() {
        FakeSurroundings host = host();
        host.whyPortable = Optional.of("this is Mac OS X, not Linux");

        Finding link = only(about("link", new JavaRuntime().look(host)));

        assertThat(link.level()).isEqualTo(Level.WARN);
        assertThat(link.remedy()).startsWith("expect less speed");
    }

    // ---- interfaces

    @Test
    void interfacesAreToldWithTheirPathMtu() {
        List<Finding> findings = new OwnAddresses().look(host());

        assertThat(findings).extracting(Finding::level).containsOnly(Level.OK);
        assertThat(only(about("interface eth0", findings)).seen())
                .isEqualTo("10.0.0.3 fd00::3, MTU 1500 -> path MTU 1024");
        assertThat(only(about("interface lo", findings)).seen()).endsWith("path MTU 4096");
    }

    @Test
    void aHostWithoutLoopbackIsFound() {
        FakeSurroundings host = host();
        host.interfaces.removeFirst();

        assertThat(only(about("interface lo", new OwnAddresses().look(host))).level())
                .isEqualTo(Level.FAIL);
    }

    @Test
    void aHostWithNothingButLoopbackReachesNobodyElse() {
        FakeSurroundings host = host();
        host.interfaces.removeLast();

        assertThat(only(about("addresses", new OwnAddresses().look(host))).level())
                .isEqualTo(Level.WARN);
    }

    @Test
    void whereOnlyOneAddressOfLoopbackIsLocalItSaysHowDevicesShareThat() {
        FakeSurroundings host = host();
        assertThat(about("loopback", new OwnAddresses().look(host))).isEmpty();
        host.isLoopbackWhole = false;
        assertThat(only(about("loopback", new OwnAddresses().look(host))).seen())
                .contains("only 127.0.0.1 is local", "devices of this user share it");
        host.whyPortable = Optional.of("this is Mac OS X, not Linux");
        Finding portable = only(about("loopback", new OwnAddresses().look(host)));
        assertThat(portable.level()).isEqualTo(Level.OK);
        assertThat(portable.seen()).contains("a UDP port of its own", "127.1.x.y");
    }

    @Test
    void anInterfaceThatIsDownOrHasNoAddressIsTold() {
        FakeSurroundings host = host();
        host.interfaces.add(nic("eth1", 1_500, false, "10.1.0.3"));
        host.interfaces.add(nic("eth2", 1_500, true));

        List<Finding> findings = new OwnAddresses().look(host);

        assertThat(only(about("interface eth1", findings)).seen()).startsWith("down");
        assertThat(only(about("interface eth1", findings)).remedy()).contains("ip link set eth1 up");
        assertThat(only(about("interface eth2", findings)).remedy()).contains("ip address add");
    }

    @Test
    void anInterfaceWithLinkLocalAddressesOnlyIsAWarning() {
        FakeSurroundings host = host();
        host.interfaces.set(1, nic("eth0", 1_500, true, "fe80::1"));

        Finding finding = only(about("interface eth0", new OwnAddresses().look(host)));

        assertThat(finding.level()).isEqualTo(Level.WARN);
        assertThat(finding.seen()).startsWith("only link-local");
        assertThat(finding.remedy()).contains("%eth0");
    }

    @Test
    void anMtuThatIsTooSmallForAnyPacketIsFound() {
        FakeSurroundings host = host();
        host.interfaces.set(1, nic("eth0", 335, true, "10.0.0.3"));
        assertThat(only(about("interface eth0", new OwnAddresses().look(host))).level())
                .isEqualTo(Level.FAIL);

        host.interfaces.set(1, nic("eth0", 336, true, "10.0.0.3"));
        assertThat(only(about("interface eth0", new OwnAddresses().look(host))).level())
                .isEqualTo(Level.OK);
    }

    // ---- the port

    /// A line of /proc/net/udp, as Linux writes it.
    private static String udpLine(String address, int uid, int inode) {
        return "  123: " + address + ":12B7 00000000:0000 07 00000000:00000000 00:00000000 00000000  " + uid
                + "        0 " + inode + " 2 0000000000000000 0\n";
    }

    @Test
    void aFreePortIsWell() throws IOException {
        FakeSurroundings host = host().file(
                        "proc/net/udp",
                        UDP_HEADING + "  123: 0100007F:0035 00000000:0000 07 0:0 00:0 0  0        0 5 2 0 0\n"); // a
        // resolver

        assertThat(only(new Port().look(host)).level()).isEqualTo(Level.OK);
    }

    @Test
    void aProcessThatHasEveryAddressIsNamed() throws IOException {
        FakeSurroundings host = host().file("proc/net/udp", UDP_HEADING + udpLine("00000000", 1000, 77))
                .file("proc/4711/comm", "java\n")
                .file("etc/passwd", "root:x:0:0::/:/bin/sh\njoe:x:1000:1000::/:/bin/sh\n");
        descriptor("proc/4711/fd/9", 77);

        Finding finding = only(new Port().look(host));

        assertThat(finding.level()).isEqualTo(Level.FAIL);
        assertThat(finding.subject()).isEqualTo("UDP port 4791 at every address");
        assertThat(finding.seen()).isEqualTo("process 4711 (java) of user joe");
    }

    private void descriptor(String path, int inode) throws IOException {
        Path link = root.resolve(path);
        Files.createDirectories(link.getParent());
        Files.createSymbolicLink(link, Path.of("socket:[" + inode + "]"));
    }

    @Test
    void aProcessOfAnotherUserIsToldAsFarAsItCanBeSeen() throws IOException {
        FakeSurroundings host = host().file("proc/net/udp", UDP_HEADING + udpLine("0300000A", 1000, 77));

        Finding finding = only(new Port().look(host));

        assertThat(finding.level()).isEqualTo(Level.WARN);
        assertThat(finding.subject()).isEqualTo("UDP port 4791 at 10.0.0.3");
        assertThat(finding.seen()).contains("user 1000");
        assertThat(finding.remedy()).contains("ss -ulpn");
    }

    @Test
    void devicesThatShareAnAddressAreWell() throws IOException {
        FakeSurroundings host = host().file("proc/net/udp", UDP_HEADING + udpLine("0300000A", 1000, 77))
                .file("proc/4711/comm", "java\n")
                .file("proc/net/unix", """
                        Num       RefCount Protocol Flags    Type St Inode Path
                        0000000000000000: 00000002 00000000 00010000 0005 01 99 @verbena/10.0.0.3/4791/slot-7
                        """);
        descriptor("proc/4711/fd/9", 77);

        Finding finding = only(new Port().look(host));

        assertThat(finding.level()).isEqualTo(Level.OK);
        assertThat(finding.seen()).contains("process 4711 (java) of user 1000", "shares it");
    }

    @Test
    void theKernelsSoftRoceIsTold() throws IOException {
        FakeSurroundings host = host().file(
                        "proc/net/udp6", UDP_HEADING + udpLine("00000000000000000000000000000000", 0, 88))
                .file("sys/class/infiniband/rxe0/parent", "eth0\n")
                .file("sys/class/infiniband/mlx5_0/node_type", "1: CA\n");

        Finding finding = only(new Port().look(host));

        assertThat(finding.level()).isEqualTo(Level.FAIL);
        assertThat(finding.seen()).contains("soft-RoCE", "rxe0").doesNotContain("mlx5_0");
        assertThat(finding.remedy()).contains("rdma link delete rxe0");
    }

    @Test
    void thisVeryProcessIsFoundInTheRealTables() throws IOException {
        try (var socket = new DatagramSocket(new InetSocketAddress(InetAddress.ofLiteral("127.77.1.2"), 4791))) {
            assertThat(socket.isBound()).isTrue();
            List<Finding> findings = about("UDP port 4791 at 127.77.1.2", new Port().look(new ThisHost()));

            assertThat(only(findings).seen())
                    .contains("process " + ProcessHandle.current().pid() + " ");
        }
    }

    // ---- limits

    @Test
    void aSmallReceiveBufferIsAWarningThatNamesTheSetting() {
        FakeSurroundings host = host();
        host.receiveBufferBytes = 425_984;

        Finding finding = only(about("socket buffers", new Limits().look(host)));

        assertThat(finding.level()).isEqualTo(Level.WARN);
        assertThat(finding.seen()).startsWith("0.4 MiB");
        assertThat(finding.remedy()).contains("net.core.rmem_max=16777216").doesNotContain("cp ");
    }

    @Test
    void theFileBesideTheCommandsKeepsThatSetting() throws IOException {
        FakeSurroundings host = host();
        host.properties.put("verbena.share", "/opt/verbena/share");
        host.receiveBufferBytes = 425_984;

        Finding finding = only(about("socket buffers", new Limits().look(host)));

        assertThat(finding.remedy()).contains("cp /opt/verbena/share/sysctl.d/60-verbena.conf /etc/sysctl.d/");
        assertThat(Files.readAllLines(Path.of("../dist/share/sysctl.d/60-verbena.conf")))
                .contains("net.core.rmem_max = " + UdpOptions.DEFAULT.receiveBufferBytes())
                .contains("net.core.wmem_max = " + UdpOptions.DEFAULT.sendBufferBytes());
    }

    @Test
    void fewDescriptorsAreToldAndTooFewFail() throws IOException {
        String limits = """
                Limit                     Soft Limit           Hard Limit           Units
                Max locked memory         8388608              8388608              bytes
                Max open files            %s                  1048576              files
                """;

        assertThat(descriptors(limits.formatted("20"))).isEqualTo(Level.FAIL);
        assertThat(descriptors(limits.formatted("256"))).isEqualTo(Level.WARN);
        assertThat(descriptors(limits.formatted("1024"))).isEqualTo(Level.OK);
        assertThat(descriptors(limits.formatted("unlimited"))).isEqualTo(Level.OK);
    }

    private Level descriptors(String limits) throws IOException {
        return only(about("file descriptors", new Limits().look(host().file("proc/self/limits", limits))))
                .level();
    }

    // ---- the self-test

    @Test
    void aDeviceThatDoesNotOpenIsFound() {
        FakeSurroundings host = host();
        host.opener = name -> {
            throw new DeviceException("open " + name + ": in use");
        };

        List<Finding> findings = new SelfTest().look(host);

        assertThat(findings).extracting(Finding::level).containsOnly(Level.FAIL);
        assertThat(findings)
                .extracting(Finding::subject)
                .containsExactly("rocev2", "rocev2@10.0.0.3", "rocev2@fd00::3");
    }

    @Test
    void packetsThatAreAllLostAreFound() {
        FakeSurroundings host = host();
        host.interfaces.removeLast();
        host.opener = name -> Device.named(name + ",faults=loss:100%").open();

        Finding finding = only(new SelfTest().look(host));

        assertThat(finding.level()).isEqualTo(Level.FAIL);
        assertThat(finding.seen()).startsWith("opens, but a WRITE to itself failed");
    }

    @Test
    void packetsThatGoRoundAreWell() {
        FakeSurroundings host = host();
        host.interfaces.removeLast();

        Finding finding = only(new SelfTest().look(host));

        assertThat(finding.level()).isEqualTo(Level.OK);
        assertThat(finding.seen()).isEqualTo("opens; a WRITE of 4096 bytes to itself arrived");
    }

    @Test
    void packetsThatAreEncryptedAreToldApart() throws IOException {
        FakeSurroundings host = host();
        host.interfaces.removeLast();
        Path secret = Files.writeString(host.root.resolve("secret"), "0123456789abcdef0123456789abcdef");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        host.opener = name -> Device.named(name + ",psp=on,secret=" + secret).open();

        assertThat(only(new SelfTest().look(host)).seen())
                .startsWith("opens; a WRITE of 4096 bytes to itself arrived")
                .contains("; its packets are encrypted (psp, UDP port ");

        host.opener = name ->
                Device.named(name + ",psp=" + host.root.resolve("policy")).open();
        Finding finding = only(new SelfTest().look(host));
        assertThat(finding.level()).isEqualTo(Level.FAIL);
        assertThat(finding.seen()).contains("cannot read", "policy");
    }

    @Test
    void sharedMemoryWorksOrTheReasonIsTold() {
        FakeSurroundings host = host();
        host.whyPortable = Optional.of("this is Mac OS X, not Linux");
        Finding none = only(new SharedMemory().look(host));
        assertThat(none.level()).isEqualTo(Level.WARN);
        assertThat(none.seen()).isEqualTo("does not work here: this is Mac OS X, not Linux");

        host.whyPortable = Optional.empty();
        host.opener = name -> {
            throw new DeviceException("open " + name + ": shm: all 256 slots of this host are taken");
        };
        Finding full = only(new SharedMemory().look(host));
        assertThat(full.level()).isEqualTo(Level.FAIL);
        assertThat(full.seen()).contains("all 256 slots");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void itIsToldHowManySharedMemoryReaches() {
        try (Context _ = Device.named("shm").open()) {
            Finding finding = only(new SharedMemory().look(host()));

            assertThat(finding.level()).isEqualTo(Level.OK);
            assertThat(finding.seen())
                    .startsWith("opens; a WRITE of 4096 bytes to itself arrived; it reaches processes of this user")
                    .matches(".* open now: [1-9][0-9]*");
        }
    }

    @Test
    void anAddressThatAnotherHasIsToldByTheRealThing() {
        FakeSurroundings host = host();
        host.interfaces.set(0, nic("eth9", 1_500, true, "127.77.1.3"));
        host.interfaces.removeLast();
        try (Context _ = Device.named("rocev2@127.77.1.3,link=portable").open()) {
            host.opener = name -> Device.named(name + ",link=portable").open();

            Finding finding = only(new SelfTest().look(host));

            assertThat(finding.level()).isEqualTo(Level.FAIL);
            assertThat(finding.seen()).contains("127.77.1.3", "in use");
        }
    }

    // ---- hardware

    @Test
    void hardwareThatIsReadyIsInformationOnly() throws IOException {
        assertThat(only(new Hardware().look(host())).seen())
                .contains("no kernel device", "libibverbs not installed", "no uverbs device");

        FakeSurroundings host = host().file("sys/class/infiniband/mlx5_0/node_type", "1: CA\n")
                .file("usr/lib/x86_64-linux-gnu/libibverbs.so.1", "")
                .file("usr/lib/x86_64-linux-gnu/librdmacm.so.1", "")
                .file("dev/infiniband/uverbs0", "")
                .file("proc/self/limits", "Max locked memory         unlimited    unlimited     bytes\n");
        Finding finding = only(new Hardware().look(host));

        assertThat(finding.level()).isEqualTo(Level.OK);
        assertThat(finding.seen()).contains("mlx5_0", "libibverbs present", "uverbs0", "locked: unlimited");
    }

    @Test
    void whatKeepsAProgramFromUsingHardwareIsToldOneByOne() throws IOException {
        FakeSurroundings host = host().file("sys/class/infiniband/mlx5_0/node_type", "1: CA\n")
                .file("proc/self/limits", "Max locked memory         65536    65536     bytes\n");

        assertThat(new Hardware().look(host).stream().skip(1))
                .allMatch(finding ->
                        finding.level() == Level.WARN && !finding.remedy().isEmpty())
                .extracting(Finding::seen)
                .containsExactly(
                        "Verbena cannot use them: libibverbs is not installed",
                        "no connections by address and port: librdmacm is not installed",
                        "Verbena cannot use them: /dev/infiniband has no uverbs device",
                        "only 65536 bytes may be locked, and every registered page is locked");

        host.file("usr/lib/libibverbs.so.1", "");
        host.whyNoVerbs = Optional.of("it may not be called");
        assertThat(new Hardware().look(host).get(1).seen()).contains("it may not be called");
    }

    // ---- the whole

    @Test
    void theSummaryCountsAndDecides() {
        var out = new StringWriter();
        var bad = new Doctor(host(), List.of(_ -> List.of(Finding.fail("port", "taken", "end it"))));

        assertThat(bad.examine(new PrintWriter(out))).isFalse();
        assertThat(out.toString()).isEqualTo("""
                        FAIL  port: taken
                              -> end it

                        1 FAIL, 0 WARN, 0 OK.
                        """);

        out.getBuffer().setLength(0);
        var doubtful = new Doctor(host(), List.of(_ -> List.of(Finding.warn("mtu", "small", "raise it"))));
        assertThat(doubtful.examine(new PrintWriter(out))).isTrue();
        assertThat(out.toString()).endsWith("0 FAIL, 1 WARN, 0 OK: connections can work.\n");

        out.getBuffer().setLength(0);
        var well =
                new Doctor(host(), List.of(_ -> List.of(Finding.ok("java", "25").with(List.of("a detail")))));
        assertThat(well.examine(new PrintWriter(out))).isTrue();
        assertThat(out.toString()).isEqualTo("OK    java: 25\n        a detail\n\nAll is well.\n");
    }
}

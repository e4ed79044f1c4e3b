package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.link.LoopbackAddress;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Endpoint;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Several processes at one address. A device of this process, at the same address, writes to each of them and
/// reads from it; some are killed or stopped meanwhile.
@EnabledOnOs(value = OS.LINUX, disabledReason = "on other systems only one process can have an address")
@Timeout(300)
class SharedProcessesTest {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int LENGTH = 20_000; // several packets
    /// Exchanges with each process between two events.
    private static final int TIMES = GoalRun.size(20, 50);

    private final List<Process> started = new ArrayList<>();
    private final List<AutoCloseable> opened = new ArrayList<>();

    private <T extends AutoCloseable> T use(T made) {
        opened.addFirst(made);
        return made;
    }

    @AfterEach
    void close() throws Exception {
        started.forEach(Process::destroyForcibly);
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    /// A process at the address, and our connection to it.
    private final class Neighbour {
        final Process process;
        final BufferedReader output;
        final Writer input;
        final CompletionQueue cq;
        final QueuePair queuePair;
        final MemoryRegion memory;
        final long address;
        final int rkey;
        private final WorkCompletion wc = new WorkCompletion();
        private int round;

        Neighbour(String device, ProtectionDomain domain) throws IOException {
            this(domain, device);
        }

        /// @param arguments of the process, the first of them its device
        Neighbour(ProtectionDomain domain, String... arguments) throws IOException {
            var command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-cp",
                    System.getProperty("java.class.path"),
                    SharingProcess.class.getName()));
            command.addAll(List.of(arguments));
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            started.add(process);
            output = process.inputReader(StandardCharsets.US_ASCII);
            input = process.outputWriter(StandardCharsets.US_ASCII);
            String[] line = output.readLine().split(" ", -1);
            cq = use(domain.context().createCompletionQueue(16));
            queuePair = use(domain.createQueuePair(QueuePairOptions.rc(cq)));
            memory = use(domain.allocate(2 * LENGTH, Access.remoteAll()));
            address = Long.parseLong(line[line.length - 2]);
            rkey = Integer.parseInt(line[line.length - 1]);
            input.write(queuePair.endpoint().format() + "\n");
            input.flush();
            queuePair.connect(Endpoint.parse(String.join(" ", List.of(line).subList(0, line.length - 2))));
            assertThat(output.readLine()).isEqualTo("connected");
        }

        /// Writes into its memory, reads the memory back, and compares.
        void exchange(int times) throws InterruptedException {
            for (int i = 0; i < times; i++) {
                memory.segment().asSlice(0, LENGTH).fill((byte) ++round);
                memory.segment().set(ValueLayout.JAVA_INT, 0, round);
                queuePair.postWrite(1, memory.slice(0, LENGTH), new RemoteMemory(address, rkey, LENGTH));
                queuePair.postRead(2, new RemoteMemory(address, rkey, LENGTH), memory.slice(LENGTH, LENGTH));
                for (int wrId = 1; wrId <= 2; wrId++) {
                    assertThat(cq.await(wc, SOON)).as("in time").isTrue();
                    assertThat(wc.ok()).as(wc.toString()).isTrue();
                    assertThat(wc.wrId()).isEqualTo(wrId);
                }
                assertThat(memory.segment()
                                .asSlice(LENGTH, LENGTH)
                                .mismatch(memory.segment().asSlice(0, LENGTH)))
                        .isEqualTo(-1);
            }
        }

        void signal(String signal) throws Exception {
            int status = new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid()))
                    .start()
                    .waitFor();
            assertThat(status).isZero();
        }

        /// Stops the process, and returns when all its threads have stopped: kill(2) does not wait for that.
        void stop() throws Exception {
            signal("STOP");
            while (!isStopped()) {
                Thread.onSpinWait();
            }
        }

        private boolean isStopped() throws IOException {
            try (var threads = Files.list(Path.of("/proc", String.valueOf(process.pid()), "task"))) {
                for (Path thread : threads.toList()) {
                    String stat = Files.readString(thread.resolve("stat"));
                    if (!stat.substring(stat.lastIndexOf(')')).startsWith(") T")) {
                        return false;
                    }
                }
                return true;
            } catch (NoSuchFileException e) {
                return false; // a thread has just ended
            }
        }

        void kill() throws Exception {
            signal("KILL");
            process.waitFor();
        }
    }

    private static void exchange(int times, Neighbour... neighbours) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            for (Neighbour neighbour : neighbours) {
                neighbour.exchange(1);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"IPv4", "IPv6", "shm"})
    void aKilledOrStoppedProcessHarmsNoOther(String way) throws Exception {
        String device = switch (way) {
            case "IPv4" -> "rocev2@" + LoopbackAddress.find(4791).getHostAddress();
            case "IPv6" -> "rocev2@::1";
            default -> way;
        };
        Context context = use(Device.named(device).open());
        ProtectionDomain domain = use(context.allocateProtectionDomain());
        var first = new Neighbour(device, domain);
        var second = new Neighbour(device, domain);
        var third = new Neighbour(device, domain);
        exchange(TIMES, first, second, third);

        // Killed in the middle of a READ for us.
        first.queuePair.postRead(3, new RemoteMemory(first.address, first.rkey, LENGTH), first.memory.slice(0, LENGTH));
        first.kill();
        exchange(TIMES, second, third);
        var fourth = new Neighbour(device, domain);
        exchange(TIMES, second, third, fourth);

        second.stop();
        exchange(2 * TIMES, third, fourth);
        third.kill(); // no process receives what the stopped one sends later
        var fifth = new Neighbour(device, domain);
        exchange(TIMES, fourth, fifth);
        second.signal("CONT");
        exchange(TIMES, second, fourth, fifth);
        long direct = context.counters().get("direct.requests");
        assertThat(direct).as("requests without packets").matches(n -> way.equals("shm") ? n > 8L * TIMES : n == 0);
    }

    /// The kernel copies to and from the memory of processes, of which some are killed in the middle.
    @Test
    void aKilledProcessWhoseOwnMemoryIsUsedHarmsNoOther() throws Exception {
        Context context = use(Device.named("shm").open());
        ProtectionDomain domain = use(context.allocateProtectionDomain());
        var first = new Neighbour(domain, "shm", "own");
        var second = new Neighbour(domain, "shm", "own");
        exchange(20, first, second);
        assumeTrue(context.counters().get("direct.system.requests") > 0, "the kernel forbids it");
        int posted = 0;
        Thread killer = Thread.ofPlatform().start(first.process::destroyForcibly);
        var wc = new WorkCompletion();
        do {
            first.queuePair.postWrite(
                    ++posted, first.memory.slice(0, LENGTH), new RemoteMemory(first.address, first.rkey, LENGTH));
            assertThat(first.cq.await(wc, SOON)).as("in time").isTrue();
            assertThat(wc.wrId()).isEqualTo(posted);
        } while (wc.ok());
        // The end may be noticed while nothing is under way: then the next request finds the queue pair in ERR.
        assertThat(wc.status()).isIn(WcStatus.RETRY_EXC_ERR, WcStatus.WR_FLUSH_ERR);
        assertThat(wc.cause()).contains("ended");
        killer.join();
        exchange(20, second);
        var third = new Neighbour(domain, "shm", "own");
        exchange(20, second, third);
        second.stop(); // the kernel copies all the same
        second.exchange(20);
        second.signal("CONT");
    }

    /// A card would have answered for it. Here the packet lies in the process's memory, unread.
    @Test
    void aProcessThatIsStoppedIsWaitedForLongerThanTheTimesSay() throws Exception {
        Context context = use(Device.named("shm").open());
        var neighbour = new Neighbour("shm", use(context.allocateProtectionDomain()));
        neighbour.exchange(1);
        long before = context.counters().get("ack.timeouts");
        int more = neighbour.queuePair.query().sending().retryCount() + 2;
        neighbour.stop();
        neighbour.queuePair.postWrite(
                1, neighbour.memory.slice(0, 0), new RemoteMemory(neighbour.address, neighbour.rkey, 0)); // by a packet
        var wc = new WorkCompletion();
        while (context.counters().get("ack.timeouts") - before < more) {
            assertThat(neighbour.cq.await(wc, Duration.ofMillis(10)))
                    .as(wc.toString())
                    .isFalse();
        }
        neighbour.signal("CONT");
        assertThat(neighbour.cq.await(wc, SOON)).as("in time").isTrue();
        assertThat(wc.ok()).as(wc.toString()).isTrue();
        neighbour.exchange(1);
    }

    @Test
    void sharedMemoryTellsAtOnceThatAProcessHasEnded() throws Exception {
        Context context = use(Device.named("shm").open());
        ProtectionDomain domain = use(context.allocateProtectionDomain());
        var neighbour = new Neighbour("shm", domain);
        neighbour.exchange(1);
        int slot = neighbour.queuePair.query().peer().destinationQpn() >>> 16;
        assertThat(localSockets()).contains("verbena/shm/3/slot-" + slot + "\n");
        neighbour.queuePair.postSend(7, neighbour.memory.slice(0, 100)); // waits: there is no receive
        neighbour.queuePair.postSend(8, neighbour.memory.slice(0, 100));
        neighbour.kill();
        var wc = new WorkCompletion();
        assertThat(neighbour.cq.await(wc, SOON)).isTrue();
        assertThat(wc.wrId()).isEqualTo(7);
        assertThat(wc.status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
        assertThat(neighbour.cq.await(wc, SOON)).isTrue();
        assertThat(wc.wrId()).isEqualTo(8);
        assertThat(wc.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
        assertThat(neighbour.queuePair.state()).isEqualTo(QpState.ERR);
        assertThat(localSockets()).doesNotContain("verbena/shm/3/slot-" + slot + "\n");
    }

    private static String localSockets() throws IOException {
        return Files.readString(Path.of("/proc/net/unix"));
    }

    @Test
    void anotherUserDoesNotGetTheAddress() throws Exception {
        assumeTrue(works("setpriv", "--reuid=65534", "--clear-groups", "true"), "no right to be another user");
        String device = "rocev2@" + LoopbackAddress.find(4791).getHostAddress();
        Context _ = use(Device.named(device).open());
        Process other = new ProcessBuilder(
                        "setpriv",
                        "--reuid=65534",
                        "--clear-groups",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        SharingProcess.class.getName(),
                        device)
                .redirectErrorStream(true)
                .start();
        started.add(other);
        String said = new String(other.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assumeTrue(!said.contains("ClassNotFoundException"), "another user may not read the classes");
        assertThat(other.waitFor()).isNotZero();
        assertThat(said).contains("is in use").contains("Devices of one user share an address");
    }

    @Test
    void aPortWhoseNameAnotherUserHasIsRefusedWithThatUser() throws Exception {
        assumeTrue(
                works("setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", ""),
                "no other user's python3");
        var options =
                ConnectionOptions.defaults().withDevice(use(Device.named("shm").open()));
        InetSocketAddress at;
        String name;
        try (var listener =
                ConnectionListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), options)) {
            at = listener.localAddress();
            name = serviceName(at.getPort());
        }
        Process other = new ProcessBuilder(
                        "setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", """
                import socket, sys
                taken = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                taken.bind('\\0' + sys.argv[1])
                taken.listen(1)
                print('taken', flush=True)
                sys.stdin.read()
                """, name)
                .redirectErrorStream(true)
                .start();
        started.add(other);
        assertThat(other.inputReader().readLine()).isEqualTo("taken");
        assertThatThrownBy(() -> ConnectionListener.bind(at, options))
                .isInstanceOf(ConnectionException.class)
                .hasMessageContaining("user 65534 of this host has the local socket @" + name);
        try (var elsewhere =
                ConnectionListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), options)) {
            assertThat(elsewhere.localAddress().getPort()).isNotEqualTo(at.getPort());
        }
    }

    /// The name at which the link listens for a port, without the `@` that the kernel shows for a zero byte.
    private static String serviceName(int port) throws IOException {
        String end = String.format("%04x@", port);
        return localSockets()
                .lines()
                .map(line -> line.substring(line.lastIndexOf(' ') + 2))
                .filter(name -> name.startsWith("verbena/shm/") && name.contains("/service-") && name.contains(end))
                .findFirst()
                .orElseThrow();
    }

    private static boolean works(String... command) throws InterruptedException {
        try {
            return new ProcessBuilder(command).start().waitFor() == 0;
        } catch (IOException _) {
            return false;
        }
    }

    @Test
    void aDeviceThatDoesNotShareIsToldHow() {
        String device = "rocev2@" + LoopbackAddress.find(4791).getHostAddress();
        Context _ = use(Device.named(device).open());
        assertThatThrownBy(() -> Device.named(device + ",link=portable").open())
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining("not with link=portable");
    }
}

package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
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
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Endpoint;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// Processes at one address, all of which a device of this one, at that address too, writes to and reads from; some are
/// killed or stopped meanwhile.
@EnabledOnOs(value = OS.LINUX, disabledReason = "elsewhere an address is one process's")
@Timeout(300)
class SharedProcessesTest {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int LENGTH = 20_000; // several packets

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
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:TieredStopAtLevel=1",
                            "-XX:+UseSerialGC",
                            "-cp",
                            System.getProperty("java.class.path"),
                            SharingProcess.class.getName(),
                            device)
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

        /// Writes into its memory, reads it back, and compares.
        void exchange(int times) throws InterruptedException {
            for (int i = 0; i < times; i++) {
                memory.segment().asSlice(0, LENGTH).fill((byte) ++round);
                memory.segment().set(ValueLayout.JAVA_INT, 0, round);
                queuePair.postWrite(1, memory, 0, LENGTH, address, rkey);
                queuePair.postRead(2, memory, LENGTH, LENGTH, address, rkey);
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
    @ValueSource(strings = {"IPv4", "IPv6"})
    void whoeverIsKilledOrStoppedHarmsNoOther(String family) throws Exception {
        String device = "rocev2@"
                + (family.equals("IPv6") ? "::1" : LoopbackAddress.find(4791).getHostAddress());
        Context context = use(Device.named(device).open());
        ProtectionDomain domain = use(context.allocateProtectionDomain());
        var first = new Neighbour(device, domain);
        var second = new Neighbour(device, domain);
        var third = new Neighbour(device, domain);
        exchange(50, first, second, third);

        // Killed in the middle of what it does for us.
        first.queuePair.postRead(3, first.memory, 0, LENGTH, first.address, first.rkey);
        first.kill();
        exchange(50, second, third);
        var fourth = new Neighbour(device, domain);
        exchange(50, second, third, fourth);

        second.signal("STOP");
        exchange(100, third, fourth);
        third.kill(); // and what the stopped one had to say to that nobody hears
        var fifth = new Neighbour(device, domain);
        exchange(50, fourth, fifth);
        second.signal("CONT");
        exchange(50, second, fourth, fifth);
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

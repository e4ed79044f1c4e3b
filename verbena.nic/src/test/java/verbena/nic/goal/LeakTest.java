package verbena.nic.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.nic.GoalRun;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Goal F5 over sockets: closed connections leave nothing behind. It also measures the cost of one
/// connection, for goal S6.
class LeakTest {
    private static final int MESSAGE_BYTES = 64;
    /// Code, classes and buffers grow at first in any program.
    private static final int WARM_UP = 300;
    private static final double MIB = 1 << 20;

    private record Held(long heap, long resident, long descriptors) {
        static Held now() throws IOException, InterruptedException {
            long least = Long.MAX_VALUE;
            for (int i = 0; i < 3; i++) { // weakly referenced objects need more than one collection
                System.gc();
                least = Math.min(
                        least,
                        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
            }
            return new Held(least, residentBytes(), openDescriptors());
        }

        private static long residentBytes() throws IOException {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) << 10;
                }
            }
            return 0;
        }

        private static long openDescriptors() throws IOException {
            long count = 0;
            try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
                for (Path _ : all) {
                    count++;
                }
            }
            return count;
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @Timeout(3_600)
    void connectionsThatComeAndGoLeaveNothingBehind() throws Exception {
        long start = System.nanoTime();
        int cycles = GoalRun.size(1_000, 50_000);
        try (Context serverDevice = Device.named("rocev2").open();
                Context clientDevice = Device.named("rocev2").open();
                ExecutorService threads = Executors.newCachedThreadPool();
                ConnectionListener listener = ConnectionListener.bind(
                        new InetSocketAddress(serverDevice.gid(1, 0).gid().address(), 0),
                        ConnectionOptions.defaults().withDevice(serverDevice))) {
            ConnectionOptions options = ConnectionOptions.defaults().withDevice(clientDevice);
            for (int i = 0; i < WARM_UP; i++) {
                cycle(listener, options, threads);
            }
            Held before = Held.now();
            for (int i = 0; i < cycles; i++) {
                cycle(listener, options, threads);
            }
            Held after = Held.now();

            GoalRun.report(
                    "F5",
                    start,
                    "%,d connections made, used and closed: heap %+.1f MiB, resident %+.1f MiB, descriptors %+d"
                            .formatted(
                                    cycles,
                                    (after.heap - before.heap) / MIB,
                                    (after.resident - before.resident) / MIB,
                                    after.descriptors - before.descriptors));
            assertThat(after.descriptors).as("descriptors").isLessThanOrEqualTo(before.descriptors);
            // Numbers rest for a minute, and each connection in timewait holds some hundred bytes.
            assertThat(after.heap - before.heap).as("bytes of heap").isLessThan(GoalRun.size(2, 4) * (1L << 20));
        } // closing the devices throws when an object of them was left
    }

    private static void cycle(ConnectionListener listener, ConnectionOptions options, ExecutorService threads)
            throws Exception {
        Future<Void> served = threads.submit(() -> {
            try (Connection connection = listener.accept()) {
                MemoryRegion memory = connection.allocate(MESSAGE_BYTES);
                long bytes = connection.receive(memory.slice(0, MESSAGE_BYTES)).length();
                connection.send(memory.slice(0, bytes));
                return null;
            }
        });
        try (Connection connection = Connection.connect(listener.localAddress(), options)) {
            MemoryRegion memory = connection.allocate(MESSAGE_BYTES);
            memory.segment().setString(0, "there and back");
            Future<Long> answer = threads.submit(() -> {
                MemoryRegion echo = connection.allocate(MESSAGE_BYTES);
                long bytes = connection.receive(echo.slice(0, MESSAGE_BYTES)).length();
                assertThat(echo.segment().getString(0)).isEqualTo("there and back");
                return bytes;
            });
            connection.send(memory.slice(0, MESSAGE_BYTES));
            assertThat(answer.get(30, TimeUnit.SECONDS)).isEqualTo(MESSAGE_BYTES);
        }
        served.get(30, TimeUnit.SECONDS);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aHundredThousandQueuePairsFitIntoFourGibibytes() throws Exception {
        long start = System.nanoTime();
        int count = GoalRun.size(2_000, 60_000);
        try (Context device = Device.named("rocev2").open()) {
            ProtectionDomain domain = device.allocateProtectionDomain();
            CompletionQueue completions = device.createCompletionQueue(16);
            var pairs = new ArrayList<QueuePair>();
            Held before = Held.now();
            for (int i = 0; i < count; i += 2) {
                QueuePair one = domain.createQueuePair(QueuePairOptions.rc(completions));
                QueuePair other = domain.createQueuePair(QueuePairOptions.rc(completions));
                one.connect(other.endpoint());
                other.connect(one.endpoint());
                pairs.add(one);
                pairs.add(other);
            }
            Held after = Held.now();

            long each = (after.heap - before.heap) / count;
            GoalRun.report(
                    "S6",
                    start,
                    "a connected queue pair for 128 sends and 128 receives takes %,d bytes of heap while nothing is in"
                                    .formatted(each)
                            + " it, %,d of resident memory: 100,000 take %.2f GiB"
                                    .formatted(
                                            (after.resident - before.resident) / count, each * 100_000 / MIB / 1_024));
            assertThat(each).isLessThan((4L << 30) / 100_000);
            pairs.forEach(QueuePair::close);
            completions.close();
            domain.close();
        }
    }
}

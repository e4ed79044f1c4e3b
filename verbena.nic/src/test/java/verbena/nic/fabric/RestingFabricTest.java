package verbena.nic.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.LinkBench;
import verbena.nic.link.NativeAccess;
import verbena.nic.link.ib.IbLink;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.topology.TopologyText;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.mad.PortInfo;

/// The process of a fabric, beside devices that do not do what devices do.
@EnabledOnOs(value = OS.LINUX, disabledReason = "local sockets that keep messages apart")
@Timeout(180)
class RestingFabricTest {
    private static final String TOPOLOGY = """
        switch s1 4
        hca a
        hca b
        link a s1
        link b s1
        """;
    private static final long INTERVAL_NANOS = 200_000_000;
    private static final int INTERVALS = 20;
    private static final int REFUSALS = 300;

    @TempDir
    private Path folder;

    private final Fabric fabric = new Fabric(TopologyText.parse(TOPOLOGY), System.nanoTime());
    private FabricServer server;
    private Thread runner;

    @BeforeEach
    void start() {
        assumeTrue(NativeAccess.whyPortable() == null, "native access");
        fabric.manage(fabric.node("a"), ManagerOptions.DEFAULT, 1);
        server = new FabricServer(place(), fabric, _ -> "");
        runner = new Thread(server::run, "fabric");
        runner.start();
        while (FabricPort.all(place()).stream().anyMatch(port -> port.state() != PortInfo.ACTIVE)) {
            Thread.onSpinWait();
        }
    }

    @AfterEach
    void stop() throws InterruptedException {
        if (server != null) {
            server.stop();
            runner.join();
            server.close();
        }
    }

    private Path place() {
        return folder.resolve("run").resolve("fabric");
    }

    /// The adapter of the first device is full, because the second takes nothing.
    @Test
    void aDeviceThatHangsUpWhileItsAdapterIsFullKeepsNoThreadBusy() {
        try (Arena arena = Arena.ofShared()) {
            int silent = FabricSocket.connect(new LinuxSockets(arena), place());
            MemorySegment message = arena.allocate(FabricSocket.INFO_BYTES);
            assertThat(FabricSocket.ask(silent, message, FabricSocket.ATTACH, 1, ""))
                    .isTrue();
            FabricPort told = FabricPort.answer(silent, message);
            assertThat(told).isNotNull();
            try (IbLink link = IbLink.open(place(), 0, "ib0")) {
                link.claim();
                fill(link, told);
            }
            assertThat(isQuietAtLast()).isTrue();
            LinuxSockets.close(silent);
        }
        // The rest of what the device has sent has left, and the adapter is free.
        while (FabricPort.all(place()).getFirst().isInUse()) {
            Thread.onSpinWait();
        }
    }

    private static void fill(IbLink link, FabricPort to) {
        Frame[] frame = LinkBench.frames(1);
        int refusals = 0;
        for (int i = 0; refusals < REFUSALS; i++) {
            LinkBench.fill(frame[0], LinkBench.gidOf(link), new Gid(IbLink.PREFIX_DEFAULT, to.portGuid()), i, 2_048);
            frame[0].local.destinationLid = to.lid();
            if (link.transmit(frame, 0, 1) == 1) {
                assertThat(frame[0].marks.unsendable).isFalse();
                refusals = 0;
            } else {
                refusals++;
                link.await(1_000_000);
            }
        }
    }

    /// Whether the thread of the fabric comes to rest.
    private boolean isQuietAtLast() {
        var threads = ManagementFactory.getThreadMXBean();
        for (int i = 0; i < INTERVALS; i++) {
            long before = threads.getThreadCpuTime(runner.threadId());
            long start = System.nanoTime();
            while (System.nanoTime() - start < INTERVAL_NANOS) {
                Thread.onSpinWait();
            }
            if (threads.getThreadCpuTime(runner.threadId()) - before < TimeUnit.MILLISECONDS.toNanos(2)) {
                return true;
            }
        }
        return false;
    }
}

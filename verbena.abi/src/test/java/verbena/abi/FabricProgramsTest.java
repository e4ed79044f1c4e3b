package verbena.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import verbena.abi.Programs.Ended;
import verbena.nic.fabric.FabricPort;
import verbena.nic.fabric.FabricServer;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.topology.TopologyText;

/// A program of our own in C over a soft fabric that the test runs, as `fabric up --lmc 1` does.
@Timeout(180)
class FabricProgramsTest {
    private static final Path SOURCES =
            Path.of(System.getProperty("verbena.root")).resolve("verbena.abi/src/test/c");
    private static final Pattern ARMED = Pattern.compile("armed lids (\\d+) (\\d+)\n");
    private static final int ACTIVE = 4;
    /// Two ways between the leaves, and a manager whose cable is pulled, so that it finds no third.
    private static final String TOPOLOGY = """
            switch leaf1 8
            switch leaf2 8
            switch spine1 4
            switch spine2 4
            hca m
            hca a
            hca b
            link m leaf1:1
            link a leaf1:2
            link b leaf2:1
            link leaf1:7 spine1:1
            link leaf1:8 spine2:1
            link leaf2:7 spine1:2
            link leaf2:8 spine2:2
            """;

    @TempDir
    private Path folder;

    @Test
    void aProgramMigratesAndItsConnectionOutlivesAPulledCable() throws Exception {
        Path place = folder.resolve("run").resolve("fabric");
        var fabric = new Fabric(TopologyText.parse(TOPOLOGY), System.nanoTime());
        fabric.manage(fabric.node("m"), ManagerOptions.DEFAULT.withLmc(1), 1);
        try (var programs = Programs.over("ib1 ib2").with("VERBENA_FABRIC", place.toString());
                var server = new FabricServer(place, fabric, _ -> "")) {
            String program = programs.compile(SOURCES.resolve("migration.c")).toString();
            var runner = new Thread(server::run, "fabric");
            runner.start();
            try {
                while (FabricPort.all(place).stream().anyMatch(port -> port.state() != ACTIVE)) {
                    Thread.onSpinWait();
                }
                var running = programs.start(program);
                int lid = awaitArmed(running);
                if (lid > 0) {
                    int inUse = fabric.node("leaf1").node().tables().port(lid + 1);
                    assertThat(FabricPort.setLink(place, "m", 1, false)).isEmpty();
                    assertThat(FabricPort.setLink(place, "leaf1", inUse, false)).isEmpty();
                }
                Ended ended = running.await();
                assertThat(ended.code()).as(ended.toString()).isZero();
            } finally {
                server.stop();
                runner.join();
            }
        }
    }

    /// The first LID of the adapter at the other leaf, when the program says that it is ready; 0 when it has ended.
    private static int awaitArmed(Programs.Running running) throws IOException, InterruptedException {
        while (!running.process().waitFor(10, TimeUnit.MILLISECONDS)) {
            Matcher said = ARMED.matcher(Files.readString(running.output()));
            if (said.find()) {
                return Integer.parseInt(said.group(2));
            }
        }
        return 0;
    }
}

package verbena.tools.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.manager.SubnetManager;
import verbena.subnet.topology.Topology;
import verbena.tools.Cli;

/// The command line of the fabric.
class FabricCommandTest {
    @TempDir
    private Path folder;

    @Test
    void theTableHasANodeAndItsCables() {
        var fabric = new Fabric(Topology.parse("switch s1 2\nhca a\nlink a s1:2\n"), 0);
        SubnetManager manager = fabric.manage(fabric.node("a"), ManagerOptions.DEFAULT, 1);
        while (!manager.isUp()) {
            boolean _ = fabric.step(0);
            fabric.onDeadline(0);
        }
        assertThat(FabricText.of(fabric, true)).isEqualTo("""
                s1  switch of 2 ports, lid 1
                    2 -> a:1              ACTIVE  sent 0 packets, received 0, dropped 0
                      lid 1 (s1) by port 0
                      lid 2 (a) by port 2
                a  ib0, lid 2, subnet manager MASTER, sweeps 1
                    1 -> s1:2             ACTIVE  sent 0 packets, received 0, dropped 0
                """);
        assertThat(FabricText.of(fabric, false)).doesNotContain("by port");
    }

    @Test
    void theOptionsOfTheManagerAreChecked() throws IOException {
        String file = Files.writeString(folder.resolve("t"), "switch s1\nhca a\nlink s1 a\n")
                .toString();
        Cli unknown = Cli.run("fabric", "up", "--manager", "x", file);
        assertThat(unknown.status()).isEqualTo(2);
        assertThat(unknown.err()).contains("--manager: there is no node x");
        assertThat(Cli.run("fabric", "up", "--manager", "a:16", file).err())
                .contains("--manager: priority: 0 to 15, got 16");
        assertThat(Cli.run("fabric", "up", "--manager", "a:b", file).err())
                .contains("a:b: a number has to follow the colon");
        assertThat(Cli.run("fabric", "up", "--no-manager", "--manager", "a", file)
                        .err())
                .contains("--manager and --no-manager: one of them");
        assertThat(Cli.run("fabric", "up", "--qp0", "some", file).err()).contains("--qp0: all, ask or none, got some");
        assertThat(Cli.run("fabric", "link", "a", "sideways").err()).contains("up or down, got sideways");
        assertThat(Cli.run("fabric", "link", "a:64", "down").err()).contains("port: 0 to 63, got 64");
    }

    @Test
    void aMistakeInTheFileIsNamedWithItsLine() throws IOException {
        Path file = Files.writeString(folder.resolve("t"), "switch s1\nlink s1 a\n");
        Cli cli = Cli.run("fabric", "up", file.toString());
        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.err()).contains("line 2: there is no node a before this line");
    }
}

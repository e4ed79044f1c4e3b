package verbena.tools.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.manager.Partition;
import verbena.subnet.manager.SubnetManager;
import verbena.subnet.topology.TopologyText;
import verbena.tools.Cli;

/// The command line of the fabric.
class FabricCommandTest {
    @TempDir
    private Path folder;

    @Test
    void theTableHasANodeAndItsCables() {
        var fabric = new Fabric(TopologyText.parse("switch s1 2\nhca a\nlink a s1:2\n"), 0);
        SubnetManager manager = fabric.manage(fabric.node("a"), ManagerOptions.DEFAULT, 1);
        while (!manager.isUp()) {
            boolean _ = fabric.step(0);
            fabric.onDeadline(0);
        }
        assertThat(FabricText.of(fabric, true)).isEqualTo("""
                s1  switch of 2 ports, lid 1
                    2 -> a:1              ACTIVE 4xEDR  sent 0 packets, received 0, dropped 0
                      lid 1 (s1) by port 0
                      lid 2 (a) by port 2
                a  ib0, lid 2, subnet manager MASTER, sweeps 1
                    1 -> s1:2             ACTIVE 4xEDR  sent 0 packets, received 0, dropped 0
                """);
        assertThat(FabricText.of(fabric, false)).doesNotContain("by port");
    }

    @Test
    void thePageDrawsEachNodeAndCableOnce() {
        String page = FabricPage.of("""
                s1  switch of 4 ports, lid 1
                    1 -> a:1              ACTIVE 4xEDR  sent 12 packets, received 7, dropped 1
                    2 -> s2:1             INIT   1xQDR  sent 0 packets, received 0, dropped 0
                      lid 3 (a) by port 1
                s2  switch of 4 ports, lid 2
                    1 -> s1:2             INIT   1xQDR  sent 0 packets, received 0, dropped 0
                alone  switch of 4 ports, lid 0
                a  ib0, lid 3, subnet manager MASTER, sweeps 1
                    1 -> s1:1             ACTIVE 4xEDR  sent 7 packets, received 12, dropped 0
                """, 5);
        assertThat(page).contains("3 switches, 1 adapters").contains("http-equiv=\"refresh\" content=\"5\"");
        assertThat(page.split("<line ", -1)).as("two cables").hasSize(3);
        assertThat(page.split("<rect ", -1)).as("four nodes").hasSize(5);
        assertThat(page)
                .contains("<title>a:1 – s1:1, ACTIVE, 4xEDR</title>")
                .contains("<title>s1:2 – s2:1, INIT, 1xQDR</title>")
                .contains("<td>12<td>7<td>1")
                .contains("<li>lid 3 (a) by port 1</li>");
        assertThat(FabricPage.of("<x>  switch of 1 ports, lid 1\n", 0))
                .contains("&lt;x&gt;")
                .doesNotContain("http-equiv=\"refresh\"");
    }

    @Test
    void partitionsAreReadWithTheirMembers() {
        var fabric = new Fabric(TopologyText.parse("hca a\nhca b\nlink a b\n"), 0);
        long a = fabric.node("a").node().port(1).guid();
        long b = fabric.node("b").node().port(1).guid();
        assertThat(PartitionText.read(
                        List.of("0x8011=a,b:limited", "0x7fff=all,b:limited"), fabric, new FabricUpCommand()))
                .containsExactly(
                        new Partition(0x7FFF, Map.of(b, false), true),
                        new Partition(0x11, Map.of(a, true, b, false), false));
        assertThat(PartitionText.read(List.of(), fabric, new FabricUpCommand())).containsExactly(Partition.DEFAULT);
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
        assertThat(partition(file, "0x11")).contains("--partition: PKEY=NODE[:limited],... expected, got 0x11");
        assertThat(partition(file, "0=a")).contains("a P_Key is 0x and 1 to 4 digits, got 0");
        assertThat(partition(file, "0x8000=a")).contains("--partition: 0x1 to 0x7fff, got 0x8000");
        assertThat(partition(file, "0x11=a:half")).contains("a member is NODE or NODE:limited, got a:half");
        assertThat(partition(file, "0x11=s1")).contains("--partition: there is no adapter s1");
        assertThat(Cli.run("fabric", "up", "--lmc", "8", file).err()).contains("--lmc: 0 to 7, got 8");
        assertThat(Cli.run("fabric", "show", "--every", "1").err()).contains("--every: for a page, by --html FILE");
        assertThat(Cli.run("fabric", "link", "a", "sideways").err()).contains("up or down, got sideways");
        assertThat(Cli.run("fabric", "link", "a:64", "down").err()).contains("port: 0 to 63, got 64");
    }

    private static String partition(String file, String partition) {
        return Cli.run("fabric", "up", "--partition", partition, file).err();
    }

    @Test
    void aMistakeInTheFileIsNamedWithItsLine() throws IOException {
        Path file = Files.writeString(folder.resolve("t"), "switch s1\nlink s1 a\n");
        Cli cli = Cli.run("fabric", "up", file.toString());
        assertThat(cli.status()).isEqualTo(1);
        assertThat(cli.err()).contains("line 2: there is no node a before this line");
    }
}

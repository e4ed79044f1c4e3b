package verbena.tools.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.manager.SubnetManager;
import verbena.subnet.topology.TopologyText;
import verbena.tools.NetworkNamespace;
import verbena.wire.Frame;
import verbena.wire.ib.Lrh;
import verbena.wire.ib.Vcrc;
import verbena.wire.pcap.CaptureReader;
import verbena.wire.pcap.CapturedPacket;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.ErfHeader;
import verbena.wire.pcap.LinkType;
import verbena.wire.pcap.Unwrapped;

/// What crosses the cables while a subnet comes up, as a file.
class FabricCaptureTest {
    private static final String TOPOLOGY = "switch s1\nswitch s2\nhca a\nhca b\nlink a s1\nlink b s2\nlink s1 s2\n";

    @TempDir
    private Path folder;

    private static void comeUp(Fabric fabric) {
        SubnetManager manager = fabric.manage(fabric.node("a"), ManagerOptions.DEFAULT, 1);
        while (!manager.isUp()) {
            boolean _ = fabric.step(0);
            fabric.onDeadline(0);
        }
    }

    @Test
    void everyPacketIsThereWithTheChecksumOfItsLink() throws Exception {
        var fabric = new Fabric(TopologyText.parse(TOPOLOGY), 0);
        Path file = folder.resolve("up.pcapng");
        var capture = new FabricCapture(fabric, file);
        try (capture) {
            comeUp(fabric);
        }
        int packets = 0;
        Set<Integer> lanes = new HashSet<>();
        var decoder = new Encapsulation();
        Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 8))[0];
        try (CaptureReader reader = CaptureReader.open(file)) {
            for (CapturedPacket packet = reader.next(); packet != null; packet = reader.next()) {
                packets++;
                assertThat(packet.linkType()).isEqualTo(LinkType.ERF);
                MemorySegment bytes = packet.bytes().asSlice(ErfHeader.BYTES);
                assertThat(decoder.unwrap(LinkType.INFINIBAND, bytes, frame)).isInstanceOf(Unwrapped.Roce.class);
                assertThat(decoder.unwrap(LinkType.ERF, packet.bytes(), frame)).isInstanceOf(Unwrapped.Roce.class);
                assertThat(frame.icrcValid).as("ICRC of packet " + packets).isTrue();
                lanes.add(Lrh.virtualLane(bytes, 0));
                assertThat(Vcrc.verify(bytes, 0, (int) bytes.byteSize() - Vcrc.BYTES))
                        .as("VCRC of packet " + packets)
                        .isTrue();
            }
        }
        assertThat(packets).isGreaterThan(50);
        assertThat(lanes).contains(15);
        assertThat(capture.summary()).isEqualTo("captured %,d packets in %s".formatted(packets, file));

        assumeTrue(isInstalled("tshark"), "tshark is not installed");
        assertThat(tshark(file, "-Y", "_ws.malformed || _ws.expert.severity == error"))
                .isBlank();
        String all = tshark(file, "-T", "fields", "-e", "frame.comment", "-e", "_ws.col.Info");
        assertThat(all.lines()).hasSize(packets);
        assertThat(all)
                .contains("a:1", "s1:", "s2:", "SubnGet(NodeInfo)", "SubnGetResp(NodeInfo)", "SubnSet(PortInfo)");
    }

    @Test
    void aFullFileSaysWhatItLacks() throws Exception {
        var fabric = new Fabric(TopologyText.parse(TOPOLOGY), 0);
        Path file = folder.resolve("full.pcapng");
        var capture = new FabricCapture(fabric, file, 10_000);
        try (capture) {
            comeUp(fabric);
        }
        assertThat(Files.size(file)).isBetween(10_000L, 10_500L);
        assertThat(capture.summary())
                .matches("captured [0-9]+ packets in .*, and [0-9,]+ more are not in it: it was full");
    }

    private static boolean isInstalled(String program) {
        return Stream.of(System.getenv("PATH").split(":", -1)).anyMatch(in -> Files.isExecutable(Path.of(in, program)));
    }

    private static String tshark(Path file, String... arguments) throws Exception {
        var command = new ArrayList<>(List.of("tshark", "-n", "-r", file.toString()));
        command.addAll(List.of(arguments));
        NetworkNamespace.Ended ended = NetworkNamespace.run(command);
        assertThat(ended.status()).as(ended.output()).isZero();
        return ended.output().replaceAll("(?m)^Running as user.*\\R", "");
    }
}

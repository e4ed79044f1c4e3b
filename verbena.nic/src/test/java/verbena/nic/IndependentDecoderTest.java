package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Link;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.udp.UdpLinks;
import verbena.nic.link.udp.UdpOptions;
import verbena.nic.roce.LinkDevice;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;
import verbena.wire.pcap.CaptureWriter;
import verbena.wire.pcap.Encapsulation;
import verbena.wire.pcap.LinkType;

/// All traffic of two devices over real sockets goes to tshark, which the authors of Verbena did not write.
class IndependentDecoderTest {
    /// The offset of the atomics' 8 bytes.
    private static final int WORD = 19_992;

    /// Records the packets that pass.
    private static final class CapturingLink extends ForwardingLink {
        private final CaptureWriter capture;
        private final Encapsulation encapsulation = new Encapsulation();
        private final MemorySegment scratch = Arena.ofAuto().allocate(Frame.SLOT_BYTES + 256);

        CapturingLink(Link link, CaptureWriter capture) {
            super(link);
            this.capture = capture;
        }

        @Override
        public int transmit(Frame[] frames, int from, int count) {
            int taken = link.transmit(frames, from, count);
            synchronized (capture) {
                for (int i = from; i < from + taken; i++) {
                    write(frames[i]);
                }
            }
            return taken;
        }

        private void write(Frame frame) {
            try {
                int length = Encapsulation.wrap(frame, encapsulation.envelope(frame), scratch);
                capture.write(System.nanoTime(), scratch.asSlice(0, length));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static Context open(CaptureWriter capture) {
        Link link = LoopbackAddress.claim(
                address -> UdpLinks.open(Interfaces.loopback().withOnly(address).gids(), 4791, UdpOptions.DEFAULT));
        return LinkDevice.open(
                "captured", new CapturingLink(link, capture), System::nanoTime, new SecureRandom(), true);
    }

    @Test
    void tsharkFindsNothingMalformedInWhatWeSend(@TempDir Path folder) throws Exception {
        assumeTrue(isInstalled("tshark"), "tshark is not installed");
        Path file = folder.resolve("sent.pcapng");
        int operations = 0;
        try (var capture = CaptureWriter.pcapng(Files.newOutputStream(file), LinkType.ETHERNET);
                var a = open(capture);
                var b = open(capture);
                var domainA = a.allocateProtectionDomain();
                var domainB = b.allocateProtectionDomain();
                var cqA = a.createCompletionQueue(64);
                var cqB = b.createCompletionQueue(64);
                var one = domainA.createQueuePair(QueuePairOptions.rc(cqA));
                var other = domainB.createQueuePair(QueuePairOptions.rc(cqB));
                var from = domainA.allocate(20_000, Access.remoteAll());
                var to = domainB.allocate(20_000, Access.remoteAll())) {
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            // tshark guesses the protocol of a payload by its first bytes: they must match none that it knows.
            from.segment().fill((byte) 0x55);
            var wc = new WorkCompletion();
            for (int bytes : new int[] {0, 1, 2, 3, 4_095, 4_096, 4_097, 19_999}) {
                other.postReceive(1, to.slice(0, 20_000));
                other.postReceive(2, to.slice(0, 20_000));
                try (var batch = one.sendBatch()) {
                    batch.sendWithImmediate(1, 7).sge(from, 0, bytes).solicited();
                    batch.writeWithImmediate(2, to.address(), to.rkey(), 8).sge(from, 0, bytes);
                    batch.write(3, to.address(), to.rkey()).sge(from, 0, bytes);
                    batch.read(4, to.address(), to.rkey()).sge(from, 0, bytes);
                    batch.fetchAdd(5, to.address() + WORD, to.rkey(), 1).sge(from, WORD, 8);
                    batch.compareSwap(6, to.address() + WORD, to.rkey(), 1, 2)
                            .sge(from, WORD, 8)
                            .signaled();
                    operations += batch.submit();
                }
                assertThat(cqA.await(wc, Duration.ofSeconds(20))).isTrue();
                assertThat(wc.ok()).as(wc.toString()).isTrue();
                assertThat(wc.wrId()).isEqualTo(6);
            }
        }

        String decoded = run(folder, "tshark", "-r", file.toString(), "-T", "fields", "-e", "infiniband.bth.opcode");
        assertThat(decoded.lines().filter(line -> !line.isBlank()).count())
                .as("packets that tshark knows as InfiniBand")
                .isGreaterThan(2L * operations);
        assertThat(decoded.lines()).as("packets that it does not").noneMatch(String::isBlank);
        assertThat(run(folder, "tshark", "-r", file.toString(), "-Y", "_ws.malformed || _ws.expert.severity == error"))
                .isBlank();
    }

    /// tshark 4.0 knows the opcodes of XRC, and shows the bytes after the BTH unparsed.
    @Test
    void tsharkFindsTheQueueInEachRequestOfAnExtendedConnection(@TempDir Path folder) throws Exception {
        assumeTrue(isInstalled("tshark"), "tshark is not installed");
        Path file = folder.resolve("xrc.pcapng");
        int number;
        try (var capture = CaptureWriter.pcapng(Files.newOutputStream(file), LinkType.ETHERNET);
                var a = open(capture);
                var b = open(capture);
                var domainA = a.allocateProtectionDomain();
                var domainB = b.allocateProtectionDomain();
                var cqA = a.createCompletionQueue(64);
                var cqB = b.createCompletionQueue(64);
                var xrc = b.openXrcDomain();
                var queue = xrc.createSharedReceiveQueue(domainB, cqB, 4, 1);
                var target = xrc.createTarget();
                var initiator = domainA.createQueuePair(QueuePairOptions.xrcInitiator(cqA));
                var from = domainA.allocate(20_000, Access.remoteAll());
                var to = domainB.allocate(20_000, Access.remoteAll())) {
            number = queue.number().orElseThrow();
            initiator.connect(target.endpoint());
            target.connect(initiator.endpoint());
            from.segment().fill((byte) 0x55);
            queue.postReceive(1, to.slice(0, 20_000));
            try (var batch = initiator.sendBatch()) {
                batch.send(1).to(number).sge(from, 0, 10_000);
                batch.write(3, to.address(), to.rkey()).to(number).sge(from, 0, 100);
                batch.read(4, to.address(), to.rkey()).to(number).sge(from, 0, 10_000);
                batch.fetchAdd(5, to.address() + WORD, to.rkey(), 1)
                        .to(number)
                        .sge(from, WORD, 8)
                        .signaled();
                batch.submit();
            }
            var wc = new WorkCompletion();
            assertThat(cqA.await(wc, Duration.ofSeconds(20))).isTrue();
            assertThat(wc.ok()).as(wc.toString()).isTrue();
        }
        String decoded = run(folder, "tshark", "-r", file.toString(), "-V");
        assertThat(decoded.lines().filter(line -> line.contains("Opcode: ")))
                .isNotEmpty()
                .allMatch(line -> line.contains("Extended Reliable Connection (XRC)"));
        assertThat(decoded.lines()
                        .filter(
                                line -> line.matches(
                                        ".*\\(XRC\\) - (SEND First|SEND Middle|SEND Last|RDMA WRITE Only|RDMA READ Request|FetchAdd) .*"))
                        .distinct())
                .hasSize(6);
        String named = "Data: 00%06x".formatted(number);
        for (String packet : decoded.split("\nFrame ", -1)) {
            boolean answers = packet.matches("(?s).*\\(XRC\\) - (Acknowledge|RDMA READ response|ATOMIC Ack).*");
            assertThat(packet.contains(named)).as(packet).isNotEqualTo(answers);
        }
    }

    private static boolean isInstalled(String program) {
        try {
            return new ProcessBuilder(program, "--version")
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException | InterruptedException e) {
            return false;
        }
    }

    private static String run(Path folder, String... command) throws Exception {
        Path output = folder.resolve("output");
        var process = new ProcessBuilder(command)
                .redirectOutput(output.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(process.waitFor()).as(String.join(" ", command)).isZero();
        return Files.readString(output, StandardCharsets.UTF_8);
    }
}

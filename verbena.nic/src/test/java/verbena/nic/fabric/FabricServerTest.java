package verbena.nic.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.LinkException;
import verbena.subnet.fabric.Fabric;
import verbena.subnet.manager.ManagerOptions;
import verbena.subnet.topology.TopologyText;
import verbena.wire.BigEndian;
import verbena.wire.ib.Lrh;
import verbena.wire.ib.Vcrc;
import verbena.wire.mad.Mad;
import verbena.wire.mad.NodeInfo;
import verbena.wire.mad.PortCounter;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.Smp;

/// Hostile processes of the same user (goal H1): the fabric goes on for all others.
@EnabledOnOs(value = OS.LINUX, disabledReason = "the fabric needs sockets of Linux")
@Timeout(120)
class FabricServerTest {
    private static final int TEXT_BYTES = 1 << 20;
    private static final int BYTES_MAX = 4_700;

    @TempDir
    private Path folder;

    private final Fabric fabric =
            new Fabric(TopologyText.parse("switch s\nhca a\nhca b\nlink a s\nlink b s\n"), System.nanoTime());
    private final Arena arena = Arena.ofShared();
    private final LinuxSockets linux = new LinuxSockets(arena);
    private final MemorySegment message = arena.allocate(BYTES_MAX, 8);
    private final List<Integer> open = new ArrayList<>();
    private FabricServer server;
    private Thread runner;

    private Path place() {
        return folder.resolve("run").resolve("fabric");
    }

    @BeforeEach
    void start() {
        fabric.manage(fabric.node("a"), ManagerOptions.DEFAULT, 1);
        server = new FabricServer(place(), fabric, _ -> "x".repeat(TEXT_BYTES));
        runner = new Thread(server::run, "fabric");
        runner.start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        server.stop();
        runner.join();
        server.close();
        open.forEach(LinuxSockets::close);
        arena.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "folder", "link"})
    void whatIsNoSocketStays(String kind) throws IOException {
        Path other = place().resolveSibling(kind);
        switch (kind) {
            case "file" -> Files.writeString(other, "precious");
            case "folder" -> Files.createDirectory(other);
            default -> Files.createSymbolicLink(other, place());
        }
        var another = new Fabric(TopologyText.parse("switch s\nhca a\nlink a s\n"), System.nanoTime());
        assertThatThrownBy(() -> new FabricServer(other, another, _ -> ""))
                .isInstanceOf(LinkException.class)
                .hasMessageContaining(kind.equals("link") ? "there is a fabric already" : "is no socket");
        assertThat(other).exists();
    }

    @Test
    void whatHasTakenThePlaceOfTheSocketStays() throws IOException {
        Path place = place().resolveSibling("second");
        var another = new Fabric(TopologyText.parse("switch s\nhca a\nlink a s\n"), System.nanoTime());
        var second = new FabricServer(place, another, _ -> "");
        Files.delete(place);
        Files.writeString(place, "precious");
        second.close();
        assertThat(place).hasContent("precious");
    }

    private int connect() {
        int fd = FabricSocket.connect(linux, place());
        assertThat(fd).isNotNegative();
        open.add(fd);
        return fd;
    }

    private int attach(int adapter) {
        int fd = connect();
        assertThat(FabricSocket.ask(fd, message, FabricSocket.ATTACH, adapter, ""))
                .isTrue();
        FabricPort port = FabricPort.answer(fd, message);
        assertThat(port).isNotNull();
        assertThat(port.isInUse()).isFalse();
        return fd;
    }

    /// Both ports are active, so manager, agents and server are at work.
    private void assertServes() {
        while (!FabricPort.all(place()).stream()
                .map(FabricPort::state)
                .toList()
                .equals(List.of(PortInfo.ACTIVE, PortInfo.ACTIVE))) {
            Thread.onSpinWait();
        }
    }

    private void send(int fd, long bytes) {
        while (!LinuxSockets.send(fd, message.asSlice(0, bytes))) {
            Thread.onSpinWait(); // the server reads on
        }
    }

    @Test
    void anyMessageIsCountedAndDropped() throws InterruptedException {
        assertServes();
        int fd = attach(1);
        var random = new Random(Long.getLong("verbena.seed", 1L));
        int sent = Boolean.getBoolean("verbena.deep") ? 1_000_000 : 20_000;
        for (int i = 0; i < sent; i++) {
            int bytes = 1 + random.nextInt(random.nextBoolean() ? 64 : BYTES_MAX);
            for (int at = 0; at < Math.min(bytes, 80); at++) {
                message.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
            }
            if (random.nextInt(4) == 0) {
                message.set(ValueLayout.JAVA_BYTE, 0, (byte) FabricSocket.CONTROL);
                int kind = random.nextInt(256);
                boolean isMeant = kind >= FabricSocket.DOWN && kind <= FabricSocket.LINK_UP;
                message.set(ValueLayout.JAVA_BYTE, 1, (byte) (isMeant ? 0 : kind));
            }
            send(fd, bytes);
        }
        assertServes();
        server.stop();
        runner.join();
        assertThat(server.malformed()).isGreaterThan(sent / 2);
    }

    /// Its CRC is right, but its header says another length, another sender, or a lane that hosts do not have.
    @Test
    void aPacketWhoseHeaderLiesDoesNotLeave() throws InterruptedException {
        assertServes();
        int fd = attach(1);
        int lid = fabric.adapters().get(1).lid();
        int[][] lies = {{0, 40, lid}, {0, 2_047, lid}, {0, 0, lid}, {0, 16, lid + 1}, {15, 16, lid}, {0, 16, 0}};
        for (int[] lie : lies) {
            message.fill((byte) 0);
            Lrh.write(
                    message,
                    0,
                    lie[0],
                    0,
                    Lrh.NEXT_BTH,
                    fabric.adapters().getFirst().lid(),
                    lie[1],
                    lie[2]);
            Vcrc.seal(message, 0, 64);
            send(fd, 64 + Vcrc.BYTES);
        }
        assertServes();
        server.stop();
        runner.join();
        assertThat(server.malformed()).as("wrong lengths").isEqualTo(3);
        var port = fabric.adapters().get(1).info();
        assertThat(port.count(PortCounter.TRANSMIT_DISCARDS)).as("others").isEqualTo(3);
        assertThat(port.count(PortCounter.TRANSMIT_PACKETS)).isZero();
    }

    @Test
    void aProcessThatNeverReadsHoldsUpNobodyElse() {
        assertServes();
        for (int i = 0; i < 50; i++) {
            assertThat(FabricSocket.ask(connect(), message, FabricSocket.SHOW, 0, ""))
                    .isTrue();
        }
        int fd = attach(1);
        for (int i = 0; i < 20_000; i++) {
            // It is told of its port each time, and does not listen.
            if (!FabricSocket.ask(fd, message, FabricSocket.QUERY, 0, "")) {
                Thread.onSpinWait();
            }
        }
        assertServes();
        assertThat(FabricPort.describe(place(), false)).hasSize(TEXT_BYTES);
    }

    /// Opens the management queue pairs of an adapter; its token is returned.
    private long openPort(int fd, int adapter) {
        assertThat(FabricSocket.ask(fd, message, FabricSocket.OPEN_PORT, adapter, ""))
                .isTrue();
        assertThat(FabricPort.await(fd, message)).isEqualTo(FabricSocket.OPENED_BYTES);
        assertThat(BigEndian.u8(message, FabricSocket.STATUS)).isEqualTo(FabricSocket.OK);
        return BigEndian.i64(message, FabricSocket.TOKEN);
    }

    private int register(long token, int agent, int managementClass) {
        int fd = connect();
        MemorySegment ask = message.asSlice(0, FabricSocket.REGISTER_BYTES).fill((byte) 0);
        BigEndian.put8(ask, 0, FabricSocket.CONTROL);
        BigEndian.put8(ask, 1, FabricSocket.REGISTER);
        BigEndian.put32(ask, FabricSocket.AGENT, agent);
        BigEndian.put64(ask, FabricSocket.TOKEN, token);
        BigEndian.put8(ask, FabricSocket.SPEC_CLASS, managementClass);
        BigEndian.put8(ask, FabricSocket.SPEC_VERSION, 1);
        send(fd, FabricSocket.REGISTER_BYTES);
        assertThat(FabricPort.await(fd, message)).isEqualTo(FabricSocket.OPENED_BYTES);
        return BigEndian.u8(message, FabricSocket.STATUS);
    }

    /// A datagram behind a `struct ib_user_mad`, to LID 1.
    private void query(int fd, int agent, int transaction) {
        message.fill((byte) 0);
        message.set(ValueLayout.JAVA_INT, 0, agent);
        message.set(ValueLayout.JAVA_INT, 8, 1_000);
        BigEndian.put16(message, 28, 1);
        MemorySegment mad = message.asSlice(ProgramPort.HEADER_BYTES, Mad.BYTES);
        Smp.writeByLid(mad, Mad.METHOD_GET, transaction, NodeInfo.ATTRIBUTE, 0, 0);
        send(fd, ProgramPort.HEADER_BYTES + Mad.BYTES);
    }

    @Test
    void aProgramAsksAtQueuePair0AndIsAnswered() {
        assertServes();
        int fd = connect();
        long token = openPort(fd, 1);
        assertThat(register(token, 5, Mad.CLASS_SUBNET_LID)).isZero();
        assertThat(register(token, 5, Mad.CLASS_SUBNET_LID))
                .as("the number is taken")
                .isEqualTo(22);
        assertThat(register(token + 1, 6, Mad.CLASS_SUBNET_LID))
                .as("of no program")
                .isEqualTo(22);
        query(fd, 5, 77);
        assertThat(FabricPort.await(fd, message)).isEqualTo(ProgramPort.HEADER_BYTES + Mad.BYTES);
        MemorySegment mad = message.asSlice(ProgramPort.HEADER_BYTES, Mad.BYTES);
        assertThat(message.get(ValueLayout.JAVA_INT, 0)).as("its agent").isEqualTo(5);
        assertThat(message.get(ValueLayout.JAVA_INT, 4)).as("status").isZero();
        assertThat(BigEndian.u16(message, 28)).as("who answers").isEqualTo(1);
        assertThat((int) Mad.transactionId(mad)).isEqualTo(77);
        assertThat(NodeInfo.NODE_TYPE.getInt(Smp.data(mad))).isEqualTo(NodeInfo.SWITCH);
    }

    /// Goal H1, of programs at queue pairs 0 and 1.
    @Test
    void anyMessageOfAProgramHarmsNothing() {
        assertServes();
        int fd = connect();
        long token = openPort(fd, 1);
        assertThat(register(token, 0, Mad.CLASS_SUBNET_ADMINISTRATION)).isZero();
        var random = new Random(Long.getLong("verbena.seed", 1L));
        for (int i = 0; i < 5_000; i++) {
            int bytes = 1 + random.nextInt(2 * Mad.BYTES);
            for (int at = 0; at < bytes; at++) {
                message.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
            }
            message.set(ValueLayout.JAVA_INT, 0, random.nextInt(3) - 1);
            send(fd, bytes);
        }
        assertServes();
        int other = connect();
        assertThat(register(openPort(other, 1), 0, Mad.CLASS_SUBNET_LID)).isZero();
        query(other, 0, 1);
        assertThat(FabricPort.await(other, message)).isEqualTo(ProgramPort.HEADER_BYTES + Mad.BYTES);
    }
}

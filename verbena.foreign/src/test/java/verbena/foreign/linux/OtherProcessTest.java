package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.SystemFunction;

/// With a child process, which serves all tests and is ended by the last of them.
@EnabledOnOs(value = OS.LINUX, disabledReason = "system calls of Linux")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class OtherProcessTest {
    private static final int BYTES = 10_000;

    private static Process child;
    private static BufferedReader answers;
    private static long address;
    private static long mark;

    private final Arena arena = Arena.ofConfined();
    private final OtherProcess other = new OtherProcess(arena);

    /// The child: tells the address of its memory, and does what it is told.
    public static final class Child {
        private static final int PR_SET_DUMPABLE = 4;

        private Child() {}

        public static void main(String[] args) throws IOException {
            MemorySegment memory = Arena.global().allocate(BYTES, 4_096);
            memory.setString(0, "of the child");
            IO.println(memory.address());
            IO.println(ProcessMark.address());
            try (var orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                    switch (order) {
                        case "show" -> IO.println(memory.getString(0));
                        case "last" -> IO.println(memory.getString(BYTES - 16));
                        case "hide" -> IO.println(SystemFunction.named("prctl").call(PR_SET_DUMPABLE, 0));
                        default -> throw new AssertionError(order);
                    }
                }
            }
        }
    }

    @BeforeAll
    static void start() throws IOException {
        child = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        placeOf(Child.class) + File.pathSeparator + placeOf(SystemFunction.class),
                        Child.class.getName()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        answers = child.inputReader(StandardCharsets.UTF_8);
        address = Long.parseLong(answers.readLine());
        mark = Long.parseLong(answers.readLine());
        assertThat(mark).isPositive().isNotEqualTo(ProcessMark.address());
    }

    private static String placeOf(Class<?> type) {
        return Path.of(URI.create(
                        type.getProtectionDomain().getCodeSource().getLocation().toString()))
                .toString();
    }

    @AfterAll
    static void end() throws IOException {
        child.destroyForcibly();
        answers.close();
    }

    @AfterEach
    void close() {
        arena.close();
    }

    private static int pid() {
        return (int) child.pid();
    }

    private static String ask(String order) throws IOException {
        child.outputWriter(StandardCharsets.UTF_8).append(order).append('\n').flush();
        return answers.readLine();
    }

    private long read(long at, MemorySegment into) {
        other.add(into, 0, into.byteSize());
        return other.read(pid(), mark, at);
    }

    private long write(long at, MemorySegment from) {
        other.add(from, 0, from.byteSize());
        return other.write(pid(), mark, at);
    }

    private static void assumeAllowed(long copied) {
        assumeTrue(copied != -LinuxAbi.EPERM && copied != -LinuxAbi.ENOSYS, "the kernel forbids it: error " + -copied);
    }

    @Test
    @Order(1)
    void memoryOfTheOtherIsReadAndWritten() throws IOException {
        MemorySegment memory = arena.allocate(BYTES);
        long read = read(address, memory);
        assumeAllowed(read);
        assertThat(read).isEqualTo(BYTES);
        assertThat(memory.getString(0)).isEqualTo("of the child");

        memory.setString(0, "of the parent");
        assertThat(write(address, memory.asSlice(0, 14))).isEqualTo(14);
        assertThat(ask("show")).isEqualTo("of the parent");
        memory.fill((byte) 'x').setString(BYTES - 16, "the last");
        assertThat(write(address, memory)).isEqualTo(BYTES);
        assertThat(ask("last")).isEqualTo("the last");
        memory.setString(0, "o");
        assertThat(write(address, memory.asSlice(0, 2))).isEqualTo(2);
        assertThat(ask("show")).isEqualTo("o");
    }

    @Test
    @Order(1)
    void severalPiecesAreOneMessage() throws IOException {
        MemorySegment memory = arena.allocate(100);
        memory.setString(0, "first second third ");
        other.add(memory, 0, 6);
        other.add(arena.allocateFrom("next "), 0, 5);
        other.add(memory, 13, 7);
        long written = other.write(pid(), mark, address);
        assumeAllowed(written);
        assertThat(written).isEqualTo(18);
        assertThat(ask("show")).isEqualTo("first next third ");
        MemorySegment back = arena.allocate(100);
        other.add(back, 50, 6);
        other.add(back, 0, 12);
        assertThat(other.read(pid(), mark, address)).isEqualTo(18);
        assertThat(back.getString(0)).isEqualTo("next third ");
        assertThat(back.getString(50)).isEqualTo("first ");
    }

    @Test
    @Order(2)
    void whereTheOtherHasNoMemoryNothingIsCopied() {
        MemorySegment memory = arena.allocate(16);
        assumeAllowed(read(address, memory));
        memory.fill((byte) 7);
        assertThat(read(16, memory)).isZero();
        assertThat(write(16, memory)).isZero();
        assertThat(read(-16, memory)).isZero();
        assertThat(memory.get(JAVA_BYTE, 15)).isEqualTo((byte) 7);
        assertThatThrownBy(() -> read(address, MemorySegment.ofArray(new byte[8])))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("add: memory: native");
        assertThatThrownBy(() -> other.add(memory, 9, 8)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    /// As a later process with the same number has none, and a child of the process.
    @Test
    @Order(2)
    void ofAProcessWithoutTheMarkNothingIsCopied() throws IOException {
        MemorySegment memory = arena.allocateFrom("of no process");
        assumeAllowed(write(address, memory));
        assertThat(ask("show")).isEqualTo("of no process");
        memory.setString(0, "of another");
        other.add(memory, 0, 11);
        assertThat(other.write(pid(), mark + (1 << 20), address)).isEqualTo(-LinuxAbi.EFAULT);
        other.add(memory, 0, 11);
        assertThat(other.read(pid(), mark + (1 << 20), address)).isEqualTo(-LinuxAbi.EFAULT);
        assertThat(ask("show")).isEqualTo("of no process");
        assertThat(memory.getString(0)).isEqualTo("of another");
        int own = (int) ProcessHandle.current().pid();
        other.add(memory, 0, 11);
        assertThat(other.write(own, mark, memory.address())).isEqualTo(-LinuxAbi.EFAULT);
        assertThat(Path.of("/proc/self/smaps")).content().contains(Long.toHexString(ProcessMark.address()));
    }

    @Test
    @Order(2)
    void memoryOfAnArenaThatIsClosedIsNotTouched() {
        MemorySegment memory;
        try (Arena closing = Arena.ofConfined()) {
            memory = closing.allocate(16);
        }
        assertThatThrownBy(() -> read(address, memory)).isInstanceOf(IllegalStateException.class);
        MemorySegment living = arena.allocate(16);
        long read = read(address, living);
        assumeAllowed(read);
        assertThat(read).as("forgotten").isEqualTo(16);
    }

    /// The child asks the kernel to protect it (prctl(2): PR_SET_DUMPABLE), and the thread here gives up the
    /// capabilities that it has when root runs the tests.
    @Test
    @Order(3)
    void whatTheKernelForbidsIsSaid() throws Exception {
        assertThat(ask("hide")).isEqualTo("0");
        var task = new FutureTask<>(() -> {
            dropCapabilities();
            try (Arena scratch = Arena.ofConfined()) {
                var copier = new OtherProcess(scratch);
                MemorySegment memory = scratch.allocate(16);
                copier.add(memory, 0, 16);
                long read = copier.read(pid(), mark, address);
                copier.add(memory, 0, 16);
                return List.of(read, copier.write(pid(), mark, address));
            }
        });
        Thread.ofPlatform().start(task);
        assertThat(task.get()).containsExactly(-(long) LinuxAbi.EPERM, -(long) LinuxAbi.EPERM);
        assertThat(ask("show")).startsWith("of ");
    }

    /// Those of the calling thread alone (capset(2)).
    private static void dropCapabilities() {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment header = scratch.allocate(JAVA_INT, 2);
            header.set(JAVA_INT, 0, 0x2008_0522); // the version whose sets have 64 bits
            MemorySegment sets = scratch.allocate(JAVA_INT, 6);
            assertThat(SystemFunction.named("capset").call(header.address(), sets.address()))
                    .isZero();
        }
    }

    @Test
    @Order(4)
    void theEndOfTheOtherIsTold() throws Exception {
        child.destroyForcibly();
        child.waitFor();
        MemorySegment memory = arena.allocate(16);
        assertThat(read(address, memory)).isEqualTo(-LinuxAbi.ESRCH);
        assertThat(write(address, memory)).isEqualTo(-LinuxAbi.ESRCH);
    }
}

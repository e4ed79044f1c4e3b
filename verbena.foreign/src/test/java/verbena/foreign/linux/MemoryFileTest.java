package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.MemoryFile.Mapping;

@EnabledOnOs(value = OS.LINUX, disabledReason = "memory files are Linux's")
class MemoryFileTest {
    private static final int O_RDWR = 2;
    private static final int MFD_HUGETLB = 4;
    private static final int MFD_HUGE_2MB = 21 << 26;

    private final Arena ours = Arena.ofShared();
    private final Arena theirs = Arena.ofShared();
    private final MemorySegment state = theirs.allocate(Linker.Option.captureStateLayout());

    @BeforeEach
    void isThere() {
        String unavailable = MemoryFile.unavailable();
        assumeTrue(unavailable == null, unavailable);
    }

    @AfterEach
    void close() {
        if (ours.scope().isAlive()) {
            ours.close();
        }
        theirs.close();
    }

    @Test
    void aPeerThatMayWriteSeesTheSameMemory() throws IOException {
        MemoryFile file = MemoryFile.create("verbena-test", 10_000, true, ours);
        assertThat(file.bytes()).isEqualTo(10_000);
        assertThat(file.isWritable()).isTrue();
        assertThat(file.memory().mismatch(MemorySegment.ofArray(new byte[10_000])))
                .isEqualTo(-1);
        MemorySegment peer = mapped(file, 10_000, true);

        file.memory().set(JAVA_LONG, 8, 42);
        assertThat(peer.get(JAVA_LONG, 8)).isEqualTo(42);
        peer.set(JAVA_BYTE, 9_999, (byte) 7);
        assertThat(file.memory().get(JAVA_BYTE, 9_999)).isEqualTo((byte) 7);
    }

    @Test
    void aPeerThatMayOnlyReadCannotMapItWritable() throws IOException {
        MemoryFile file = MemoryFile.create("verbena-test", 4_096, false, ours);
        assertThat(file.isWritable()).isFalse();
        MemorySegment peer = mapped(file, 4_096, false);
        file.memory().set(JAVA_LONG, 0, 42);
        assertThat(peer.get(JAVA_LONG, 0)).isEqualTo(42);
        assertThat(peer.isReadOnly()).isTrue();

        int fd = file.share();
        Mapping refused = MemoryFile.map(fd, 4_096, true, theirs);
        LinuxSockets.close(fd);
        assertThat(refused.memory()).isEqualTo(MemorySegment.NULL);
        assertThat(refused.refusal()).startsWith("mmap for writing: ").contains("errno");
    }

    /// A process of the same user may open what another's descriptor names; the seal holds there too.
    @Test
    void aHostilePeerThatOpensTheFileAnewCannotWriteEither() throws IOException {
        assumeTrue(kernelIsAtLeast(5, 1), "the kernel has no seal against future writing");
        MemoryFile file = MemoryFile.create("verbena-test", 4_096, false, ours);
        int fd = file.share();
        int again = openForWriting(fd);
        LinuxSockets.close(fd);
        assertThat(again).isPositive();

        assertThat(MemoryFile.map(again, 4_096, true, theirs).refusal()).startsWith("mmap for writing: ");
        MemorySegment bytes = theirs.allocate(8);
        assertThat(call("write", again, bytes.address(), 8)).isEqualTo(-LinuxAbi.EPERM);
        LinuxSockets.close(again);
    }

    @Test
    void withoutProcTheSealAloneProtects() throws IOException {
        assumeTrue(kernelIsAtLeast(5, 1), "the kernel has no seal against future writing");
        MemoryFile file = MemoryFile.create("verbena-test", 4_096, false, ours);
        int fd = file.share("/proc/nowhere/");
        assertThat(MemoryFile.map(fd, 4_096, true, theirs).refusal()).startsWith("mmap for writing: ");
        assertThat(MemoryFile.map(fd, 4_096, false, theirs).refusal()).isNull();
        LinuxSockets.close(fd);
    }

    @Test
    void noPeerChangesItsSizeOrItsSeals() throws IOException {
        MemoryFile file = MemoryFile.create("verbena-test", 4_096, true, ours);
        int fd = file.share();
        assertThat(call("ftruncate", fd, 0, 0)).isEqualTo(-LinuxAbi.EPERM);
        assertThat(call("ftruncate", fd, 8_192, 0)).isEqualTo(-LinuxAbi.EPERM);
        assertThat(call("fcntl", fd, LinuxAbi.F_ADD_SEALS, 8)).isEqualTo(-LinuxAbi.EPERM);
        LinuxSockets.close(fd);
    }

    @Test
    void theArenaEndsMappingAndDescriptor() throws IOException {
        MemoryFile file = MemoryFile.create("verbena-arena", 4_096, true, ours);
        MemorySegment peer = mapped(file, 4_096, true);
        file.memory().set(JAVA_LONG, 0, 42);
        assertThat(mappings("verbena-arena")).isEqualTo(2);
        assertThat(descriptors("verbena-arena")).isEqualTo(1);

        ours.close();
        assertThatThrownBy(() -> file.memory().get(JAVA_LONG, 0)).isInstanceOf(IllegalStateException.class);
        assertThat(file.share()).isEqualTo(-LinuxAbi.EBADF);
        assertThat(mappings("verbena-arena")).isEqualTo(1);
        assertThat(descriptors("verbena-arena")).isZero();
        assertThat(peer.get(JAVA_LONG, 0)).isEqualTo(42);
        file.close();
    }

    @Test
    void aClosedFileIsSharedNoMoreAndItsMemoryStays() throws IOException {
        MemoryFile file = MemoryFile.create("verbena-closed", 4_096, true, ours);
        file.close();
        file.close();
        assertThat(descriptors("verbena-closed")).isZero();
        assertThat(file.share()).isEqualTo(-LinuxAbi.EBADF);
        file.memory().set(JAVA_LONG, 0, 1);
    }

    @Test
    void whatAPeerCouldTruncateIsRefused(@TempDir Path folder) throws IOException {
        assertRefused(memfd(LinuxAbi.MFD_ALLOW_SEALING, 4_096), "the memory file is not sealed against truncation");
        assertRefused(memfd(0, 4_096), "the memory file is not sealed against truncation");

        Path path = Files.write(folder.resolve("file"), new byte[4_096]);
        int fd = call("open", theirs.allocateFrom(path.toString()).address(), O_RDWR, 0);
        Mapping mapping = MemoryFile.map(fd, 4_096, true, theirs);
        LinuxSockets.close(fd);
        assertThat(mapping.refusal()).isNotNull(); // the folder may lie in memory, where files have seals
    }

    @Test
    void whatIsNoFileIsRefused() {
        assertRefused(new LinuxSockets(theirs).eventCounter(), "no memory file: Invalid argument, errno 22");
        assertThat(MemoryFile.map(-1, 4_096, true, theirs).refusal())
                .isEqualTo("no memory file: Bad file descriptor, errno 9");
    }

    @Test
    void aFileThatIsTooSmallIsRefused() throws IOException {
        MemoryFile file = MemoryFile.create("verbena-test", 4_096, true, ours);
        int fd = file.share();
        assertThat(MemoryFile.map(fd, 4_097, true, theirs).refusal())
                .isEqualTo("the memory file has 4096 bytes, wanted are 4097");
        for (long bytes : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertThat(MemoryFile.map(fd, bytes, true, theirs).refusal())
                    .isEqualTo("the memory file has 4096 bytes, wanted are " + bytes);
        }
        assertThat(MemoryFile.map(fd, 1, true, theirs).memory().byteSize()).isEqualTo(1);
        LinuxSockets.close(fd);
    }

    /// An access to a huge page that the system does not have ends a process by SIGBUS.
    @Test
    void aFileOfHugePagesIsRefused() {
        int fd = memfd(LinuxAbi.MFD_ALLOW_SEALING | MFD_HUGETLB | MFD_HUGE_2MB, 2 << 20);
        assumeTrue(fd >= 0, "no files of huge pages here: error " + -fd);
        assertThat(call("fcntl", fd, LinuxAbi.F_ADD_SEALS, LinuxAbi.F_SEAL_SHRINK))
                .isZero();
        assertRefused(fd, "no memory file of ordinary pages");
    }

    @Test
    void whatTheKernelRefusesIsSaidAndLeavesNothing() throws IOException {
        assertThatThrownBy(() -> MemoryFile.create("verbena-refused", Long.MAX_VALUE, true, ours))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("memory file of 9223372036854775807 bytes: ")
                .hasMessageContaining("errno");
        assertThat(descriptors("verbena-refused")).isZero();
        assertThatThrownBy(() -> MemoryFile.create("verbena-refused", 0, true, ours))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("create: bytes: at least 1, got 0");
    }

    private MemorySegment mapped(MemoryFile file, long bytes, boolean writable) {
        int fd = file.share();
        Mapping mapping = MemoryFile.map(fd, bytes, writable, theirs);
        LinuxSockets.close(fd);
        assertThat(mapping.refusal()).isNull();
        return mapping.memory();
    }

    private void assertRefused(int fd, String why) {
        Mapping mapping = MemoryFile.map(fd, 4_096, true, theirs);
        LinuxSockets.close(fd);
        assertThat(mapping.refusal()).isEqualTo(why);
        assertThat(mapping.memory()).isEqualTo(MemorySegment.NULL);
    }

    /// One that is not sealed.
    private int memfd(int flags, long bytes) {
        int fd = call("memfd_create", theirs.allocateFrom("hostile").address(), flags, 0);
        if (fd >= 0) {
            assertThat(call("ftruncate", fd, bytes, 0)).isZero();
        }
        return fd;
    }

    private int openForWriting(int fd) {
        MemorySegment path = theirs.allocateFrom("/proc/self/fd/" + fd);
        return call("open", path.address(), O_RDWR | LinuxAbi.O_CLOEXEC, 0);
    }

    private int call(String function, long a, long b, long c) {
        return SystemFunction.named(function).tryCall(state, a, b, c);
    }

    private static boolean kernelIsAtLeast(int major, int minor) {
        String[] parts = System.getProperty("os.version").split("\\D+", 3);
        int ours = Integer.parseInt(parts[0]);
        return ours > major || (ours == major && Integer.parseInt(parts[1]) >= minor);
    }

    private static long mappings(String name) throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("/memfd:" + name)).count();
        }
    }

    private static long descriptors(String name) throws IOException {
        long count = 0;
        try (var list = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path each : list) {
                count += Files.exists(each, LinkOption.NOFOLLOW_LINKS)
                                && Files.readSymbolicLink(each).toString().contains("/memfd:" + name)
                        ? 1
                        : 0;
            }
        }
        return count;
    }
}

package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.linux.LinuxSockets;

/// Names of sockets, which the garbage collector may free as soon as nothing uses them.
@EnabledOnOs(value = OS.LINUX, disabledReason = "abstract sockets")
@Timeout(300)
class CollectedNamesTest {
    /// The deep run has met the fault ten times in 730,000 names.
    private static final int NAMES = Boolean.getBoolean("verbena.deep") ? 700_000 : 5_000;

    private static final int BYTES = 64;

    @Test
    void aNameIsThereWhileTheKernelReadsIt() throws Exception {
        var isOver = new AtomicBoolean();
        Thread collector = begin(isOver, System::gc);
        Thread user = begin(isOver, CollectedNamesTest::useFreedMemory);
        try (var arena = Arena.ofConfined()) {
            var linux = new LinuxSockets(arena);
            for (int i = 0; i < NAMES; i++) {
                int fd = linux.localSocket();
                int result = bind(
                        linux,
                        fd,
                        "verbena/collected/" + ProcessHandle.current().pid());
                LinuxSockets.close(fd);
                assertThat(result).as("after %d names", i).isZero();
            }
        } finally {
            isOver.set(true);
            collector.join();
            user.join();
        }
    }

    /// Binds by memory that has no other use.
    private static int bind(LinuxSockets linux, int fd, String name) {
        return linux.bind(fd, PeerSockets.address(name));
    }

    private static Thread begin(AtomicBoolean isOver, Runnable turn) {
        return Thread.ofPlatform().daemon().start(() -> {
            while (!isOver.get()) {
                turn.run();
            }
        });
    }

    private static void useFreedMemory() {
        try (var arena = Arena.ofConfined()) {
            for (int i = 0; i < BYTES; i++) {
                var _ = arena.allocate(BYTES / 2 + i % 8, 8).fill((byte) i);
            }
        }
    }
}

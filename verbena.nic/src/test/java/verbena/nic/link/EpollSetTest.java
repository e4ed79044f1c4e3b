package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;

@EnabledOnOs(value = OS.LINUX, disabledReason = "Linux system calls")
class EpollSetTest {
    private final Arena arena = Arena.ofConfined();
    private final LinuxSockets linux = new LinuxSockets(arena);
    private final EpollSet<String> set = new EpollSet<>(linux, arena, 4);
    private final MemorySegment one = arena.allocate(JAVA_LONG);
    private final Set<Integer> opened = new HashSet<>();

    EpollSetTest() {
        one.set(JAVA_LONG, 0, 1);
    }

    @AfterEach
    void close() {
        opened.forEach(LinuxSockets::close);
        set.close();
        arena.close();
    }

    private int readable() {
        int fd = linux.eventCounter();
        opened.add(fd);
        LinuxSockets.addToEventCounter(fd, one);
        return fd;
    }

    private List<String> owners() {
        var owners = new ArrayList<String>();
        int ready = set.ready();
        for (int i = 0; i < ready; i++) {
            owners.add(set.owner(i));
        }
        return owners;
    }

    @Test
    void aReadyDescriptorIsToldWithItsOwner() {
        set.add(readable(), "first", LinuxAbi.EPOLLIN);
        int second = set.add(readable(), "second", LinuxAbi.EPOLLIN);
        assertThat(owners()).containsExactlyInAnyOrder("first", "second");
        set.change(second, 0);
        assertThat(owners()).containsExactly("first");
    }

    /// The second descriptor was closed by the event of the first, and its number was used again.
    @Test
    void anEventOfAnEarlierUseOfANumberFindsNothing() {
        int fd = readable();
        int number = set.add(fd, "old", LinuxAbi.EPOLLIN);
        assertThat(set.ready()).isEqualTo(1);
        set.remove(number);
        assertThat(set.owner(0)).as("removed").isNull();
        opened.remove(fd);
        LinuxSockets.close(fd);
        assertThat(set.add(readable(), "new", LinuxAbi.EPOLLIN)).isEqualTo(number);
        assertThat(set.owner(0)).as("the number is used again").isNull();
        assertThat(owners()).containsExactly("new");
    }

    @Test
    void aDescriptorThatCannotBeWatchedLeavesNoEntry() {
        assertThat(set.add(-1, "none", LinuxAbi.EPOLLIN)).isNegative();
        var all = new ArrayList<String>();
        set.forEach(all::add);
        assertThat(all).isEmpty();
        assertThat(set.add(readable(), "one", LinuxAbi.EPOLLIN)).isZero();
    }
}

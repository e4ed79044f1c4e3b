package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi.EpollEvent;
import verbena.foreign.linux.LinuxSockets;

/// The descriptors that are watched together (epoll(7)), each with the object that owns it.
///
/// The kernel reports the number of a descriptor's entry. Numbers are used again, so each use has a stamp: an event
/// of an earlier use matches no entry.
///
/// For one thread at a time; another thread may poll [#fd()].
public final class EpollSet<T> {
    private final LinuxSockets linux;
    private final int fd;
    private final int eventsMax;
    private final List<@Nullable Entry<T>> entries = new ArrayList<>();
    private final ArrayDeque<Integer> freeNumbers = new ArrayDeque<>();
    private int stamps;
    private final MemorySegment event;
    private final MemorySegment events;

    private record Entry<T>(int fd, int stamp, T owner) {}

    /// @param arena to be closed after this
    /// @param eventsMax how many descriptors one [#ready()] reports; the next call begins with the others
    public EpollSet(LinuxSockets linux, Arena arena, int eventsMax) {
        this.linux = linux;
        this.eventsMax = eventsMax;
        event = arena.allocate(EpollEvent.BYTES, 8);
        events = arena.allocate((long) eventsMax * EpollEvent.BYTES, 8);
        fd = linux.watcher();
    }

    /// Returns the descriptor to poll: readable when [#ready()] has something to report. Negative, the system's
    /// error, if there is none.
    public int fd() {
        return fd;
    }

    /// Adds a descriptor; returns the number of its entry, or the system's negated error. Closing the descriptor
    /// removes it from the set, and [#remove(int)] removes its entry.
    ///
    /// @param wanted the events to report
    public int add(int descriptor, T owner, int wanted) {
        Integer free = freeNumbers.poll();
        int number = free == null ? entries.size() : free;
        var entry = new Entry<>(descriptor, ++stamps, owner);
        if (free == null) {
            entries.add(entry);
        } else {
            assert entries.get(number) == null : "the number is in use";
            entries.set(number, entry);
        }
        putEvent(number, entry.stamp, wanted);
        int added = linux.watch(fd, descriptor, event);
        if (added < 0) {
            remove(number);
            return added;
        }
        return number;
    }

    /// Changes the events to report.
    public void change(int number, int wanted) {
        Entry<T> entry = number < 0 ? null : entries.get(number);
        if (entry != null) {
            putEvent(number, entry.stamp, wanted);
            int _ = linux.rewatch(fd, entry.fd, event);
        }
    }

    private void putEvent(int number, int stamp, int wanted) {
        event.set(JAVA_INT, EpollEvent.EVENTS, wanted);
        event.set(JAVA_INT, EpollEvent.DATA, number);
        event.set(JAVA_INT, EpollEvent.DATA + 4L, stamp);
    }

    /// Removes an entry, whose descriptor is about to be closed.
    public void remove(int number) {
        assert entries.get(number) != null : "removed twice";
        entries.set(number, null);
        freeNumbers.add(number);
    }

    /// Returns how many descriptors have events, at most as many as one call reports.
    public int ready() {
        return LinuxSockets.ready(fd, events, eventsMax);
    }

    /// Returns the owner of the i-th of these descriptors; null when its entry was removed meanwhile.
    @Nullable
    public T owner(int i) {
        long at = (long) i * EpollEvent.BYTES;
        Entry<T> entry = entries.get(events.get(JAVA_INT, at + EpollEvent.DATA));
        return entry == null || entry.stamp != events.get(JAVA_INT, at + EpollEvent.DATA + 4) ? null : entry.owner;
    }

    /// Returns the events of the i-th of these descriptors.
    public int seen(int i) {
        return events.get(JAVA_INT, (long) i * EpollEvent.BYTES + EpollEvent.EVENTS);
    }

    /// Calls `action` with the owner of each entry; `action` may remove entries.
    public void forEach(Consumer<T> action) {
        for (int i = 0; i < entries.size(); i++) {
            Entry<T> entry = entries.get(i);
            if (entry != null) {
                action.accept(entry.owner);
            }
        }
    }

    public void close() {
        if (fd >= 0) {
            LinuxSockets.close(fd);
        }
    }
}

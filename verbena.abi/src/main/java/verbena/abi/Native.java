package verbena.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import verbena.foreign.Memory;
import verbena.foreign.SystemFunction;
import verbena.verbs.ResourceLimitException;

/// Memory of the program's, and the few functions of the C library that are needed: what the program gets is
/// allocated like its own, and its file descriptors are pipes.
final class Native {
    private static final int O_CLOEXEC = 0x8_0000;
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int EFD_SEMAPHORE = 1;
    private static final long POLLIN_ON = 1L << 32; // struct pollfd: fd, events, revents
    private static final SystemFunction CALLOC = SystemFunction.named("calloc");
    private static final SystemFunction FREE = SystemFunction.named("free");
    private static final SystemFunction PIPE2 = SystemFunction.named("pipe2");
    private static final SystemFunction EVENTFD = SystemFunction.named("eventfd");
    private static final SystemFunction FCNTL = SystemFunction.named("fcntl");
    private static final SystemFunction READ = SystemFunction.named("read");
    private static final SystemFunction WRITE = SystemFunction.named("write");
    private static final SystemFunction POLL = SystemFunction.named("poll");
    private static final SystemFunction CLOSE = SystemFunction.named("close");

    private Native() {}

    // ---- memory

    /// Zeroed memory that lives until [#free].
    static long allocate(long bytes) {
        long address = CALLOC.call(1, bytes);
        if (address == 0) {
            throw new OutOfMemoryError("calloc of " + bytes + " bytes");
        }
        return address;
    }

    /// A copy of the text, with a zero byte behind it, that lives until [#free].
    static long allocate(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long address = allocate(bytes.length + 1L);
        MemorySegment.copy(bytes, 0, Memory.ALL, JAVA_BYTE, address, bytes.length);
        return address;
    }

    /// NULL does nothing.
    static void free(long address) {
        long _ = FREE.call(address);
    }

    /// The memory from `address` on.
    ///
    /// @throws IllegalArgumentException when it is NULL
    static MemorySegment at(long address, long bytes) {
        return Memory.at(some(address), bytes);
    }

    /// The same address.
    ///
    /// @throws IllegalArgumentException when it is NULL
    static long some(long address) {
        if (address == 0) {
            throw new IllegalArgumentException("a pointer is NULL");
        }
        return address;
    }

    /// The text that ends at the next zero byte.
    static String string(long address) {
        return Memory.getString(some(address));
    }

    // ---- file descriptors

    /// A pipe: the end to read, which is the program's, and the end to write.
    static int[] pipe() {
        try (var arena = Arena.ofConfined()) {
            MemorySegment ends = arena.allocate(JAVA_INT, 2);
            if ((int) PIPE2.call(ends.address(), O_CLOEXEC) != 0) {
                throw new ResourceLimitException("pipe", "file descriptors", 0, "this process has no more");
            }
            return new int[] {ends.getAtIndex(JAVA_INT, 0), ends.getAtIndex(JAVA_INT, 1)};
        }
    }

    /// An eventfd(2) from which each read takes one, by two numbers: the first is the program's.
    static int[] eventCounter() {
        int fd = (int) EVENTFD.call(0, EFD_SEMAPHORE | O_CLOEXEC);
        int ours = fd < 0 ? fd : (int) FCNTL.call(fd, F_DUPFD_CLOEXEC, 0);
        if (ours < 0) {
            close(fd);
            throw new ResourceLimitException("eventfd", "file descriptors", 0, "this process has no more");
        }
        return new int[] {fd, ours};
    }

    /// Waits until there is room. False when no process reads any more.
    static boolean write(int fd, MemorySegment data) {
        while (true) {
            long n = WRITE.call(fd, data.address(), data.byteSize());
            if (n == data.byteSize()) {
                return true;
            }
            if (n >= 0 || Thread.interrupted()) {
                return false; // fewer than PIPE_BUF bytes go whole or not at all
            }
        }
    }

    /// Takes the pointers out of a pipe that no other thread reads at this time, without waiting.
    static void readAll(int fd, List<Long> into) {
        try (var arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(JAVA_LONG);
            MemorySegment asked = arena.allocate(JAVA_LONG);
            asked.set(JAVA_LONG, 0, POLLIN_ON | fd);
            while ((int) POLL.call(asked.address(), 1, 0) > 0
                    && READ.call(fd, pointer.address(), JAVA_LONG.byteSize()) == JAVA_LONG.byteSize()) {
                into.add(pointer.get(JAVA_LONG, 0));
            }
        }
    }

    /// poll(2); a signal ends it, too.
    ///
    /// @param nanos `Long.MAX_VALUE` for ever
    static void poll(MemorySegment pollfds, int count, long nanos) {
        long millis = nanos == Long.MAX_VALUE ? -1 : Math.min(nanos / 1_000_000 + 1, Integer.MAX_VALUE);
        long _ = POLL.call(pollfds.address(), count, millis);
    }

    static void close(int fd) {
        long _ = CLOSE.call(fd);
    }
}

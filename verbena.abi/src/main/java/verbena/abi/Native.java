package verbena.abi;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import verbena.foreign.Memory;
import verbena.foreign.SystemFunction;

/// Memory of the program's, and the few functions of the C library that are needed: what the program gets is
/// allocated like its own.
public final class Native {
    private static final SystemFunction CALLOC = SystemFunction.named("calloc");
    private static final SystemFunction FREE = SystemFunction.named("free");
    private static final SystemFunction POLL = SystemFunction.named("poll");
    private static final SystemFunction CLOSE = SystemFunction.named("close");

    private Native() {}

    // ---- memory

    /// Allocates zeroed memory that lives until [#free].
    public static long allocate(long bytes) {
        long address = CALLOC.call(1, bytes);
        if (address == 0) {
            throw new OutOfMemoryError("calloc of " + bytes + " bytes");
        }
        return address;
    }

    /// Allocates a copy of the text, with a zero byte behind it, that lives until [#free].
    public static long allocate(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long address = allocate(bytes.length + 1L);
        MemorySegment.copy(bytes, 0, Memory.ALL, JAVA_BYTE, address, bytes.length);
        return address;
    }

    /// Frees memory; NULL does nothing.
    public static void free(long address) {
        long _ = FREE.call(address);
    }

    /// Returns the memory from `address` on.
    ///
    /// @throws IllegalArgumentException when it is NULL
    public static MemorySegment at(long address, long bytes) {
        return Memory.at(some(address), bytes);
    }

    /// Returns the same address, which must not be NULL.
    ///
    /// @throws IllegalArgumentException when it is NULL
    public static long some(long address) {
        if (address == 0) {
            throw new IllegalArgumentException("a pointer is NULL");
        }
        return address;
    }

    /// Returns the text that ends at the next zero byte.
    public static String string(long address) {
        return Memory.getString(some(address));
    }

    // ---- file descriptors

    /// Calls poll(2); a signal ends it, too.
    ///
    /// @param nanos `Long.MAX_VALUE` for ever
    public static void poll(MemorySegment pollfds, int count, long nanos) {
        long millis = nanos == Long.MAX_VALUE ? -1 : Math.min(nanos / 1_000_000 + 1, Integer.MAX_VALUE);
        long _ = POLL.call(pollfds.address(), count, millis);
    }

    public static void close(int fd) {
        long _ = CLOSE.call(fd);
    }
}
